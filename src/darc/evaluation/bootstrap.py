"""Paired bootstrap over prompts."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

DRAWS = 2000
LEVEL = 0.95


def draw_counts(prompts: int, draws: int, seed: int) -> Array:
    """How often each prompt is drawn in each resample, (draws, prompts)."""
    generator = np.random.default_rng([seed, prompts])
    share = np.full(prompts, 1.0 / prompts)
    return generator.multinomial(prompts, share, size=draws).astype(np.float64)


def average(values: Array, among: Mask, counts: Array) -> Array:
    """Weighted means (B, R, A) of values (R, A, P) over the prompts `among` (R, P).

    `counts` (B, P) are the weights of the prompts; a value that is NaN is left out of its own mean,
    and a mean without values is NaN. O(B R A P) by matrix products.
    """
    there = among[:, None, :] & ~np.isnan(values)
    total = np.where(there, values, 0.0) @ counts.T
    size = there.astype(np.float64) @ counts.T
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(size > 0, total / size, np.nan).transpose(2, 0, 1))


def tail(values: Array, among: Mask, counts: Array, share: float = 0.1) -> Array:
    """Weighted means (B, R, A) of the ceil(share N) lowest of values (R, A, P) among (R, P).

    N is the weight of the prompts that have a value. O(B R A P).
    """
    there = among[:, None, :] & ~np.isnan(values)
    result = np.full((len(counts), *values.shape[:2]), np.nan)
    for r, a in np.ndindex(*values.shape[:2]):
        place = np.flatnonzero(there[r, a])
        if not place.size:
            continue
        place = place[np.argsort(values[r, a, place], kind="stable")]
        wanted = np.ceil(share * counts[:, place].sum(axis=1, keepdims=True) - 1e-9)
        weight = counts[:, place[: int(4 * share * place.size) + 40]]
        if (weight.sum(axis=1) < wanted[:, 0]).any():
            weight = counts[:, place]
        place = place[: weight.shape[1]]
        reached = np.cumsum(weight, axis=1)
        taken = np.clip(weight - np.maximum(reached - wanted, 0.0), 0.0, None)
        with np.errstate(invalid="ignore", divide="ignore"):
            result[:, r, a] = (taken @ values[r, a, place]) / wanted[:, 0]
    return result


def over_splits(values: Array) -> Array:
    """Means over the splits: (B, R, A) to (B, A), NaN left out."""
    known = ~np.isnan(values)
    size = known.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        total = np.where(known, values, 0.0).sum(axis=1)
        return np.asarray(np.where(size > 0, total / size, np.nan))


def interval(draws: Array, level: float = LEVEL) -> Array:
    """The central interval (2, ...) of resampled statistics (B, ...); NaN where none is known."""
    share = (1 - level) / 2
    flat = draws.reshape(len(draws), -1)
    result = np.full((2, flat.shape[1]), np.nan)
    for place, column in enumerate(flat.T):
        known = column[~np.isnan(column)]
        if known.size:
            result[:, place] = np.quantile(known, [share, 1 - share])
    return result.reshape(2, *draws.shape[1:])


Statistic = Callable[[Array], Array]


def estimate(statistic: Statistic, counts: Array) -> tuple[Array, Array]:
    """A statistic (A,) of the prompts as they are, and its interval (2, A).

    `statistic(counts)` gives (B, R, A) for weights (B, P). One prompt has no interval: NaN.
    """
    whole = over_splits(statistic(np.ones((1, counts.shape[1]))))[0]
    if counts.shape[1] < 2:
        return whole, np.full((2, *whole.shape), np.nan)
    return whole, interval(over_splits(statistic(counts)))
