"""What is left of ratings without the candidates' means and the raters' levels."""

import numpy as np

from darc.analysis.diagnose.candidate_ratings import CandidateRatings
from darc.typing import Array, Integers

_MAX_SWEEPS = 500


def subtract_group_means(values: Array, group: Integers) -> Array:
    """Values (N,) less the mean of all values in the same group (N,)."""
    means = np.bincount(group, values) / np.maximum(np.bincount(group), 1)
    return values - means[group]


def fit_rater_levels(candidate: Integers, rater: Integers, value: Array) -> tuple[Array, Array]:
    """Fit value = candidate + rater by least squares.

    Since both are fitted together, a rater is not called severe for having rated bad candidates.
    The fit alternates between the means of candidates and of raters, O(ratings) per sweep.

    Args:
        candidate: The candidate of each rating (N,).
        rater: The rater of each rating (N,).
        value: The ratings (N,).

    Returns:
        The raters' levels, whose mean over the ratings is 0, and the residuals (N,).
    """
    counts = np.bincount(rater)
    level = np.zeros(counts.size)
    residual = subtract_group_means(value, candidate)
    for _ in range(_MAX_SWEEPS):
        step = np.bincount(rater, residual) / np.maximum(counts, 1)
        level += step
        residual = subtract_group_means(residual - step[rater], candidate)
        if np.abs(step).max() <= 1e-10 * max(np.ptp(value), 1e-300):
            break
    return level - np.average(level, weights=counts), residual


def rating_residuals(ratings: CandidateRatings) -> tuple[Array, Integers | None]:
    """Ratings less the candidate's mean and the rater's own level in the prompt.

    Args:
        ratings: The ratings.

    Returns:
        The residuals (I, n), and each rating's prompt and rater as one number (N,). The latter is
        None if raters are unknown or rate only one candidate of a prompt: then the candidate's
        mean alone is subtracted.
    """
    candidate, rater, value = ratings.flat()
    cell = _prompt_and_rater(ratings, candidate, rater)
    residuals = np.full(ratings.values.shape, np.nan)
    if cell is None:
        residuals[ratings.present] = subtract_group_means(value, candidate)
    else:
        residuals[ratings.present] = fit_rater_levels(candidate, cell, value)[1]
    return residuals, cell


def _prompt_and_rater(
    ratings: CandidateRatings, candidate: Integers, rater: Integers
) -> Integers | None:
    """A number for each rating's prompt and rater (N,), None if one has a single rating."""
    if not ratings.named:
        return None
    keys = ratings.prompts[candidate] * len(ratings.rater_names) + rater
    cell = np.unique(keys, return_inverse=True)[1]
    if (np.bincount(cell) < 2).any():
        return None
    return cell
