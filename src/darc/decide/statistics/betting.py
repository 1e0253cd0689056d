"""A lower confidence bound on the mean of bounded samples, by betting.

Somebody who doubts that the mean is as small as m bets before every sample that it will be above
m, with stakes that depend on the earlier samples only. If the mean is m or smaller, the wealth
exceeds 1/delta at any time with probability at most delta, so an m at which it does is rejected.
The bound is the smallest m that is not (Waudby-Smith and Ramdas, arXiv 2010.09686). It assumes
nothing but independent samples within the bounds.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from darc.decide.statistics.arrays import as_bounds, check_probability
from darc.errors import InputError
from darc.typing import Array

# The largest stake, as a share of the one that could lose everything.
MAX_STAKE = 0.75
# The stakes are the best ones for rejecting at this level, whatever the level of the bound is.
_STAKE_LEVEL = 0.05
# Halvings of the interval of means, down to the precision of numbers in [0, 1].
_HALVINGS = 54
# How many numbers are worked on at a time.
_CHUNK = 2_000_000


def betting_bound(
    samples: ArrayLike,
    *,
    candidates: ArrayLike,
    bounds: ArrayLike,
    delta: float = 0.05,
    seed: int = 0,
) -> Array:
    """Lower bound on the true means, by betting on the samples in a random order.

    The bounds of all K candidates of a pool hold at once with probability 1 - delta.

    Args:
        samples: Samples (..., n), NaN where there is none.
        candidates: The number of candidates in the pool, K, broadcast to (...).
        bounds: The ends (a, b) of the scale of the samples.
        delta: The probability that any of the K bounds fails.
        seed: The seed of the order in which the samples are bet on.

    Returns:
        The bounds (...), a where there is no sample.

    Raises:
        InputError: If a sample lies outside the bounds, or there are no candidates.
    """
    low, high = (float(end) for end in as_bounds(bounds, 1)[0])
    values = np.asarray(samples, dtype=np.float64)
    if (values < low).any() or (values > high).any():
        raise InputError(
            f"there are samples outside the bounds ({low:g}, {high:g})",
            "give the lowest and the highest score that the scale allows",
        )
    pool_sizes = np.asarray(candidates, dtype=np.float64)
    if not (pool_sizes >= 1).all():
        raise InputError(f"candidates is {candidates!r}", "there must be at least one candidate")
    shape = values.shape[:-1]
    level = np.broadcast_to(check_probability("delta", delta) / pool_sizes, shape).reshape(-1)
    rows = ((values - low) / (high - low)).reshape(-1, values.shape[-1])
    missing = np.isnan(rows)
    # The samples that there are come first, in their order.
    rows = np.take_along_axis(rows, np.argsort(missing, axis=1, kind="stable"), axis=1)
    counts = (~missing).sum(axis=1)
    result = np.zeros(len(rows))
    for count in np.unique(counts[counts > 0]).tolist():
        order = np.random.default_rng(seed).permutation(count)
        places = np.flatnonzero(counts == count)
        for part in np.array_split(places, math.ceil(len(places) * count / _CHUNK)):
            result[part] = _smallest_mean(rows[part][:, order], level[part])
    return np.asarray(low + (high - low) * result.reshape(shape))


def _smallest_mean(samples: Array, level: Array) -> Array:
    """The smallest mean that is not rejected at a level (N,), for samples (N, n) in [0, 1].

    The wealth falls with the mean, so that the interval can be halved.
    """
    stakes = _stakes(samples)
    rejected = np.zeros(len(samples))
    accepted = np.ones(len(samples))
    for _ in range(_HALVINGS):
        middle = (rejected + accepted) / 2
        gains = np.minimum(MAX_STAKE / middle[:, None], stakes) * (samples - middle[:, None])
        log_wealth = np.log1p(gains).cumsum(axis=1).max(axis=1)
        is_rejected = -log_wealth <= np.log(level)
        rejected = np.where(is_rejected, middle, rejected)
        accepted = np.where(is_rejected, accepted, middle)
    # Every mean below the returned one is rejected.
    return rejected


def _stakes(samples: Array) -> Array:
    """The stake on each sample (N, n), from the variance of the earlier ones."""
    losses = 1 - samples
    size = samples.shape[1]
    place = np.arange(1, size + 1)
    mean = (0.5 + np.cumsum(losses, axis=1)) / (place + 1)
    first = np.full((len(samples), 1), 0.5)
    earlier_mean = np.concatenate([first, mean[:, :-1]], axis=1)
    squares = np.cumsum((losses - earlier_mean) ** 2, axis=1)
    variance = (0.25 + squares) / (place + 1)
    earlier_variance = np.concatenate([first**2, variance[:, :-1]], axis=1)
    return np.sqrt(2 * math.log(1 / _STAKE_LEVEL) / (size * earlier_variance))
