"""The batched statistics against the obvious code, in passes of numpy.exp over the same array."""

import time
from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp

import darc
from benchmarks.report import Table
from darc.core.normalization import normalizer
from darc.core.statistics import Result, by_numpy
from darc.types import Statistics

SHAPE = (20_000, 3, 16, 9)
ROUNDS = 7


def obvious(scores: np.ndarray) -> tuple[np.ndarray, ...]:
    """What one would write with scipy: normalise, log-sum-exp, mean, deviation, soft minimum."""
    center = scores.mean(axis=(2, 3), keepdims=True)
    spread = scores.std(axis=(2, 3), ddof=1, keepdims=True)
    unit = (scores - center) / spread
    value = -(logsumexp(-unit, axis=-1) - np.log(scores.shape[-1]))
    mean, sigma = unit.mean(axis=-1), unit.std(axis=-1, ddof=1)
    soft = -(logsumexp(-value, axis=1) - np.log(scores.shape[1]))
    return soft, mean.mean(axis=1), sigma.max(axis=1), (mean - value).max(axis=1)


def without_numba(scores: np.ndarray) -> Statistics:
    """`darc.statistics` as it is without the `fast` extra."""
    result = Result.empty(scores.shape)
    by_numpy(result, scores, 1.0, 1.0, normalizer(None, scores.shape[1]))
    return result.statistics()


def run() -> list[Table]:
    scores = np.random.default_rng(0).normal(1.0, 2.0, size=SHAPE)
    ways: dict[str, Callable[[], object]] = {
        "numpy.exp, one pass": lambda: np.exp(scores),
        "scipy.special.logsumexp": lambda: obvious(scores),
        "darc, numpy": lambda: without_numba(scores),
        "darc, fast extra": lambda: darc.statistics(scores),
    }
    best = dict.fromkeys(ways, np.inf)
    ours, theirs = darc.statistics(scores), obvious(scores)
    worst = max(
        float(np.abs(a - b).max())
        for a, b in zip((ours.value, ours.mean, ours.sigma, ours.risk_premium), theirs, strict=True)
    )
    for _ in range(ROUNDS):
        for name, way in ways.items():
            started = time.perf_counter()
            way()
            best[name] = min(best[name], time.perf_counter() - started)
    one, reference = best["numpy.exp, one pass"], best["scipy.special.logsumexp"]
    rows = [
        [name, seconds * 1000, seconds / one, reference / seconds] for name, seconds in best.items()
    ]
    plain, fast = best["darc, numpy"] / one, reference / best["darc, fast extra"]
    note = (
        f"largest difference from scipy: {worst:.1e}; goals: numpy in at most 3 passes "
        f"({'met' if plain <= 3 else 'not met'}), fast at least 8 times scipy "
        f"({'met' if fast >= 8 else 'not met'})"
    )
    return [Table(f"statistics of {SHAPE}", ["way", "ms", "exp passes", "times scipy"], rows, note)]
