import json
from pathlib import Path

import pytest
from tests.runs.makers import start
from tests.viewer.makers import write_ratings, write_texts

from darc.cli import main


def test_two_rules_on_the_same_ratings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ratings = write_ratings(tmp_path / "toasts.csv")
    write_texts(ratings)
    rules = ["--rule", "mean", "--rule", "auto:caution=high"]
    assert main(["diff", str(ratings), *rules, "--limit", "2"]) == 0
    printed = capsys.readouterr().out
    assert "12 of 12 prompts" in printed
    assert "average of the chosen answers: 7." in printed
    assert "37.5% -> 0.0%" in printed
    assert "A roast that a few guests" in printed
    assert "A short story about how they" in printed
    assert "and 10 more" in printed
    assert main(["diff", str(ratings), *rules, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["both"], data["changed"], len(data["prompts"])) == (12, 12, 12)
    assert data["first"]["unhappy_share"] == 0.375
    assert data["second"]["unhappy"] == 0
    prompt = data["prompts"][0]
    assert prompt["prompt_id"] == "p0"
    assert (prompt["first"]["chosen"], prompt["second"]["chosen"]) == ("roast", "story")
    change = prompt["second"]["mean"] - prompt["first"]["mean"]
    assert prompt["mean_change"] == pytest.approx(change)


def test_equal_runs_and_runs_with_other_prompts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = start(tmp_path / "first").path
    second = start(tmp_path / "second", rule="mean").path
    assert main(["diff", str(first), str(first)]) == 0
    printed = capsys.readouterr().out
    assert "0 of 5 prompts" in printed
    assert main(["diff", str(first), str(second), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["both"] == 5
    assert data["first"]["unhappy"] is None
    ratings = write_ratings(tmp_path / "toasts.csv", prompts=7)
    assert main(["diff", str(first), str(ratings)]) == 0
    printed = capsys.readouterr().out
    assert "only in the first: 5 (tides" in printed
    assert "only in the second: 7 (p0, p1, p2, p3, p4, ...)" in printed


def test_sources_of_one_name_are_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = []
    for folder in ("before", "after"):
        (tmp_path / folder).mkdir()
        paths.append(str(write_ratings(tmp_path / folder / "toasts.csv", prompts=2)))
    assert main(["diff", *paths]) == 0
    printed = capsys.readouterr().out
    assert all(path in printed for path in paths)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["nowhere", "{ratings}"], "nowhere"),
        (["{ratings}"], "--rule twice"),
        (["{ratings}", "{ratings}", "{ratings}"], "3 sources"),
        (["{ratings}", "--rule", "mean", "--rule", "auto", "--rule", "cvar"], "--rule"),
        (["{ratings}", "{ratings}", "--rule", "nothing"], "nothing"),
    ],
)
def test_input_that_cannot_be_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], named: str
) -> None:
    ratings = write_ratings(tmp_path / "toasts.csv", prompts=2)
    words = [word.replace("{ratings}", str(ratings)) for word in arguments]
    assert main(["diff", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert named in captured.err
    assert captured.err.count("\n") == 1
