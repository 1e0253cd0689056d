import csv
import json
from pathlib import Path

import pytest
from tests.cli.conftest import TIDY

from darc.cli import main


def test_the_next_ratings_are_a_csv(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "ratings.csv"
    source.write_text(TIDY, encoding="utf-8")
    out = tmp_path / "next.csv"
    command = ["next", str(source), "--budget", "2", "--price", "0", "--out", str(out)]
    assert main(command) == 0
    with out.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    # On p1 everybody has rated everything; on p2 only r3 is left.
    assert {row["prompt_id"] for row in rows} == {"p2"}
    assert {row["rater_id"] for row in rows} == {"r3"}
    assert capsys.readouterr().out == ""


def test_certainty_by_prompt_is_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "ratings.csv"
    source.write_text(TIDY, encoding="utf-8")
    assert main(["next", str(source), "--budget", "5", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [prompt["prompt_id"] for prompt in data["prompts"]] == ["p1", "p2"]
    assert all(0 <= prompt["certainty"] <= 1 for prompt in data["prompts"])


def test_a_budget_is_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "ratings.csv"
    source.write_text(TIDY, encoding="utf-8")
    assert main(["next", str(source)]) == 2
    assert "--budget" in capsys.readouterr().err
