"""What people think of the answers, as data."""

import json

import numpy as np
import pytest

import darc

DIVISIVE = [[9, 9, 9, 9, 9, 2, 2, 2], [6] * 8]
NAMES = ["ann", "bob", "cid", "dot", "eve", "fay", "gus", "hal"]


def test_who_is_unhappy_on_a_known_scale() -> None:
    decision = darc.select(DIVISIVE, scale=(0, 10), rater_ids=[NAMES] * 2, candidate_ids=["A", "B"])
    opinions = decision.opinions
    assert opinions is not None
    assert opinions.known_scale
    assert opinions.limit == 5.0
    assert (opinions.chosen, opinions.best_mean) == (1, 0)
    assert opinions.answer(0).unhappy == 3
    assert opinions.answer(0).unhappy_raters == ("fay", "gus", "hal")
    assert opinions.answer(1).unhappy == 0
    assert opinions.answer(0).mean == pytest.approx(6.375)
    assert opinions.probability_different > 0.8
    assert opinions.chance_words() == "very unlikely to be chance"


def test_without_a_scale_clearly_lower_is_one_deviation_below_the_average() -> None:
    opinions = darc.select(DIVISIVE).opinions
    assert opinions is not None
    assert not opinions.known_scale
    pooled = np.sqrt(np.var(DIVISIVE[0]) * 8 / 14)
    assert opinions.limit == pytest.approx(np.mean(DIVISIVE) - pooled)
    assert (opinions.low, opinions.high) == (2.0, 9.0)
    assert opinions.answer(0).unhappy_raters == ()


def test_a_threshold_of_ones_own() -> None:
    opinions = darc.select(DIVISIVE, threshold=6.5).opinions
    assert opinions is not None
    assert opinions.answer(1).unhappy == 8


def test_scores_of_rewrites_and_of_several_scorers_are_no_opinions() -> None:
    assert darc.select(DIVISIVE, sample="rewrite").opinions is None
    assert darc.select([DIVISIVE, DIVISIVE]).opinions is None


def test_plain_data() -> None:
    decision = darc.select([[4.0, np.nan], [5.0, 6.0]], scale="0-10")
    people = json.loads(json.dumps(decision.to_dict()["people"], allow_nan=False))
    assert people["unhappy_below"] == 5.0
    assert people["scale"] == [0.0, 10.0]
    assert people["caution"] == 1.0
    assert [answer["ratings"] for answer in people["answers"]] == [1, 2]
    assert [answer["unhappy"] for answer in people["answers"]] == [1, 0]
