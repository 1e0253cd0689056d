from typing import Any

import pytest

from darc.analysis.experiments import Findings
from darc.analysis.experiments.buckets import buckets, trend
from darc.ratings.simulated import preset


def rows(result: Findings, by: str) -> list[dict[str, Any]]:
    return [dict(row) for row in result.rows if row["by"] == by]


def test_gains_rise_where_people_are_polarised() -> None:
    result = buckets(preset("polarised").changed({"prompts": 3000}), 0)
    for by in ("ratings", "truth", "proxy"):
        mine = rows(result, by)
        assert sum(row["prompts"] for row in mine) == 3000
        assert mine[-1]["tradeoff"] - mine[0]["tradeoff"] > 1.0
        assert mine[-1]["cvar"] - mine[0]["cvar"] > 1.0
    assert all("rises" in note for note in result.notes)


def test_without_true_differences_gains_are_only_seen() -> None:
    result = buckets(preset("noise").changed({"prompts": 4000}), 0)
    assert rows(result, "truth") == []
    assert "the true sigma is the same" in result.notes[-1]
    mine = rows(result, "ratings")
    seen = [row["seen"] for row in mine]
    assert seen == sorted(seen)
    assert seen[-1] > 0.3
    for row in mine:
        assert row["tradeoff"] <= row["tradeoff_half"]
    assert mine[-1]["tradeoff"] < -0.05


def test_a_rule_against_itself_gains_nothing() -> None:
    result = buckets(preset("paper").changed({"prompts": 200}), 0, rule="mean")
    for row in result.rows:
        gains = (row["mean"], row["tradeoff"], row["cvar"], row["seen"], row["changed"])
        assert gains == (0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("numbers", "halves", "words"),
    [
        ([1, 2, 3], [0.1, 0.1, 0.1], "rises at every step"),
        ([1, 0.95, 3], [0.1, 0.1, 0.1], "rises, falling nowhere beyond noise"),
        ([1, 0, 3], [0.1, 0.1, 0.1], "rises over all but falls on the way"),
        ([1, 2, 1.1], [0.1, 0.1, 0.1], "does not rise"),
    ],
)
def test_trend(numbers: list[float], halves: list[float], words: str) -> None:
    assert trend(numbers, halves) == words


def test_fewer_prompts_than_buckets() -> None:
    result = buckets(preset("paper").changed({"prompts": 2}), 0)
    assert sum(row["prompts"] for row in result.rows) == 6
