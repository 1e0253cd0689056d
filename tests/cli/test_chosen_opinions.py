from pathlib import Path

import pytest

from darc.decide.chosen_opinions import chosen_opinions, is_below_best_mean
from darc.decide.method import parse_methods
from darc.decide.select import select_batch
from darc.decide.standards import Standards
from darc.ratings import read_ratings
from darc.ratings.decisions import decide_table


@pytest.mark.parametrize("scale", [None, (0.0, 10.0)])
def test_opinions_of_a_batch_are_those_of_each_decision(
    ratings_path: Path, scale: tuple[float, float] | None
) -> None:
    with read_ratings(ratings_path) as table:
        standards = Standards(scale=scale)
        methods = parse_methods(["mean", "auto:caution=high"], standards=standards)
        (batch,) = decide_table(table, methods)
    for decisions in batch.decisions:
        opinions = chosen_opinions(decisions)
        assert opinions is not None
        assert opinions.known_scale == (scale is not None)
        for row, decision in enumerate(decisions):
            expected = decision.opinions
            assert expected is not None
            assert opinions.unhappy[row] == expected.answer(decision.index).unhappy
            assert opinions.ratings[row] == expected.answer(decision.index).count
            assert is_below_best_mean(decisions)[row] == (expected.best_mean != decision.index)


def test_scores_of_rewrites_are_not_opinions() -> None:
    decisions = select_batch([[[1.0, 2.0], [3.0, 4.0]]], sample="rewrite")
    assert chosen_opinions(decisions) is None
