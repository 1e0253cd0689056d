"""Paired bootstrap over prompts."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.typing import Array, Integers, Mask

#: The number of resamples.
DRAWS = 2000
#: The level of intervals.
LEVEL = 0.95
#: Differences below this share of the values are rounding.
ROUNDING = 1e-12
# Resampled deviations of few prompts are too small, most of all those of a tail: with P prompts the
# band is wider by 1 + this / P. `make bench-coverage` shows what it then holds.
_FEW_PROMPTS = 8.0
# How many counts are worked on at a time.
_CELLS = 1_000_000

#: A function of the weights of the prompts, (B, P).
Statistic = Callable[[Array], Array]


def draw_counts(prompts: int, draws: int, seed: int) -> NDArray[Any]:
    """How often each prompt is drawn in each resample, (draws, prompts), a byte each."""
    generator = np.random.default_rng([seed, prompts])
    share = np.full(prompts, 1.0 / prompts)
    result = np.empty((draws, prompts), dtype=np.uint8)
    for part in _blocks(result):
        part[:] = generator.multinomial(prompts, share, size=len(part))
    return result


def _blocks(counts: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Some resamples at a time, of about `_CELLS` cells together."""
    step = max(1, _CELLS // max(1, counts.shape[1]))
    for start in range(0, len(counts), step):
        yield counts[start : start + step]


def resample(statistic: Statistic, counts: NDArray[Any]) -> Array:
    """Compute a statistic of every resample, (B, ...), for some of them at a time."""
    return np.concatenate([statistic(part.astype(np.float64)) for part in _blocks(counts)])


def average(values: Array, among: Mask, counts: Array) -> Array:
    """Weighted means over prompts. O(B R A P) by matrix products.

    A value that is NaN is left out of its own mean, and a mean without values is NaN.

    Args:
        values: Values (R, A, P).
        among: The prompts that count, (R, P).
        counts: Weights of the prompts, (B, P).

    Returns:
        Means (B, R, A). Where all splits and methods have the same prompts, R is 1, and the mean
        over splits is the same.
    """
    present = among[:, None, :] & ~np.isnan(values)
    filled = np.where(present, values, 0.0)
    if (present == present[:1, :1]).all():
        filled = filled.mean(axis=0, keepdims=True)
        present = present[:1, :1]
    elif (present == present[:, :1]).all():
        present = present[:, :1]
    total = _weighted(filled, counts)
    size = _weighted(present.astype(np.float64), counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(size > 0, total / size, np.nan).transpose(2, 0, 1))


def _weighted(values: Array, counts: Array) -> Array:
    """Weighted sums (R, A, B) of (R, A, P)."""
    flat = values.reshape(-1, values.shape[2]) @ counts.T
    return np.asarray(flat.reshape(*values.shape[:2], len(counts)))


def tail(values: Array, among: Mask, counts: Array, share: float = 0.1) -> Array:
    """Weighted means of the ceil(share N) lowest values. O(B R A P).

    Args:
        values: Values (R, A, P).
        among: The prompts that count, (R, P).
        counts: Weights of the prompts, (B, P).
        share: The share of N, the weight of the prompts that have a value.

    Returns:
        Means (B, R, A).
    """
    present = among[:, None, :] & ~np.isnan(values)
    tail_weight = np.ceil(share * _weighted(present.astype(np.float64), counts) - 1e-9)
    by_prompt = np.ascontiguousarray(counts.T, dtype=np.float64)
    result = np.full((len(counts), *values.shape[:2]), np.nan)
    for split, method in np.ndindex(*values.shape[:2]):
        prompts = np.flatnonzero(present[split, method])
        if prompts.size:
            order = np.argsort(values[split, method, prompts], kind="stable")
            result[:, split, method] = _tail_mean(
                values[split, method], prompts[order], by_prompt, tail_weight[split, method], share
            )
    return result


def _tail_mean(
    values: Array, ascending: Integers, by_prompt: Array, tail_weight: Array, share: float
) -> Array:
    """The weighted mean of the lowest values, (B,).

    Args:
        values: Values (P,).
        ascending: The prompts in the order of their values.
        by_prompt: Weights of the prompts in each resample, (P, B).
        tail_weight: How much weight the tail of each resample has, (B,).
        share: About how much of the prompts the tail is.
    """
    # Few prompts are enough for most resamples; more are taken until they are for all.
    size = min(ascending.size, int(1.5 * share * ascending.size) + 12)
    while size < ascending.size and (by_prompt[ascending[:size]].sum(axis=0) < tail_weight).any():
        size = min(ascending.size, 2 * size)
    lowest = ascending[:size]
    weight = by_prompt[lowest]
    excess = np.cumsum(weight, axis=0)
    excess -= tail_weight
    np.maximum(excess, 0.0, out=excess)
    np.subtract(weight, excess, out=weight)
    np.maximum(weight, 0.0, out=weight)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((values[lowest] @ weight) / tail_weight)


def over_splits(values: Array) -> Array:
    """Means over the splits: (B, R, A) to (B, A), NaN left out."""
    present = ~np.isnan(values)
    count = present.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        total = np.where(present, values, 0.0).sum(axis=1)
        return np.asarray(np.where(count > 0, total / count, np.nan))


def interval(draws: Array, level: float = LEVEL) -> Array:
    """The central interval (2, ...) of resampled statistics (B, ...); NaN where none is known."""
    ends = [(1 - level) / 2, (1 + level) / 2]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="All-NaN slice")
        return np.asarray(np.nanquantile(draws, ends, axis=0))


def largest(values: Array) -> float:
    """The largest |value| that is known, 0 for none: what rounding is relative to."""
    return float(np.nanmax(np.abs(values), initial=0.0))


def zero_rounding(differences: Array, size: Array) -> Array:
    """Set differences of values of this size to 0 where they are within rounding of it."""
    return np.where(np.abs(differences) <= ROUNDING * size, 0.0, differences)


def noise_band_with_default(
    observed: Array, resamples: Array, size: Array, prompts: int, default: int | None
) -> Array:
    """Half widths of the noise about differences, with one rule tested first and alone.

    The default rule is named before the data are seen, so it does not pay for the rules that are
    tried beside it: its band holds for its own differences, and the others share one band.

    Args:
        observed: The differences (..., A).
        resamples: The differences of each resample, (B, ..., A).
        size: The size of the values, as `noise_band` takes it.
        prompts: The number of prompts.
        default: The place of the default rule on the last axis, None where it was not compared.

    Returns:
        Half widths (..., A).
    """
    if default is None or observed.shape[-1] == 1:
        return noise_band(observed, resamples, size, prompts)
    is_default = np.arange(observed.shape[-1]) == default
    margin = np.empty(observed.shape)
    for columns in (is_default, ~is_default):
        margin[..., columns] = noise_band(
            observed[..., columns], resamples[..., columns], size, prompts
        )
    return margin


def noise_band(observed: Array, resamples: Array, size: Array, prompts: int) -> Array:
    """Half widths of the band of noise about differences.

    Each is the same multiple of the difference's bootstrap deviation: the one that `LEVEL` of the
    resamples stay within for all differences together, so that many do not win by luck. What does
    not move beyond rounding has none.

    Args:
        observed: The differences (...).
        resamples: The differences of each resample, (B, ...).
        size: The size of the values, to which rounding is relative.
        prompts: The number of prompts; the band of few is widened, as resampling understates noise.

    Returns:
        Half widths (...); all are infinite with fewer than two resamples in which everything is
        known that is known in `observed`.
    """
    is_complete = ~np.isnan(resamples[:, ~np.isnan(observed)]).any(axis=1)
    complete = resamples[is_complete]
    if len(complete) < 2:
        return np.full(observed.shape, np.inf)
    deviation = complete.std(axis=0)
    moves = deviation > ROUNDING * size
    distance = np.abs(complete - observed)[:, moves] / deviation[moves]
    limit = float(np.quantile(distance.max(axis=1, initial=0.0), LEVEL))
    widening = 1 + _FEW_PROMPTS / max(1, prompts)
    return np.where(moves, widening * limit * deviation, 0.0)


def estimate(statistic: Statistic, counts: NDArray[Any]) -> tuple[Array, Array]:
    """Measure a statistic of the prompts as they are, with its interval.

    Args:
        statistic: Gives (B, R, A) for weights of the prompts (B, P).
        counts: The resamples, (B, P).

    Returns:
        The statistic (A,), and its interval (2, A), NaN where there is one prompt only.
    """
    observed = over_splits(statistic(np.ones((1, counts.shape[1]))))[0]
    if counts.shape[1] < 2:
        return observed, np.full((2, *observed.shape), np.nan)
    return observed, interval(resample(lambda part: over_splits(statistic(part)), counts))
