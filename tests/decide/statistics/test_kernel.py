import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.helpers import fast_settings, scores_with_gaps

from darc.decide.statistics.kernel import by_column, columns
from darc.decide.statistics.normalization import fixed_constants, normalizer, prompt_units
from darc.errors import InputError

UNIT = arrays(np.float64, (5, 6), elements=st.floats(-1, 1, width=32))


@fast_settings
@given(scores_with_gaps())
def test_moments_of_columns(scores: np.ndarray) -> None:
    table = columns(scores)
    size = np.nanmax(np.abs(scores), initial=1e-12)
    assert np.array_equal(table.low, np.nanmin(scores, axis=1))
    assert np.allclose(table.low + table.offset, np.nanmean(scores, axis=1), atol=1e-13 * size)
    assert np.allclose(np.sqrt(table.variance), np.nanstd(scores, axis=1), atol=1e-7 * size)
    assert np.array_equal(
        np.broadcast_to(table.count, len(scores)), (~np.isnan(scores)).sum(axis=1)
    )


@fast_settings
@given(scores_with_gaps(), st.sampled_from([0.0, 1e-9, 1e-3, 1.0, 50.0, 1e300, math.inf]))
def test_columns_of_any_shape(scores: np.ndarray, beta: float) -> None:
    flat = columns(scores)
    shaped = by_column(
        scores.T.reshape(-1, 2, 2).copy(), scratch=np.empty((scores.size,)).reshape(-1, 2, 2)
    )
    for name in ("low", "offset", "variance", "sigma"):
        assert np.array_equal(
            getattr(flat, name), getattr(shaped, name).reshape(-1), equal_nan=True
        )
    found = shaped.soft_minimum(np.full((1, 1), beta)).reshape(-1)
    assert np.array_equal(flat.soft_minimum(np.asarray(beta)), found)
    assert np.array_equal(flat.soft_minimum(np.full(4, beta)), found)


@fast_settings
@given(UNIT, st.integers(0, 4), st.sampled_from([0.0, 1e-10, 1e-3, 1.0, 80.0]))
def test_gaps_elsewhere_change_nothing(scores: np.ndarray, row: int, beta: float) -> None:
    others = scores.copy()
    others[row, 0] = np.nan
    kept = np.arange(5) != row
    dense = columns(scores)
    ragged = columns(others)
    assert dense.share is None
    assert ragged.share is not None
    for name in ("low", "offset", "variance", "sigma"):
        assert np.array_equal(getattr(dense, name)[kept], getattr(ragged, name)[kept])
    level = np.asarray(beta)
    assert np.array_equal(dense.soft_minimum(level)[kept], ragged.soft_minimum(level)[kept])


@fast_settings
@given(UNIT, st.floats(0.0, 14.0))
def test_no_step_where_the_formulas_change(scores: np.ndarray, power: float) -> None:
    """On both sides of each threshold the value is the exact one, to the last digits."""
    beta = 10.0 ** (2.0 - power)
    table = columns(scores)
    exact = np.longdouble(beta) * (scores - scores.min(axis=1, keepdims=True)).astype(np.longdouble)
    wanted = -np.log1p(np.expm1(-exact).mean(axis=1)) / np.longdouble(beta)
    assert np.allclose(table.soft_minimum(np.asarray(beta)), wanted.astype(float), atol=1e-14)


def test_weights() -> None:
    scores = np.array([[1.0, 2.0, 4.0], [3.0, 3.0, 5.0]])
    weights = np.array([[1.0, 1.0, 2.0], [0.0, 1.0, 1.0]])
    table = columns(scores, weights)
    share = table.share
    assert share is not None
    assert np.allclose(share.T, [[0.25, 0.25, 0.5], [0.0, 0.5, 0.5]])
    assert table.count.tolist() == [3, 2]
    assert (table.low + table.offset).tolist() == [2.75, 4.0]
    assert table.sigma[1] == pytest.approx(math.sqrt(2.0))
    tiny = columns(scores, weights * 1e-250)
    assert np.allclose(tiny.sigma, table.sigma)
    equal = columns(scores, np.full((2, 3), 0.1))
    plain = columns(scores)
    assert np.array_equal(equal.sigma, plain.sigma)
    assert np.array_equal(equal.soft_minimum(np.asarray(1.0)), plain.soft_minimum(np.asarray(1.0)))


def test_columns_without_samples() -> None:
    table = columns(np.array([[np.nan, np.nan], [1.0, 2.0], [3.0, np.nan]]))
    assert np.isnan(table.low).tolist() == [True, False, False]
    assert np.isnan(table.soft_minimum(np.asarray(math.inf))).tolist() == [True, False, False]
    assert np.isnan(table.sigma).tolist() == [True, False, True]


def test_samples_are_overwritten_by_distances() -> None:
    samples = np.array([[3.0, 1.0], [5.0, 0.0]])
    table = by_column(samples)
    assert table.distance is samples
    assert samples.tolist() == [[0.0, 1.0], [2.0, 0.0]]
    kept = np.array([[3.0, 5.0]])
    columns(kept)
    assert kept.tolist() == [[3.0, 5.0]]


def block(*shape: int, seed: int = 0) -> np.ndarray:
    """Samples as blocks have them, (n, M, K, P)."""
    return np.random.default_rng(seed).normal(size=shape) * 3 + 5


def test_prompt_units_pool_all_samples_of_a_scorer() -> None:
    samples = block(6, 2, 4, 5)
    units = prompt_units(by_column(samples.copy()))
    pooled = samples.transpose(1, 3, 0, 2).reshape(2, 5, -1)
    assert np.allclose(units.location[:, 0], pooled.mean(axis=-1))
    assert np.allclose(units.scale[:, 0], pooled.std(axis=-1, ddof=1))
    assert np.allclose(units.rate(3.0), 3.0 / units.scale)
    assert units.factor is not None
    assert np.allclose(units.factor * units.scale, 1.0)


def test_prompt_units_with_gaps() -> None:
    samples = block(6, 2, 4, 3)
    samples[np.random.default_rng(1).random(samples.shape) < 0.3] = np.nan
    samples[:, 0, 1, 2] = np.nan
    units = prompt_units(by_column(samples.copy()))
    for m in range(2):
        for p in range(3):
            present = samples[:, m, :, p]
            present = present[~np.isnan(present)]
            assert units.location[m, 0, p] == pytest.approx(present.mean())
            assert units.scale[m, 0, p] == pytest.approx(present.std(ddof=1))


@pytest.mark.parametrize("score", [0.0, 0.1 + 0.2, -7.0, 1e12, 1e-12])
def test_rounding_alone_is_constant(score: float) -> None:
    samples = np.full((5, 1, 3, 2), score)
    samples[0] *= 1 + 1e-15
    units = prompt_units(by_column(samples.copy()))
    assert units.constant.all()
    assert np.all(units.scale == 1)
    assert units.factor is not None
    assert np.all(units.factor == 0)
    samples[0] = score * (1 + 1e-9) + 1e-30
    assert not prompt_units(by_column(samples)).constant.any()


def test_a_scorer_without_samples_is_constant() -> None:
    units = prompt_units(by_column(np.full((3, 1, 2, 2), np.nan)))
    assert units.constant.all()
    assert np.all(units.location == 0)


@pytest.mark.parametrize(
    ("normalize", "scorers", "kind"),
    [
        (None, 1, "none"),
        (None, 2, "prompt"),
        ("none", 2, "none"),
        ("prompt", 1, "prompt"),
        ((0, 2), 2, "fixed"),
        (np.array([[0.0, 1.0], [2.0, 3.0]]), 2, "fixed"),
    ],
)
def test_what_normalize_means(normalize: Any, scorers: int, kind: str) -> None:
    units = normalizer(normalize, scorers)(table := by_column(block(4, scorers, 3, 2)))
    own = prompt_units(table)
    assert (units.factor is None) == (kind == "none")
    assert np.array_equal(units.location, own.location) == (kind == "prompt")
    if kind == "fixed":
        assert units.location.shape == units.scale.shape == (scorers, 1, 1)


def test_units_of_the_other_kinds() -> None:
    table = by_column(block(4, 2, 3, 2))
    raw = normalizer("none", 2)(table)
    assert raw.factor is None
    assert raw.rate(3.0) == 3.0
    fixed = normalizer(([1.0, 2.0], 4.0), 2)(table)
    assert fixed.location[:, 0, 0].tolist() == [1.0, 2.0]
    assert np.all(fixed.rate(math.inf) == math.inf)
    assert np.all(fixed.rate(2.0) == 0.5)


@pytest.mark.parametrize(
    ("constants", "words"),
    [
        ("z-score", "not 'z-score'"),
        (7, "not 7"),
        ((1, 2, 3), "(location, scale)"),
        (([1, 2, 3], 1), "does not fit 2 scorers"),
        ((["a", "b"], 1), "does not fit 2 scorers"),
        ((0, -1), "scale must be above 0"),
        ((0, [1, 0]), "scale must be above 0"),
        ((math.inf, 1), "not usable"),
    ],
)
def test_bad_constants_are_named(constants: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        normalizer(constants, 2)
    assert words in str(caught.value)
    with pytest.raises(InputError):
        fixed_constants(constants, 2)
