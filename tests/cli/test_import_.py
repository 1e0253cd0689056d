import io
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


WORDS = "Question,Model,Ann,Ben,answer\nq1,a,meh,wow,Yes.\nq1,b,wow,meh,No.\n"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_is_asked_and_a_pipe_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(WORDS)
    assert main(["import", str(path)]) == 2
    monkeypatch.setattr("sys.stdin", _Terminal("1\nfive\n5\n"))
    monkeypatch.setattr("sys.stderr", _Terminal())
    assert main(["import", str(path)]) == 0
    rows = (tmp_path / "a.ratings.csv").read_text().splitlines()
    assert rows[1].startswith("q1,a,Ann,1")
    assert rows[2].startswith("q1,a,Ben,5")
    assert "Yes." in (tmp_path / "a.ratings.texts.jsonl").read_text()


def test_groups_reach_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.csv"
    lines = ["Frage;Modell;Wer;Gruppe;Note"]
    for number in range(6):
        for rater in range(4):
            lines += [f"q{number};{model};r{rater};g{rater % 2};{1 + (number + rater) % 5},0"
                      for model in "ab"]  # fmt: skip
    path.write_text("\n".join(lines))
    assert main(["import", str(path), "--out", str(tmp_path / "out.csv")]) == 0
    assert main(["compare", str(tmp_path / "out.csv"), "--by", "rater_group"]) == 0


def test_several_rating_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_text("q,m,Ann,Ben\nq1,a,4,5\nq1,b,3,2\n")
    columns = [
        part
        for text in ("prompt_id=q", "candidate_id=m", "rating=Ann", "rating=Ben")
        for part in ("--column", text)
    ]
    assert main(["import", str(path), *columns, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["raters"] == 2
