"""When none of the answers is good."""

import numpy as np
import pytest

import darc
from darc.decide.held import probability_below


def test_poor_answers_are_held_on_a_known_scale_only() -> None:
    poor = [[2, 1, 2, 2, 1, 2], [3, 2, 3, 2, 2, 3]]
    assert darc.select(poor, scale=(0, 10)).held
    assert not darc.select(poor).held
    assert darc.select(poor, poor_below=5).held
    assert not darc.select(poor, scale=(0, 10), poor_below=1).held


def test_good_and_doubtful_answers_are_not_held() -> None:
    assert not darc.select([[7, 8, 7], [6, 6, 7]], scale=(0, 10)).held
    assert not darc.select([[1, 8], [2, 7]], scale=(0, 10)).held


def test_one_rating_each_is_judged_by_how_the_ratings_differ() -> None:
    assert darc.select([[1.0], [1.0], [2.0], [1.0]], scale=(0, 10)).held
    assert not darc.select([[1.0], [9.0], [4.0], [2.0]], scale=(0, 10)).held
    assert not darc.select([[1.0]], scale=(0, 10)).held


def test_scores_of_rewrites_are_never_held() -> None:
    assert not darc.select([[0.1, 0.1], [0.2, 0.2]], scale=(0, 10), sample="rewrite").held


def test_the_probability_is_calibrated_in_simulation() -> None:
    generator = np.random.default_rng(0)
    mean = generator.normal(5, 0.55, (4000, 4, 1))
    ratings = mean + generator.normal(size=(4000, 4, 8))
    index = np.zeros(4000, dtype=np.int64)
    probability = probability_below(ratings, index, 5.0)
    below = mean[:, 0, 0] < 5.0
    for low, high in ((0.0, 0.2), (0.4, 0.6), (0.8, 1.0)):
        among = (probability >= low) & (probability <= high)
        assert below[among].mean() == pytest.approx(probability[among].mean(), abs=0.08)
