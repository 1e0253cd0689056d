"""When no answer is good: whether the mean of the chosen answer is certainly below a limit."""

import math

import numpy as np

from darc.decide.model.calibration import DEFAULT
from darc.decide.model.spread import spread_posterior, summarize
from darc.decide.pools import Pools
from darc.typing import Array, Integers, Mask

# How probable it must be that the mean of the choice is below the limit.
CERTAINTY = 0.95


def is_held(pools: Pools, index: Integers, among: Mask) -> Mask:
    """Find the choices that are probably poor: none of the prompt's answers is good.

    Args:
        pools: The pools, with `standards` that have a limit.
        index: The chosen candidate of each prompt, (P,).
        among: Which candidates tell of the prompt's level, (P, K): not those that were ruled out,
            whose ratings a lazy search does not know.

    Returns:
        (P,), true where the posterior probability that the chosen answer's mean is below the limit
        is at least `CERTAINTY`; false everywhere for scores of rewrites and of several scorers,
        which are not on the scale of the limit.
    """
    limit = pools.standards.poor_limit
    if limit is None or pools.about_wording or pools.shape[1] != 1:
        return np.zeros(len(index), dtype=bool)
    ratings = np.where(among[..., None], pools.samples[:, 0], np.nan)
    probability = probability_below(ratings, index, limit)
    return np.asarray(probability >= CERTAINTY)


def probability_below(ratings: Array, index: Integers, limit: float) -> Array:
    """Estimate the probability that the mean of each choice is below a limit.

    The mean is normal around its shrunken estimate, with the standard error of the candidate's
    expected sigma. Where no candidate has two ratings, the deviation of all ratings takes its
    place.

    Args:
        ratings: (P, K, n), NaN where there is no rating.
        index: The chosen candidate of each prompt, (P,).
        limit: On the scale of the ratings.

    Returns:
        Probabilities, (P,).
    """
    rows = np.arange(len(index))
    summary = summarize(ratings)
    count = summary.count
    rated = count > 0
    level = np.where(rated, summary.mean, 0.0).sum(axis=1) / np.maximum(rated.sum(axis=1), 1)
    _, shrinkage = DEFAULT.by_count(int(count.max(initial=1)))
    chosen_count = count[rows, index]
    centre = level + shrinkage[chosen_count] * (summary.mean[rows, index] - level)
    sigma = spread_posterior(summary).sigma[rows, index]
    no_spread = ~(count > 1).any(axis=1)
    if no_spread.any():
        sigma[no_spread] = _overall_deviation(ratings[no_spread])
    errors = sigma / np.sqrt(np.maximum(chosen_count, 1))
    distances = limit - centre
    probabilities = [
        _normal_probability(distance, error)
        for distance, error in zip(distances, errors, strict=True)
    ]
    return np.array(probabilities)


def _overall_deviation(ratings: Array) -> Array:
    """The deviation of all ratings of a prompt, (P,), infinite for a single one."""
    flat = ratings.reshape(len(ratings), -1)
    count = (~np.isnan(flat)).sum(axis=1)
    centred = flat - np.nanmean(flat, axis=1, keepdims=True)
    variance = np.nansum(centred**2, axis=1) / np.maximum(count - 1, 1)
    return np.where(count > 1, np.sqrt(variance), np.inf)


def _normal_probability(distance: float, error: float) -> float:
    """The probability that a normal error is below a distance."""
    if error == 0:
        return 1.0 if distance > 0 else 0.0
    return 0.5 * (1 + math.erf(distance / error / math.sqrt(2)))
