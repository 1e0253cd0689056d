import math
from pathlib import Path

import pytest

from darc.cli.decision_summary import Summary
from darc.decide.method import parse_methods
from darc.decide.standards import Standards
from darc.ratings import read_ratings
from darc.ratings.decisions import DecidedBatch, decide_table


def test_averages_are_those_of_the_choices(decided: DecidedBatch) -> None:
    summary = Summary(decided.methods)
    summary.add(decided)
    assert summary.prompts == 2
    assert summary.changed == [0, 1]
    assert summary.below_best_mean == [0, 1]
    assert summary.averages(0)[1] == pytest.approx((19 / 3 + 8) / 2)
    assert summary.averages(1)[1] == pytest.approx(7)


def test_the_share_of_unhappy_ratings_is_that_of_the_choices(ratings_path: Path) -> None:
    standards = Standards(scale=(0, 10), threshold=7)
    methods = parse_methods(["mean"], standards=standards)
    summary = Summary(methods)
    with read_ratings(ratings_path) as table:
        for batch in decide_table(table, methods):
            summary.add(batch)
    assert summary.known_scale
    assert summary.unhappy_share(0) == pytest.approx(1 / 6)


def test_without_prompts_there_are_no_averages() -> None:
    summary = Summary(parse_methods(["mean"]))
    assert math.isnan(summary.unhappy_share(0))
    assert all(math.isnan(average) for average in summary.averages(0))
