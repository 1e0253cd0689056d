import math
from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.diagnose.panels import Array, noise_only, panel, uneven

from darc.analysis.diagnose.gaussian_reliability import gaussian_reliability
from darc.analysis.diagnose.reliability import Reliability, reliabilities


def within(values: Array, prompts: int) -> Array:
    table = values.reshape(prompts, -1)
    return (table - table.mean(axis=1, keepdims=True)).ravel()


@pytest.mark.parametrize("heavy", [False, True])
def test_sigma_of_noise_is_not_reliable(heavy: bool) -> None:
    ratings = noise_only(5, prompts=150)
    if heavy:
        ratings = ratings + np.random.default_rng(5).standard_t(4, ratings.shape)
    means, sigmas = reliabilities(panel(ratings))
    assert means["within"].value > 0.5
    assert abs(sigmas["within"].value) < 0.15
    assert sigmas["within"].low < 0.05
    assert sigmas["within"].p_value > 0.05


@pytest.mark.parametrize("raters", [4, 7, 10])
def test_reliability_is_the_correlation_with_another_panel(raters: int) -> None:
    both = uneven(2, prompts=200, raters=2 * raters)
    one = panel(both[..., :raters])
    other = panel(both[..., raters:])
    means, sigmas = reliabilities(one)

    def truth(name: str) -> float:
        left, right = (within(getattr(each, name)(), 200) for each in (one, other))
        return float(np.corrcoef(left, right)[0, 1])

    assert means["within"].value == pytest.approx(truth("means"), abs=0.06)
    assert sigmas["within"].value == pytest.approx(truth("sigmas"), abs=0.08)
    assert sigmas["within"].low < sigmas["within"].value < sigmas["within"].high
    assert sigmas["within"].p_value < 0.01


def test_the_curve_foretells_a_larger_panel() -> None:
    ratings = uneven(4, prompts=200, raters=12)
    small = panel(ratings[..., :5])
    large = panel(ratings)
    foretold = reliabilities(small)[1]["within"].with_raters(12)
    assert foretold == pytest.approx(reliabilities(large)[1]["within"].value, abs=0.08)


def test_p_values_of_noise_are_spread_out() -> None:
    found = [
        reliabilities(panel(noise_only(seed, prompts=20)), splits=30, resamples=99)[1]
        for seed in range(40)
    ]
    values = np.array([one["within"].p_value for one in found])
    assert 0.3 < values.mean() < 0.7
    assert (values <= 0.05).mean() <= 0.15


def test_gaussian_reliability_needs_no_halves() -> None:
    both = uneven(6, prompts=300, raters=6)
    one = panel(both[..., :3])
    other = panel(both[..., 3:])
    assert reliabilities(one)[1] == {}
    truth = np.corrcoef(within(one.sigmas(), 300), within(other.sigmas(), 300))[0, 1]
    assert gaussian_reliability(one).value == pytest.approx(truth, abs=0.1)
    assert abs(gaussian_reliability(panel(noise_only(1, prompts=300, raters=3))).value) < 0.1


def test_a_few_candidates_do_not_speak_for_all() -> None:
    ratings = uneven(1, raters=5)
    ratings[:, 2:, 3:] = np.nan
    assert reliabilities(panel(ratings))[1] == {}


def test_raters_needed_inverts_spearman_brown() -> None:
    found = Reliability(0.3, 0.2, 0.4, 0.2, 0.01, length=7.0, lost_raters=1)
    needed = found.raters_needed(0.7)
    assert found.with_raters(needed) >= 0.7 > found.with_raters(needed - 1)
    assert found.with_raters(8) == pytest.approx(0.3)
    assert found.raters_needed_span(0.7) == "26 to 67"
    assert replace(found, value=0.0).raters_needed(0.7) == math.inf
    open_ended = Reliability(0.3, -0.1, 0.4, 0.2, 0.01, length=7.0, lost_raters=1)
    assert open_ended.raters_needed_span(0.7) == "26 or more"
    assert replace(found, value=-0.1).raters_needed(0.5) == math.inf
    assert math.isnan(replace(found, value=math.nan).raters_needed(0.5))
    assert replace(found, value=1.0).raters_needed(0.5) == 2


def test_negative_correlations_are_left_as_they_are() -> None:
    # What is above the prompt's mean in one half is below it in the other.
    ratings = np.random.default_rng(0).normal(size=(40, 6, 4))
    ratings -= ratings.mean(axis=2, keepdims=True)
    found = reliabilities(panel(ratings))[0]["within"]
    assert found.half_correlation == pytest.approx(-1)
    assert found.value == found.half_correlation
    assert found.raters_needed(0.5) == math.inf


def test_same_seed_same_numbers_and_order_does_not_matter() -> None:
    ratings = uneven(3, prompts=20)
    one = reliabilities(panel(ratings), seed=7)[1]["within"]
    assert one == reliabilities(panel(ratings), seed=7)[1]["within"]
    assert one != reliabilities(panel(ratings), seed=8)[1]["within"]


def test_one_prompt_has_a_value_and_no_interval() -> None:
    found = reliabilities(panel(uneven(3, prompts=1, candidates=30)))[1]["within"]
    assert found.value > 0
    assert math.isnan(found.low)
    assert math.isnan(found.p_value)


def test_constant_ratings_have_no_reliability() -> None:
    constant = panel(np.full((5, 4, 6), 3.0))
    means, sigmas = reliabilities(constant)
    assert math.isnan(means["within"].value)
    assert math.isnan(sigmas["within"].value)
    assert math.isnan(gaussian_reliability(constant).value)
