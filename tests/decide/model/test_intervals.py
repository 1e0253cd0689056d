"""Intervals of a calibration, on ratings whose truth is known."""

import numpy as np
import pytest
from benchmarks.coverage.calibrations import (
    reliability_coverage,
    severity_coverage,
    simulated_ratings,
)

import darc
from darc.decide.ids import Ids
from darc.decide.model.intervals import with_intervals
from darc.decide.model.learning import learn


@pytest.mark.parametrize("world", ["equal sigmas", "different sigmas"])
def test_reliability_is_covered(world: str) -> None:
    coverage = reliability_coverage(world, (40, 5, 5), files=150)
    assert 0.88 <= coverage <= 0.99


def test_severity_is_covered() -> None:
    assert 0.90 <= severity_coverage((40, 5, 4), raters=8, files=60) <= 0.985


def test_no_interval_is_zero_and_none_is_of_the_weight() -> None:
    generator = np.random.default_rng(2)
    for _ in range(40):
        ratings = simulated_ratings(generator, "equal sigmas", (30, 4, 4))
        calibration = darc.calibrate(ratings[:, None])
        assert list(calibration.intervals) == ["reliability"]
        low, high = calibration.intervals["reliability"]
        assert 0 <= low <= calibration.reliability <= high <= 1
        assert high > 0.01


def test_too_few_prompts_or_ratings_have_no_interval() -> None:
    generator = np.random.default_rng(3)
    assert not darc.calibrate(generator.normal(size=(4, 1, 5, 4))).intervals
    assert not darc.calibrate(generator.normal(size=(40, 1, 5, 2))).intervals
    assert not darc.calibrate(np.ones((40, 1, 5, 4))).intervals


def test_a_rater_with_one_rating_has_no_error() -> None:
    generator = np.random.default_rng(4)
    codes = np.tile(np.arange(4), (30, 3, 1))
    codes[0, 0, 0] = 4
    ratings = generator.normal(size=codes.shape)
    raters = Ids(codes, ("a", "b", "c", "d", "once"))
    calibration = with_intervals(learn(ratings, raters), ratings, raters, None)
    assert set(calibration.rater_errors) == {"a", "b", "c", "d"}
    assert all(error > 0 for error in calibration.rater_errors.values())
