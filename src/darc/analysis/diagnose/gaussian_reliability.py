"""The reliability of sigma if ratings were Gaussian, which takes two ratings per candidate."""

import math

import numpy as np

from darc.analysis.diagnose.candidate_ratings import CandidateRatings
from darc.analysis.diagnose.reliability import Reliability, draw_prompts, middle_interval
from darc.analysis.diagnose.residuals import rating_residuals, subtract_group_means
from darc.decide.statistics import risk
from darc.decide.statistics.summary import c4
from darc.typing import Array

_UNKNOWN = Reliability(
    value=math.nan,
    low=math.nan,
    high=math.nan,
    half_correlation=math.nan,
    p_value=math.nan,
    length=math.nan,
    lost_raters=1,
)


def gaussian_reliability(
    ratings: CandidateRatings, *, resamples: int = 1000, seed: int = 0
) -> Reliability:
    """Estimate sigma's reliability within prompts under Gaussian noise about each mean.

    It is the share of the variation of sigmas beyond the noise of the chi distribution. It needs
    two ratings per candidate, not four; heavier tails than the Gaussian's make it too large.

    Args:
        ratings: The ratings.
        resamples: The number of bootstrap draws.
        seed: The seed of the draws.

    Returns:
        The reliability, NaN if no candidate has two ratings.
    """
    rows = ratings.counts >= 2
    if not rows.any():
        return _UNKNOWN
    unbiased, noise = gaussian_noise(ratings)
    _, prompt, size = np.unique(ratings.prompts[rows], return_inverse=True, return_counts=True)
    observed = subtract_group_means(unbiased[rows], prompt) ** 2
    by_chance = noise[rows] * (1 - 1 / size[prompt])
    sums = np.array([np.bincount(prompt, observed), np.bincount(prompt, by_chance)]).T

    def reliability(weights: Array) -> Array:
        variation, chance = (weights @ sums).T
        unknown = np.full_like(variation, np.nan)
        return 1 - np.divide(chance, variation, out=unknown, where=variation > 0)

    weights = draw_prompts(size.size, resamples, np.random.default_rng([seed, 3]))
    low, high = middle_interval(reliability(weights))
    return Reliability(
        value=float(reliability(np.ones((1, size.size)))[0]),
        low=low,
        high=high,
        half_correlation=math.nan,
        p_value=math.nan,
        length=float(1 / np.mean(1 / (ratings.counts[rows] - 1))),
        lost_raters=1,
    )


def gaussian_noise(ratings: CandidateRatings) -> tuple[Array, Array]:
    """Each candidate's sigma without its bias, and its variance under Gaussian noise.

    With noise of variance e and raters' levels of variance d, the sampling variance of sigma goes
    from that of the chi distribution for d = 0 to e/(n - 1) if e is small against d. The levels
    are not noise of sigma: they are the same for all candidates of a prompt.

    Args:
        ratings: The ratings.

    Returns:
        Sigmas and variances, both (I,).
    """
    counts = ratings.counts
    sigma = ratings.sigmas()
    chi = c4(counts)
    residuals, cell = rating_residuals(ratings)
    error = risk.sigma(residuals) ** 2
    if cell is not None:
        # A rater's level was estimated from the candidates of one prompt.
        size = np.bincount(ratings.prompts)[ratings.prompts]
        error = error * size / np.maximum(size - 1, 1)
    total = np.nansum(sigma**2)
    noise_share = 1.0
    if total > 0:
        noise_share = min(float(np.nansum(error) / total), 1.0)
    bias = noise_share * chi + (1 - noise_share)
    chi_variance = noise_share * (1 - chi**2)
    level_variance = (1 - noise_share) / np.maximum(counts - 1, 1)
    noise = error * (chi_variance + level_variance)
    return sigma / bias, noise / bias**2
