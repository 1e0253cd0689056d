from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.conftest import TIDY

from darc.cli.decision_rows import Detail
from darc.cli.decision_summary import Summary
from darc.cli.pictured_prompt import PicturedPrompt
from darc.cli.select_table import FirstRows
from darc.decide.method import parse_methods
from darc.decide.standards import NO_STANDARDS
from darc.ratings import read_ratings
from darc.ratings.decisions import decide_table, standards_for

Out = pytest.CaptureFixture[str]


def printed(
    path: Path,
    capsys: Out,
    *rules: str,
    limit: int = 20,
    prompt: str | None = None,
    numbers: bool = False,
) -> str:
    """What is printed about a file of ratings."""
    specs = parse_methods(rules)
    summary = Summary(specs)
    pictured = PicturedPrompt(prompt)
    with read_ratings(path) as table:
        standards = standards_for(table, NO_STANDARDS)
        first = FirstRows(limit, Detail(), standards, numbers)
        specs = [replace(spec, standards=standards) for spec in specs]
        for decided in decide_table(table, specs):
            for sink in (summary, pictured, first):
                sink.add(decided)
    first.print(summary, pictured, {})
    return capsys.readouterr().out


def test_rows_beyond_the_limit_are_counted(tidy: Path, capsys: Out) -> None:
    text = printed(tidy, capsys, "mean", limit=1)
    assert "p1 " in text
    assert "p2 " not in text
    assert "and 1 more prompts: " in text


def test_numbers_are_shown_on_demand(tidy: Path, capsys: Out) -> None:
    words = ("value", "sigma", "premium")
    plain = printed(tidy, capsys, "mean", "entropic")
    assert not any(word in plain for word in words)
    full = printed(tidy, capsys, "mean", "entropic", numbers=True)
    assert all(word in full for word in words)


def test_several_scorers_have_a_spread_and_nobody_is_unhappy(tmp_path: Path, capsys: Out) -> None:
    path = tmp_path / "scores.csv"
    scored = TIDY.replace("answer", "scorer_id")
    for word in ("bold", "calm", "one", "two"):
        scored = scored.replace(word, "form")
    header, *lines = scored.splitlines()
    again = [line.replace("form", "tone") for line in lines]
    path.write_text("\n".join([header, *lines, *again]) + "\n")
    text = printed(path, capsys, "mean")
    assert text.splitlines()[0].split() == ["prompt", "chosen", "mean", "spread"]
    assert "unhappy" not in text


def test_who_is_unhappy_is_defined_once(tidy: Path, capsys: Out) -> None:
    for prompt in (None, "p1"):
        assert printed(tidy, capsys, "mean", prompt=prompt).count("unhappy: below 5") == 1
