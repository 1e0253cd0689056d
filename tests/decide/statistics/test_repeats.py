import math

import numpy as np
import pytest

from darc.decide.statistics.repeats import components, without_noise


def drawn(between: float, within: float, repeats: int, candidates: int = 4000) -> np.ndarray:
    random = np.random.default_rng(7)
    opinions = random.normal(0, between, (candidates, 8, 1))
    return 5 + opinions + random.normal(0, within, (candidates, 8, repeats))


@pytest.mark.parametrize("repeats", [2, 3, 5])
def test_components_are_told_apart(repeats: int) -> None:
    found = components(drawn(1.5, 1.0, repeats))
    assert found.within == pytest.approx(1.0, rel=0.02)
    assert found.between.mean() == pytest.approx(1.5**2, rel=0.03)


def test_noise_alone_is_no_disagreement() -> None:
    grades = drawn(0.0, 1.0, 3)
    raw = grades.mean(axis=2).var(axis=1, ddof=1).mean()
    assert raw == pytest.approx(1 / 3, rel=0.03)
    assert components(grades).between.mean() < raw / 2
    assert np.median(components(grades).between) == pytest.approx(0, abs=0.02)


def test_samples_keep_their_mean_and_lose_the_noise() -> None:
    grades = drawn(1.5, 1.0, 3, candidates=5)
    samples = without_noise(grades)
    means = grades.mean(axis=2)
    assert samples.mean(axis=1) == pytest.approx(means.mean(axis=1))
    expected = means.var(axis=1, ddof=1) - components(grades).within / 3
    assert samples.var(axis=1, ddof=1) == pytest.approx(np.maximum(expected, 0))
    assert components(grades).between == pytest.approx(np.maximum(expected, 0))


def test_gaps_count_for_what_is_there() -> None:
    grades = np.array([[[4.0, 6.0], [7.0, math.nan], [math.nan, math.nan]]])
    samples = without_noise(grades)
    # within is 2; the means 5 and 7 have a variance of 2, of which (1/2 + 1) / 2 * 2 is noise.
    assert samples[0, :2].var(ddof=1) == pytest.approx(0.5)
    assert samples[0, :2].mean() == pytest.approx(6)
    assert math.isnan(samples[0, 2])


def test_without_repeats_nothing_changes() -> None:
    grades = drawn(1.0, 1.0, 1, candidates=3)
    assert np.array_equal(without_noise(grades), grades[:, :, 0])
    assert math.isnan(components(grades).within)
    assert components(grades).between == pytest.approx(grades[:, :, 0].var(axis=1, ddof=1))


def test_one_rater_has_no_disagreement_to_report() -> None:
    found = components(drawn(1.0, 1.0, 3, candidates=3)[:, :1])
    assert np.isnan(found.between).all()
    assert found.within > 0
