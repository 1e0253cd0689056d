"""Which rating to ask for next, and when further ratings are not worth their price."""

import math
from dataclasses import dataclass

import numpy as np

from darc.decide.evidence.posterior import Posterior
from darc.typing import Array, Integers, Mask

# How many further ratings of one candidate are considered together.
DEPTHS = (1, 2, 3, 4, 6, 8, 12)
# What one rating must improve the decision by, in standard deviations within a candidate.
DEFAULT_PRICE = 0.005
TINY = 1e-12

_GRID = np.linspace(-9.0, 9.0, 3601)
_NORMAL_CDF = np.array([0.5 * math.erfc(-point / math.sqrt(2)) for point in _GRID])


@dataclass(frozen=True, eq=False)
class WaveLimits:
    """What the next wave of ratings may ask for at most."""

    #: How many ratings in all.
    size: int
    #: How many more ratings each candidate can get, (P, K); None without a limit.
    room: Integers | None = None
    #: How many ratings of one prompt; None without a limit.
    per_prompt: int | None = None
    #: What one rating must improve the decision by, in standard deviations of one rating. Without
    #: it a wave that is larger than what is worth asking for is filled with what is not.
    price: float = 0.0


def rating_value(belief: Posterior, rating_noise: float, room: Integers | None = None) -> Array:
    """What one further rating of each candidate is expected to improve the decision by.

    This is the knowledge gradient per rating, at the best of several numbers of further ratings.

    Args:
        belief: What is believed of the true means.
        rating_noise: The variance of one rating around its candidate's true mean.
        room: How many more ratings a candidate can get, (P, K); None without a limit.

    Returns:
        The expected improvement per rating, (P, K), in units of the ratings.
    """
    rival = _best_other(belief.mean)
    gap = np.abs(belief.mean - rival)
    best = np.zeros_like(belief.mean)
    for depth in DEPTHS:
        variance = belief.variance
        shift = np.sqrt(variance**2 * depth / np.maximum(variance * depth + rating_noise, TINY))
        value = shift * _expected_excess(-gap / np.maximum(shift, TINY)) / depth
        if room is not None:
            value = np.where(room >= depth, value, 0.0)
        best = np.maximum(best, value)
    return best


def next_wave(belief: Posterior, rating_noise: float, limits: WaveLimits) -> Integers:
    """The pairs of prompt and candidate to rate next, the most valuable first.

    A wave asks for at most one rating of a candidate.

    Args:
        belief: What is believed of the true means.
        rating_noise: The variance of one rating around its candidate's true mean.
        limits: What the wave may ask for at most.

    Returns:
        Indices of shape (pairs, 2).
    """
    value = rating_value(belief, rating_noise, limits.room)
    if limits.per_prompt is not None:
        order = np.argsort(-value, axis=1, kind="stable")
        rank = np.argsort(order, axis=1, kind="stable")
        value = np.where(rank < limits.per_prompt, value, 0.0)
    ordered = np.argsort(-value, axis=None, kind="stable")[: limits.size]
    ordered_value = value.ravel()[ordered]
    least = limits.price * math.sqrt(rating_noise)
    worthwhile = ordered[(ordered_value > 0) & (ordered_value >= least)]
    return np.stack(np.unravel_index(worthwhile, value.shape), axis=1)


def is_finished(
    belief: Posterior,
    rating_noise: float,
    room: Integers | None = None,
    price: float = DEFAULT_PRICE,
) -> Mask:
    """The prompts of which no further rating is worth its price, (P,).

    Args:
        belief: What is believed of the true means.
        rating_noise: The variance of one rating around its candidate's true mean.
        room: How many more ratings a candidate can get, (P, K); None without a limit.
        price: What one rating must improve the decision by, in standard deviations of one rating.
    """
    value = rating_value(belief, rating_noise, room).max(axis=1)
    return np.asarray(value < price * math.sqrt(rating_noise))


def _best_other(mean: Array) -> Array:
    """The largest mean among the other candidates of the prompt, (P, K)."""
    if mean.shape[1] < 2:
        return np.full_like(mean, -np.inf)
    ordered = np.sort(mean, axis=1)
    largest = ordered[:, -1:]
    second = ordered[:, -2:-1]
    return np.where(mean >= largest, second, largest)


def _expected_excess(z: Array) -> Array:
    """The expectation of max(0, N(z, 1)) for z <= 0."""
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    return np.asarray(density + np.where(z < _GRID[0], 0.0, z * np.interp(z, _GRID, _NORMAL_CDF)))
