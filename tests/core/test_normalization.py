import math
from typing import Any

import numpy as np
import pytest

from darc.core.kernel import by_column
from darc.core.normalization import Kind, fixed_constants, normalizer, prompt_units
from darc.errors import InputError


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
        (None, 1, Kind.NONE),
        (None, 2, Kind.PROMPT),
        ("none", 2, Kind.NONE),
        ("prompt", 1, Kind.PROMPT),
        ((0, 2), 2, Kind.FIXED),
        (np.array([[0.0, 1.0], [2.0, 3.0]]), 2, Kind.FIXED),
    ],
)
def test_what_normalize_means(normalize: Any, scorers: int, kind: Kind) -> None:
    rule = normalizer(normalize, scorers)
    assert rule.kind == kind
    assert rule.location.shape == rule.scale.shape == (scorers,)


def test_units_of_the_other_kinds() -> None:
    table = by_column(block(4, 2, 3, 2))
    raw = normalizer("none", 2).units(table)
    assert raw.factor is None
    assert raw.rate(3.0) == 3.0
    fixed = normalizer(([1.0, 2.0], 4.0), 2).units(table)
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
