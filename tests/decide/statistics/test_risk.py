import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import logsumexp
from skfolio.measures import entropic_risk_measure
from tests.helpers import assume_finite, fast_settings, scores_with_gaps

from darc.decide.statistics import risk
from darc.errors import InputError

BETAS = st.one_of(
    st.sampled_from([0.0, 1e-300, 1e-12, 1e-9, 1e-6, 1e-3, 0.03, 1.0, 30.0, 1e6, 1e300, math.inf]),
    st.floats(1e-6, 1e3),
)


def size_of(scores: np.ndarray) -> float:
    return float(np.nanmax(np.abs(scores), initial=0.0))


@pytest.mark.parametrize(
    ("ratings", "mean", "sigma"),
    [
        ([9, 1, 6, 5, 4], 5.0, 2.92),
        ([3, 8, 6, 7, 6], 6.0, 1.87),
        ([7, 7, 8, 8, 7], 7.4, 0.55),
        ([3, 5, 6, 3, 6], 4.6, 1.52),
        ([7, 8, 8, 6, 7], 7.2, 0.84),
    ],
)
def test_hand_checked_cases(ratings: list[int], mean: float, sigma: float) -> None:
    assert risk.mean(ratings) == pytest.approx(mean, abs=1e-12)
    assert round(float(risk.sigma(ratings)), 2) == sigma


@fast_settings
@given(scores_with_gaps(), BETAS)
def test_value_lies_between_minimum_and_mean(scores: np.ndarray, beta: float) -> None:
    value = risk.entropic_value(scores, beta)
    slack = 1e-12 * size_of(scores)
    assert np.all(value >= np.nanmin(scores, axis=-1) - slack)
    assert np.all(value <= np.nanmean(scores, axis=-1) + slack)
    count = (~np.isnan(scores)).sum(axis=-1)
    if beta > 0:
        with np.errstate(over="ignore"):
            assert np.all(value <= np.nanmin(scores, axis=-1) + np.log(count) / beta + slack)


@fast_settings
@given(scores_with_gaps())
def test_limits_of_beta(scores: np.ndarray) -> None:
    slack = 1e-12 * size_of(scores)
    for beta in (0.0, 1e-320, 1e-200, 1e-14 / max(size_of(scores), 1e-12)):
        assert np.allclose(
            risk.entropic_value(scores, beta), np.nanmean(scores, axis=-1), rtol=0, atol=slack
        )
    for beta in (math.inf, 1e300, 1e14 / max(size_of(scores), 1e-12)):
        assert np.allclose(
            risk.entropic_value(scores, beta), np.nanmin(scores, axis=-1), rtol=0, atol=slack
        )


@fast_settings
@given(scores_with_gaps(), BETAS, st.floats(-1e3, 1e3))
def test_shifting_all_scores_shifts_the_value(
    scores: np.ndarray, beta: float, relative: float
) -> None:
    shift = relative * max(size_of(scores), 1e-12)
    shifted = scores + shift
    slack = 1e-12 * (size_of(shifted) + abs(shift) + size_of(scores))
    expected = risk.entropic_value(scores, beta) + shift
    if beta * size_of(scores) < 1e6:
        assert np.allclose(risk.entropic_value(shifted, beta), expected, rtol=0, atol=slack)


@fast_settings
@given(scores_with_gaps(), st.floats(1e-3, 1e3), st.floats(1e-12, 1e12))
def test_value_scales_with_the_scores(scores: np.ndarray, beta: float, factor: float) -> None:
    scaled = risk.entropic_value(scores * factor, beta / factor)
    slack = 1e-11 * size_of(scores) * factor
    assert np.allclose(scaled, risk.entropic_value(scores, beta) * factor, rtol=1e-9, atol=slack)


@fast_settings
@given(scores_with_gaps(), st.lists(BETAS, min_size=2, max_size=2))
def test_value_falls_and_premium_rises_with_beta(scores: np.ndarray, betas: list[float]) -> None:
    small, large = sorted(betas)
    slack = 1e-12 * size_of(scores)
    assert np.all(risk.entropic_value(scores, large) <= risk.entropic_value(scores, small) + slack)
    premium = risk.risk_premium(scores, large)
    assert np.all(np.isnan(premium) | (premium >= 0))


@fast_settings
@given(scores_with_gaps(), BETAS, st.floats(0.01, 100))
def test_uniform_weights_change_nothing(scores: np.ndarray, beta: float, weight: float) -> None:
    weights = np.full(scores.shape[-1], weight)
    slack = 1e-12 * size_of(scores)
    for plain, weighted in (
        (risk.mean(scores), risk.mean(scores, weights)),
        (risk.sigma(scores), risk.sigma(scores, weights)),
        (risk.entropic_value(scores, beta), risk.entropic_value(scores, beta, weights)),
        (risk.cvar(scores, 0.3), risk.cvar(scores, 0.3, weights)),
    ):
        assert np.allclose(plain, weighted, rtol=1e-9, atol=slack, equal_nan=True)


@fast_settings
@given(arrays(np.float64, (3, 5), elements=st.floats(-100, 100)), st.integers(0, 4))
def test_whole_number_weights_equal_repetition(scores: np.ndarray, which: int) -> None:
    weights = np.ones(5)
    weights[which] = 3
    repeated = np.concatenate([scores, np.repeat(scores[:, which : which + 1], 2, axis=1)], axis=1)
    assert np.allclose(
        risk.entropic_value(scores, 0.7, weights), risk.entropic_value(repeated, 0.7)
    )
    assert np.allclose(risk.mean(scores, weights), risk.mean(repeated))
    bound = np.min(scores - np.log(weights / weights.sum()) / 0.7, axis=1)
    assert np.all(risk.entropic_value(scores, 0.7, weights) <= bound + 1e-9)


@fast_settings
@given(scores_with_gaps())
def test_mask_equals_gaps(scores: np.ndarray) -> None:
    mask = ~np.isnan(scores)
    filled = np.where(mask, scores, 123.0)
    assert np.array_equal(
        risk.entropic_value(filled, 1.3, mask=mask), risk.entropic_value(scores, 1.3)
    )
    assert np.array_equal(risk.cvar(filled, 0.2, mask=mask), risk.cvar(scores, 0.2))


@fast_settings
@given(arrays(np.float64, (4, 6), elements=st.floats(-50, 50)), st.floats(0.01, 20))
def test_value_agrees_with_logsumexp(scores: np.ndarray, beta: float) -> None:
    expected = -(logsumexp(-beta * scores, axis=-1) - np.log(6)) / beta
    assert np.allclose(risk.entropic_value(scores, beta), expected, rtol=0, atol=1e-11)


@fast_settings
@given(arrays(np.float64, 12, elements=st.floats(-3, 3)), st.floats(0.1, 5))
def test_value_agrees_with_skfolio(scores: np.ndarray, beta: float) -> None:
    # skfolio subtracts log(1 - level)/beta, which level 0 switches off.
    oracle = entropic_risk_measure(scores, theta=1 / beta, beta=0.0)
    assert risk.entropic_value(scores, beta) == pytest.approx(-float(oracle), abs=1e-9)


def test_magnitudes_from_tiny_to_huge() -> None:
    base = np.array([1.0, 2.0, 4.0])
    for size in 10.0 ** np.arange(-12, 13):
        for beta in (0.0, 1e-12, 1.0, 1e12, math.inf):
            value = float(risk.entropic_value(base * size, beta))
            assert size <= value <= base.mean() * size * (1 + 1e-12)
            exact = float(risk.entropic_value(base, min(beta * size, 1e300))) * size
            assert value == pytest.approx(exact, rel=1e-11)


def test_large_offsets_keep_the_digits_of_small_differences() -> None:
    differences = np.array([0.0, 0.25, 1.5])
    shifted = risk.entropic_value(1e9 + differences, 2.0) - 1e9
    assert shifted == pytest.approx(float(risk.entropic_value(differences, 2.0)), abs=2e-7)
    assert risk.sigma(1e12 + differences) == pytest.approx(float(np.std(differences, ddof=1)))


@pytest.mark.parametrize(
    ("alpha", "n", "k"), [(0.1, 9, 1), (0.07, 100, 7), (0.1, 30, 3), (1, 5, 5)]
)
def test_cvar_averages_the_right_number(alpha: float, n: int, k: int) -> None:
    scores = np.random.default_rng(n).permutation(n).astype(float)
    assert risk.cvar(scores, alpha) == pytest.approx(np.arange(k).mean())


def test_cvar_with_weights_takes_whole_samples_until_alpha() -> None:
    assert risk.cvar([1.0, 2.0, 3.0], 0.5, weights=[1, 1, 2]) == pytest.approx(1.5)
    assert risk.cvar([1.0, 2.0, 3.0], 0.6, weights=[1, 1, 2]) == pytest.approx((1 + 2 + 6) / 4)


def jackknife_by_hand(scores: np.ndarray, beta: float) -> float:
    n = len(scores)
    others = [float(risk.entropic_value(np.delete(scores, i), beta)) for i in range(n)]
    return n * float(risk.entropic_value(scores, beta)) - (n - 1) * float(np.mean(others))


@fast_settings
@given(
    arrays(np.float64, st.integers(2, 7), elements=st.floats(-20, 20)),
    st.sampled_from([0.0, 1e-9, 1e-3, 0.5, 2.0, 100.0, math.inf]),
)
def test_jackknife_against_its_definition(scores: np.ndarray, beta: float) -> None:
    corrected = float(risk.jackknife_value(scores, beta))
    plug_in = float(risk.entropic_value(scores, beta))
    assert corrected == pytest.approx(min(jackknife_by_hand(scores, beta), plug_in), abs=1e-7)
    assert corrected <= plug_in
    assert risk.jackknife_value(scores, beta, floor=-20.0) >= -20.0
    ragged = np.append(scores, np.nan)
    assert risk.jackknife_value(ragged, beta) == pytest.approx(corrected, abs=1e-9)


def test_jackknife_of_one_sample_is_unknown() -> None:
    assert np.isnan(risk.jackknife_value([3.0]))
    assert np.isnan(risk.jackknife_value([[3.0, np.nan]])[0])


@pytest.mark.parametrize(
    ("n", "plug", "jack"), [(4, 0.46, 0.21), (8, 0.30, 0.13), (16, 0.20, 0.075)]
)
def test_small_samples_miss_the_stated_share_of_the_premium(
    n: int, plug: float, jack: float
) -> None:
    scores = np.random.default_rng(n).normal(size=(60_000, n)) * 2
    mean = risk.mean(scores)
    assert 1 - float((mean - risk.entropic_value(scores)).mean()) / 2 == pytest.approx(
        plug, abs=0.02
    )
    corrected = risk.jackknife_value(scores)
    assert 1 - float((mean - corrected).mean()) / 2 == pytest.approx(jack, abs=0.02)


@pytest.mark.parametrize("n", [4, 5, 8, 9, 16])
def test_where_three_tenths_of_the_premium_are_missed(n: int) -> None:
    strength = np.sqrt(5 * np.log(n / 3.5))
    scores = np.random.default_rng(n).normal(size=(40_000, n)) * strength
    missed = 1 - float(risk.risk_premium(scores).mean()) / (strength**2 / 2)
    assert missed == pytest.approx(0.3, abs=0.05)


def test_bootstrap_interval_covers_and_narrows() -> None:
    generator = np.random.default_rng(5)
    truth = -0.5 * 0.25
    population = generator.normal(size=(200, 60)) * 0.5
    low, high = risk.bootstrap_interval(population, resamples=400, seed=1)
    assert 0.88 <= np.mean((low <= truth) & (truth <= high)) <= 0.99
    few_low, few_high = risk.bootstrap_interval(population[:, :10], resamples=400, seed=1)
    assert np.mean(few_high - few_low) > 1.8 * np.mean(high - low)
    again = risk.bootstrap_interval(population, resamples=400, seed=1)
    assert np.array_equal(again[0], low)
    assert np.array_equal(again[1], high)


def test_bootstrap_interval_of_one_sample_is_unknown() -> None:
    low, high = risk.bootstrap_interval([[1.0, np.nan], [1.0, 2.0]])
    assert np.isnan(low[0])
    assert np.isnan(high[0])
    assert 1.0 <= low[1] <= high[1] <= 2.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: risk.entropic_value([1.0], -1), "beta must be 0 or larger"),
        (lambda: risk.entropic_value([1.0], math.nan), "beta must be 0 or larger"),
        (lambda: risk.entropic_value([1.0], "1"), "beta must be a number"),  # type: ignore[arg-type]
        (lambda: risk.entropic_value([1.0, math.inf]), "infinity at (1,)"),
        (lambda: risk.entropic_value([]), "empty"),
        (lambda: risk.entropic_value([[1.0], [1.0, 2.0]]), "cannot be read as numbers"),
        (lambda: risk.cvar([1.0], 0), "alpha must be above 0"),
        (lambda: risk.mean([1.0, 2.0], weights=[-1, 1]), "weights must be finite"),
        (lambda: risk.mean([1.0, 2.0], weights=[1, 1, 1]), "do not fit"),
        (lambda: risk.bootstrap_interval([1.0, 2.0], confidence=2), "confidence"),
        (lambda: risk.bootstrap_interval([1.0, 2.0], resamples=0), "resamples"),
    ],
)
def test_bad_arguments_are_named(call: object, words: str) -> None:
    with pytest.raises(InputError) as caught:
        call()  # type: ignore[operator]
    assert words in str(caught.value)


def test_no_samples_give_nan() -> None:
    nothing = [[np.nan, np.nan], [1.0, 3.0]]
    for function in (risk.mean, risk.sigma, risk.entropic_value, risk.risk_premium, risk.cvar):
        result = function(nothing)
        assert np.isnan(result[0])
        assert np.isfinite(result[1])
    assume_finite(np.asarray(risk.mean([[1.0, 3.0]])))
