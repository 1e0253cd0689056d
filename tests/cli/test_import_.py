import json
from pathlib import Path

import pytest
from tests.ratings.test_importing import ANSWERS, written

from darc.cli import main


def test_written_ratings_are_read_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "feedback.jsonl", ANSWERS["HelpSteer2"])
    assert main(["import", str(path)]) == 0
    assert "HelpSteer2" in capsys.readouterr().out
    out = tmp_path / "feedback.ratings.csv"
    assert main(["select", str(out), "--rule", "mean", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rule"] == "mean"
    texts = (tmp_path / "feedback.ratings.texts.jsonl").read_text().splitlines()
    assert {json.loads(line)["response"] for line in texts} == {"So.", "Because."}


def test_pairs_are_read_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "votes.jsonl", ANSWERS["Chatbot Arena"])
    assert main(["import", str(path), "--out", str(tmp_path / "p.csv"), "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["comparisons"] == 3
    assert main(["select", str(tmp_path / "p.csv"), "--rule", "mean"]) == 0


def test_nothing_is_written_of_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("prompt,model,score\nWhy?,one,nice\n")
    assert main(["import", str(path)]) == 2
    assert "--scale" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [path]
