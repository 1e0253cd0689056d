import math
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import darc
from darc.core import statistics
from darc.core.normalization import normalizer
from darc.types import Statistics

NAMES = ("value", "mean", "sigma", "risk_premium")
CONSTANTS = ([0.5, -1.0, 2.0], [1.5, 0.5, 4.0])


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    """Look for the machine code anew in every test."""
    statistics._machine_code.cache_clear()
    yield
    statistics._machine_code.cache_clear()


def make(*shape: int, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return generator.normal(size=shape) * 2 + generator.normal(size=(*shape[:-1], 1))


def by_machine_code(
    scores: np.ndarray, beta: float = 1.0, gamma: float = 1.0, normalize: Any = None
) -> Statistics:
    pytest.importorskip("numba")
    result = statistics.Result.empty(scores.shape)
    rule = normalizer(normalize, scores.shape[1])
    assert statistics.by_machine_code(result, scores, beta, gamma, rule)
    return result.statistics()


def by_numpy(
    scores: np.ndarray, beta: float = 1.0, gamma: float = 1.0, normalize: Any = None
) -> Statistics:
    result = statistics.Result.empty(scores.shape)
    statistics.by_numpy(result, scores, beta, gamma, normalizer(normalize, scores.shape[1]))
    return result.statistics()


def agree(found: Statistics, wanted: Statistics, size: float) -> None:
    """Within 1e-13 of the magnitude, for each scorer and over all of them."""
    assert found.by_scorer is not None
    assert wanted.by_scorer is not None
    for left, right in ((found, wanted), (found.by_scorer, wanted.by_scorer)):
        for name in NAMES:
            gap = np.abs(getattr(left, name) - getattr(right, name)).max()
            assert gap <= 1e-13 * size, (name, gap)
        assert np.array_equal(left.count, right.count)
        assert np.array_equal(left.constant, right.constant)
        reach = np.abs(right.location) + right.scale
        assert np.all(np.abs(left.location - right.location) <= 1e-13 * reach)
        assert np.allclose(left.scale, right.scale, rtol=1e-13, atol=0)


@pytest.mark.parametrize("beta", [0.0, 1e-300, 1e-12, 1e-9, 1e-3, 0.02, 1.0, 50.0, 1e6, math.inf])
@pytest.mark.parametrize("normalize", ["prompt", "none", CONSTANTS])
def test_agrees_with_numpy(beta: float, normalize: Any) -> None:
    scores = make(37, 3, 5, 9)
    size = float(np.abs(scores).max())
    for gamma in (beta, 1.0):
        found = by_machine_code(scores, beta, gamma, normalize)
        agree(found, by_numpy(scores, beta, gamma, normalize), 2 * size)


@pytest.mark.parametrize("power", [-12, -6, 0, 6, 12])
@pytest.mark.parametrize("beta", [0.0, 1e-12, 1.0, 50.0, math.inf])
def test_magnitudes(power: int, beta: float) -> None:
    scores = make(8, 2, 4, 6) * 10.0**power
    size = float(np.abs(scores).max())
    agree(by_machine_code(scores, beta, beta, "none"), by_numpy(scores, beta, beta, "none"), size)
    agree(by_machine_code(scores, beta), by_numpy(scores, beta), 8.0)


@pytest.mark.parametrize(
    "shape", [(1, 1, 1, 2), (3, 1, 1, 9), (2, 5, 1, 3), (700, 2, 3, 4), (2, 2, 40, 90)]
)
def test_shapes(shape: tuple[int, ...]) -> None:
    scores = make(*shape)
    for normalize in ("prompt", "none"):
        found = by_machine_code(scores, normalize=normalize)
        agree(found, by_numpy(scores, normalize=normalize), 20.0)


@pytest.mark.parametrize("gamma", [0.0, 1e-12, 50.0, math.inf])
def test_extremes_of_gamma(gamma: float) -> None:
    scores = make(9, 3, 4, 5)
    agree(by_machine_code(scores, 1.0, gamma), by_numpy(scores, 1.0, gamma), 4.0)


def test_constant_scorers_and_equal_samples() -> None:
    scores = make(6, 3, 4, 5)
    scores[:, 1] = 0.1 + 0.2
    scores[2] = 7.0
    scores[3, 0, 2] = 1.5
    for beta in (0.0, 1.0, math.inf):
        found = by_machine_code(scores, beta)
        agree(found, by_numpy(scores, beta), 4.0)
        assert found.constant[2].all()
        assert np.all(found.value[2] == 0)


def test_large_offsets() -> None:
    scores = np.round(make(5, 2, 3, 7) * 16) / 16
    agree(by_machine_code(scores + 1e9), by_numpy(scores + 1e9), 4.0)
    raw = by_machine_code(scores + 1e9, normalize="none")
    plain = by_numpy(scores, normalize="none")
    assert np.allclose(raw.risk_premium, plain.risk_premium, rtol=0, atol=1e-13)


def test_a_prompt_has_the_same_numbers_in_any_company() -> None:
    scores = make(61, 2, 3, 9)
    order = np.random.default_rng(1).permutation(61)
    found, moved = by_machine_code(scores), by_machine_code(scores[order])
    for name in NAMES:
        assert np.array_equal(getattr(found, name)[order], getattr(moved, name))


def test_exp_and_log() -> None:
    pytest.importorskip("numba")
    from darc.core import fast

    for x in [0.0, -1e-300, -1e-9, -0.3, -0.35, -1.0, -30.0, -690.0]:
        assert fast.exp_negative(x) == pytest.approx(math.exp(x), rel=3e-16)
    assert fast.exp_negative(-math.inf) < 1e-300
    for y in [1.0, 1 - 1e-16, 0.999, 0.75, 0.7, 0.5, 1 / 9, 1e-9]:
        assert fast.log_positive(y) == pytest.approx(math.log(y), rel=5e-16)


def test_declines_gaps_single_samples_and_strides() -> None:
    scores = make(4, 2, 3, 5)
    for part in (np.where(scores < -2, np.nan, scores), scores[..., :1], scores[..., ::2]):
        result = statistics.Result.empty(part.shape)
        assert not statistics.by_machine_code(result, part, 1.0, 1.0, normalizer(None, 2))


def test_large_calls_use_it_and_gaps_go_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = make(30, 2, 3, 5)
    monkeypatch.setattr(statistics, "FAST_FROM", scores.size)
    monkeypatch.setattr(statistics, "THREADS_FROM", 0)
    agree(darc.statistics(scores), by_numpy(scores), 4.0)
    scores[11, 1, 2, 3] = np.nan
    found, wanted = darc.statistics(scores), by_numpy(scores)
    for name in (*NAMES, "count"):
        assert np.array_equal(getattr(found, name), getattr(wanted, name))
    readonly = make(30, 2, 3, 5)
    readonly.flags.writeable = False
    agree(darc.statistics(readonly), by_numpy(readonly), 4.0)


def test_without_numba_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "darc.core.fast", raising=False)
    scores = make(30, 2, 3, 5)
    monkeypatch.setattr(statistics, "FAST_FROM", 0)
    wanted = by_numpy(scores)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(darc.statistics(scores).value, wanted.value)


def test_a_failure_to_compile_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    numba = pytest.importorskip("numba")
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    monkeypatch.delitem(sys.modules, "darc.core.fast", raising=False)
    scores = make(30, 2, 3, 5)
    monkeypatch.setattr(statistics, "FAST_FROM", 0)
    wanted = by_numpy(scores)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            assert np.array_equal(darc.statistics(scores).value, wanted.value)
    assert [warning.category for warning in caught] == [RuntimeWarning]
    assert "NUMBA_DISABLE_JIT is set" in str(caught[0].message)


def test_numba_is_not_imported_for_small_calls() -> None:
    code = (
        "import sys, darc; darc.select([[9, 1, 6], [7, 7, 8]]); "
        "sys.exit('numba' in sys.modules or 'darc.core.fast' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
