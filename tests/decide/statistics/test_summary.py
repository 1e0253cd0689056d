import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp
from tests.helpers import fast_settings, scores_with_gaps

import darc
from darc.decide.statistics import risk
from darc.decide.statistics import summary as statistics
from darc.decide.statistics.normalization import Normalization
from darc.errors import InputError
from darc.types import Statistics

NAMES = ("value", "mean", "sigma", "risk_premium", "count")
CONSTANTS = ([0.5, -1.0, 2.0], [1.5, 0.5, 4.0])


def make(*shape: int, gaps: float = 0.0, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    scores = generator.normal(size=shape) * 2 + generator.normal(size=(*shape[:-1], 1))
    return np.where(generator.random(shape) < gaps, np.nan, scores)


def same(left: Statistics, right: Statistics) -> bool:
    """Whether every number is the same to the last bit."""
    names = (*NAMES, "location", "scale", "constant")
    alike = all(
        np.array_equal(getattr(left, name), getattr(right, name), equal_nan=True) for name in names
    )
    if left.by_scorer is None or right.by_scorer is None:
        return alike and left.by_scorer is right.by_scorer
    return alike and same(left.by_scorer, right.by_scorer)


def by_loops(
    scores: np.ndarray,
    beta: float,
    gamma: float,
    normalize: Normalization,
    weights: np.ndarray | None = None,
) -> dict[str, np.ndarray]:
    """The contract, one candidate at a time, for (M, K, n)."""
    scorers, candidates, _ = scores.shape
    each = np.full((5, scorers, candidates), np.nan)
    for m, scorer in enumerate(scores):
        location = 0.0
        scale = 1.0
        present = scorer[~np.isnan(scorer)]
        if normalize == "prompt":
            location = present.mean()
            scale = present.std(ddof=1)
        elif normalize is not None and not isinstance(normalize, str):
            location, scale = (float(np.broadcast_to(part, scorers)[m]) for part in normalize)
        for k, candidate in enumerate((scorer - location) / scale):
            mass = None if weights is None else weights[m, k]
            each[:, m, k] = (
                risk.entropic_value(candidate, beta, mass),
                risk.mean(candidate, mass),
                risk.sigma(candidate, mass),
                risk.risk_premium(candidate, beta, mass),
                (~np.isnan(candidate)).sum(),
            )
    result = np.full((5, candidates), np.nan)
    for k in range(candidates):
        value, mean, sigma, premium, count = each[:, :, k]
        result[0, k] = risk.entropic_value(value, gamma)
        if not np.isnan(mean).all():
            result[1, k] = np.nanmean(mean)
        result[2, k] = np.fmax.reduce(sigma)
        result[3, k] = np.fmax.reduce(premium)
        result[4, k] = count.min()
    return dict(zip(NAMES, result, strict=True))


def close(found: Statistics, wanted: dict[str, np.ndarray], slack: float = 1e-12) -> None:
    for name, array in wanted.items():
        assert np.allclose(getattr(found, name), array, rtol=0, atol=slack, equal_nan=True), name


@pytest.mark.parametrize("gaps", [0.0, 0.25])
@pytest.mark.parametrize("normalize", [None, "prompt", "none", (0.25, 3.0), CONSTANTS])
@pytest.mark.parametrize(("beta", "gamma"), [(1.0, 1.0), (0.0, 2.0), (math.inf, 0.0), (3.0, 1e-9)])
def test_all_shapes_agree_with_plain_loops(
    gaps: float, normalize: Any, beta: float, gamma: float
) -> None:
    scores = make(5, 3, 4, 6, gaps=gaps)
    usual = "prompt" if normalize is None else normalize
    batch = darc.statistics(scores, beta, gamma, normalize)
    assert batch.value.shape == (5, 4)
    for prompt, pool in enumerate(scores):
        close(darc.statistics(pool, beta, gamma, normalize), by_loops(pool, beta, gamma, usual))
        assert same(darc.statistics(pool, beta, gamma, normalize), statistics.cut(batch, prompt))
    single = scores[0, :1]
    if normalize is not CONSTANTS:
        usual = "none" if normalize is None else normalize
        flat = darc.statistics(single[0], beta, gamma, normalize)
        close(flat, by_loops(single, beta, gamma, usual))
        assert same(flat, darc.statistics(single, beta, gamma, normalize))


def test_agrees_with_scipy() -> None:
    scores = make(7, 3, 5, 9)
    beta = 1.7
    gamma = 0.6
    z = (scores - scores.mean(axis=(2, 3), keepdims=True)) / scores.std(
        axis=(2, 3), ddof=1, keepdims=True
    )
    value = -(logsumexp(-beta * z, axis=-1) - np.log(9)) / beta
    mean = z.mean(axis=-1)
    sigma = z.std(axis=-1, ddof=1)
    found = darc.statistics(scores, beta, gamma)
    assert np.allclose(found.value, -(logsumexp(-gamma * value, axis=1) - np.log(3)) / gamma)
    assert np.allclose(found.mean, mean.mean(axis=1))
    assert np.allclose(found.sigma, sigma.max(axis=1))
    assert np.allclose(found.risk_premium, (mean - value).max(axis=1))
    assert np.allclose(found.location, scores.mean(axis=(2, 3)))
    inner = found.by_scorer
    assert inner is not None
    for array, wanted in (
        (inner.value, value),
        (inner.mean, mean),
        (inner.sigma, sigma),
        (inner.risk_premium, mean - value),
    ):
        assert array.shape == (7, 3, 5)
        assert np.allclose(array, wanted)


@pytest.mark.parametrize("normalize", ["prompt", "none"])
def test_weights_and_masks(normalize: Any) -> None:
    scores = make(3, 4, 6, seed=1)
    weights = np.random.default_rng(2).random((3, 4, 6))
    if normalize == "none":
        found = darc.statistics(scores, normalize=normalize, weights=weights)
        close(found, by_loops(scores, 1.0, 1.0, normalize, weights))
    plain = darc.statistics(scores, normalize=normalize)
    assert same(plain, darc.statistics(scores, normalize=normalize, weights=np.full(6, 0.3)))
    mask = np.random.default_rng(3).random((3, 4, 6)) < 0.7
    masked = darc.statistics(scores, normalize=normalize, mask=mask)
    gaps = np.where(mask, scores, np.nan)
    assert same(masked, darc.statistics(gaps, normalize=normalize))
    assert np.array_equal(masked.count, mask.sum(axis=-1).min(axis=0))


def test_constant_scorers_count_as_nothing() -> None:
    scores = make(4, 3, 5, 6)
    scores[:, 1] = 0.1 + 0.2
    scores[2] = 7.0
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        found = darc.statistics(scores)
    assert found.constant.tolist() == [[False, True, False]] * 2 + [[True] * 3] + [
        [False, True, False]
    ]
    inner = found.by_scorer
    assert inner is not None
    for name in ("value", "mean", "sigma", "risk_premium"):
        assert np.all(getattr(inner, name)[:, 1] == 0)
        assert np.all(getattr(found, name)[2] == 0)
    assert np.all(inner.scale[:, 1] == 1)
    assert np.allclose(inner.location[:, 1], [0.3, 0.3, 7.0, 0.3])


def test_candidates_without_samples_are_nan_and_leave_the_others_alone() -> None:
    scores = make(2, 3, 4, 5)
    scores[0, :, 1] = np.nan
    scores[1, 2, 3] = np.nan
    found = darc.statistics(scores)
    for name in ("value", "mean", "sigma", "risk_premium"):
        assert np.isnan(getattr(found, name)[0, 1])
        assert np.isfinite(getattr(found, name)).sum() == 7
    assert found.count.tolist() == [[5, 0, 5, 5], [5, 5, 5, 0]]
    rest = darc.statistics(scores[0][:, [0, 2, 3]])
    close(statistics.cut(found, 0), {"value": np.insert(rest.value, 1, np.nan)})
    nothing = darc.statistics(np.full((2, 3, 4), np.nan))
    assert np.isnan(nothing.value).all()
    assert nothing.count.tolist() == [0, 0, 0]


def test_one_sample_has_no_sigma_and_no_premium() -> None:
    found = darc.statistics([[1.0], [2.0]])
    assert found.value.tolist() == [1.0, 2.0]
    assert np.isnan(found.sigma).all()
    assert np.isnan(found.risk_premium).all()


def test_limits_of_gamma() -> None:
    scores = make(6, 3, 5, 4)
    inner = darc.statistics(scores).by_scorer
    assert inner is not None
    assert np.allclose(
        darc.statistics(scores, gamma=0.0).value, inner.value.mean(axis=1), atol=1e-12
    )
    assert np.allclose(
        darc.statistics(scores, gamma=math.inf).value, inner.value.min(axis=1), atol=1e-12
    )


def test_usual_normalisation() -> None:
    scores = make(4, 3, 5, 6)
    assert same(darc.statistics(scores), darc.statistics(scores, normalize="prompt"))
    assert same(darc.statistics(scores[:, :1]), darc.statistics(scores[:, :1], normalize="none"))
    assert not same(darc.statistics(scores), darc.statistics(scores, normalize="none"))


def test_fixed_constants_are_reported() -> None:
    found = darc.statistics(make(2, 3, 4, 5), normalize=CONSTANTS)
    assert np.array_equal(found.location, [CONSTANTS[0]] * 2)
    assert np.array_equal(found.scale, [CONSTANTS[1]] * 2)
    assert not found.constant.any()
    assert same(
        darc.statistics(make(3, 4, 5), normalize=(0, 1)),
        darc.statistics(make(3, 4, 5), normalize=([0, 0, 0], [1, 1, 1])),
    )


@pytest.mark.parametrize("gaps", [0.0, 0.05])
@pytest.mark.parametrize("shape", [(40, 3, 4, 9), (40, 1, 2, 20), (9, 2, 3, 70)])
def test_a_prompt_has_the_same_numbers_in_any_company(
    shape: tuple[int, ...], gaps: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = make(*shape, gaps=gaps)
    scores[3] = make(*shape[1:], seed=9)
    batch = darc.statistics(scores)
    for prompt in range(len(scores)):
        assert same(darc.statistics(scores[prompt]), statistics.cut(batch, prompt))
    monkeypatch.setattr(statistics, "BLOCK_SAMPLES", 3 * scores[0].size)
    assert same(darc.statistics(scores), batch)
    monkeypatch.setattr(statistics, "THREADS_FROM", 0)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert same(darc.statistics(scores), batch)


@fast_settings
@given(scores_with_gaps(rows=6), st.sampled_from([0.0, 1e-9, 0.1, 1.0, 30.0, math.inf]))
def test_normalised_numbers_do_not_depend_on_the_scale(scores: np.ndarray, beta: float) -> None:
    pool = scores.reshape(2, 3, -1)
    found = darc.statistics(pool, beta)
    moved = darc.statistics(pool * 1024.0, beta)
    for name in ("value", "mean", "sigma", "risk_premium"):
        left = getattr(found, name)
        right = getattr(moved, name)
        assert np.allclose(left, right, rtol=1e-12, atol=1e-12, equal_nan=True)


def test_large_offsets_keep_the_digits_of_small_differences() -> None:
    # Sixteenths are exact beside 1e9, so that only the arithmetic can lose digits.
    scores = np.round(make(3, 2, 4, 6) * 16) / 16
    for normalize in ("prompt", (0.0, 1.0)):
        moved: Any = (1e9, 1.0) if normalize != "prompt" else normalize
        plain = darc.statistics(scores, normalize=normalize)
        shifted = darc.statistics(scores + 1e9, normalize=moved)
        close(shifted, {name: getattr(plain, name) for name in NAMES}, 1e-13)
    raw = darc.statistics(scores + 1e9, normalize="none")
    wanted = darc.statistics(scores, normalize="none")
    assert np.allclose(raw.sigma, wanted.sigma, rtol=0, atol=1e-13)
    assert np.allclose(raw.risk_premium, wanted.risk_premium, rtol=0, atol=1e-13)
    assert np.allclose(raw.value - 1e9, wanted.value, rtol=0, atol=2e-7)


def test_magnitudes_from_tiny_to_huge() -> None:
    scores = make(2, 3, 4, 5)
    for size in 10.0 ** np.arange(-12, 13, 3):
        found = darc.statistics(scores * size, beta=1.0 / size, gamma=1.0 / size, normalize="none")
        wanted = darc.statistics(scores, normalize="none")
        for name in ("value", "mean", "sigma", "risk_premium"):
            assert np.allclose(getattr(found, name) / size, getattr(wanted, name), atol=1e-12)


def test_no_prompts_at_all() -> None:
    found = darc.statistics(np.empty((0, 2, 3, 4)))
    assert found.value.shape == (0, 3)
    assert found.count.shape == (0, 3)


@pytest.mark.parametrize(
    ("scores", "options", "words"),
    [
        ([[1.0]], {"normalize": "x"}, "normalize must be 'prompt', 'none' or (location, scale)"),
        ([[1.0]], {"normalize": 3}, "normalize must be"),
        ([[1.0]], {"normalize": (1.0,)}, "normalize must be"),
        ([[[1.0]], [[2.0]]], {"normalize": ([1, 2, 3], 1)}, "does not fit 2 scorers"),
        ([[1.0]], {"normalize": (0.0, 0.0)}, "scale must be above 0"),
        ([[1.0]], {"normalize": (math.nan, 1.0)}, "location or scale is not usable"),
        ([1.0, 2.0], {}, "scores have 1 dimensions"),
        (np.zeros((1, 1, 1, 1, 1)), {}, "scores have 5 dimensions"),
        ([[1.0, math.inf]], {}, "infinity at (0, 1)"),
        ([[1.0]], {"beta": -1.0}, "beta must be 0 or larger"),
        ([[1.0]], {"gamma": -1.0}, "gamma must be 0 or larger"),
        ([[1.0, 2.0]], {"weights": [1, 2, 3]}, "do not fit"),
    ],
)
def test_bad_arguments_are_named(scores: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        darc.statistics(scores, **options)
    assert words in str(caught.value)
