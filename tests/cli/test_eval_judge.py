"""`darc eval --judge`."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.test_panel_audit import write

from darc.cli import main

Out = pytest.CaptureFixture[str]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """People's ratings of few prompts twice and of many once, and a judge's grades of all."""
    generator = np.random.default_rng(0)
    truth = generator.normal(3, 0.7, (90, 3))
    people = truth[..., None] + generator.normal(0, 0.5, (90, 3, 2))
    ratings = write(tmp_path / "ratings.csv", people[:30], "person ")
    once = write(tmp_path / "once.csv", people[30:, :, :1], "person ").read_text().splitlines()[1:]
    lines = [f"q{line[1:]}" for line in once]
    ratings.write_text(ratings.read_text() + "\n".join(lines) + "\n")
    judge = write(tmp_path / "judge.csv", truth[..., None] * 2, "judge ")
    rows = judge.read_text().splitlines()
    for place, row in enumerate(rows[1:], start=1):
        number = int(row.partition(",")[0][1:])
        if number >= 30:
            rows[place] = f"q{number - 30},{row.partition(',')[2]}"
    judge.write_text("\n".join(rows) + "\n")
    return ratings, judge


def test_each_rule_has_its_mean_and_change_by_people_and_by_both(
    files: tuple[Path, Path], capsys: Out
) -> None:
    ratings, judge = files
    command = ["eval", str(ratings), "--rule", "epsilon", "--splits", "3", "--draws", "200"]
    assert main([*command, "--judge", str(judge)]) == 0
    printed = capsys.readouterr().out
    table = printed.partition("PPI++")[2]
    assert "people and judge" in table
    assert "change, both" in table
    assert "\nepsilon" in table
    assert main([*command, "--judge", str(judge), "--json"]) == 0
    (best_of_k, epsilon) = json.loads(capsys.readouterr().out)["with_judge"]
    assert (best_of_k["rule"], epsilon["rule"]) == ("mean", "epsilon")
    assert best_of_k["change"] is None
    assert best_of_k["mean"]["rated"] == 30
    assert best_of_k["mean"]["judged_only"] == 60
    assert epsilon["change"]["low"] <= epsilon["change"]["mean"] <= epsilon["change"]["high"]


def test_a_judge_of_other_answers_is_refused(files: tuple[Path, Path], capsys: Out) -> None:
    ratings, judge = files
    judge.write_text(judge.read_text().replace("\np", "\nx").replace("\nq", "\ny"))
    command = ["eval", str(ratings), "--rule", "epsilon", "--splits", "2", "--draws", "200"]
    assert main([*command, "--judge", str(judge)]) == 2
    assert "judges no candidate" in capsys.readouterr().err
