"""Whether candidates differ in disagreement (sigma), and which ones divide the raters."""

import math
from dataclasses import dataclass

import numpy as np

from darc.analysis.diagnose.candidate_ratings import CandidateRatings
from darc.analysis.diagnose.residuals import rating_residuals, subtract_group_means
from darc.decide.statistics import risk
from darc.typing import Array, Integers

# A candidate divides the raters if at least this share of its ratings is in each of two tails,
# which begin a standard deviation of all ratings away from their mean, or at the ends of the scale.
POLARISING_SHARE = 0.3
# Candidates with fewer ratings are not called polarising.
MIN_RATINGS = 5


@dataclass(frozen=True)
class SigmaDifferences:
    """Whether sigmas differ within prompts beyond chance, and the polarising candidates."""

    #: The permutation test's p-value for equal sigmas. Tails heavier than the Gaussian's make it
    #: too small if candidates have few ratings.
    p_value: float
    #: The places of the candidates that divide the raters, the most divided first.
    polarising: tuple[int, ...]
    #: How many of them equal noise for all would make; NaN with too few ratings.
    expected: float
    #: Where the tails begin.
    low: float
    high: float


def compare_sigmas(
    ratings: CandidateRatings, *, permutations: int = 500, seed: int = 0
) -> SigmaDifferences:
    """Test whether sigmas are equal within prompts, and find polarising candidates.

    The residuals of the ratings are dealt out anew among the candidates of a prompt, each rater's
    own among those that this rater saw. O(permutations x ratings log ratings).

    Args:
        ratings: The ratings.
        permutations: How often residuals are dealt out.
        seed: The seed of the permutations.

    Returns:
        The test, and the candidates.
    """
    present = ratings.present
    low, high = _tail_limits(ratings.values[present])
    shares = _tail_shares(ratings.values, low, high)
    order = np.lexsort((ratings.lots, -shares)).tolist()
    polarising = tuple(place for place in order if shares[place] >= POLARISING_SHARE)
    residuals, cell = rating_residuals(ratings)
    observed = _variation_of_sigma(residuals, ratings.prompts)
    if math.isnan(observed):
        return SigmaDifferences(math.nan, polarising, math.nan, low, high)
    if cell is None:
        cell = ratings.prompts[np.nonzero(present)[0]]
    # The residuals of n ratings are smaller than the noise by this factor.
    counts = ratings.counts
    correction = np.sqrt(counts / np.maximum(counts - 1, 1))
    noise = (residuals * correction[:, None])[present]
    place = np.argsort(cell, kind="stable")
    means = ratings.means()[:, None]
    generator = np.random.default_rng([seed, 4])
    as_large = 0
    polarising_by_chance = 0
    dealt = np.full(residuals.shape, np.nan)
    for _ in range(permutations):
        shuffled = np.empty_like(noise)
        shuffled[place] = noise[np.lexsort((generator.random(noise.size), cell))]
        dealt[present] = shuffled
        as_large += _variation_of_sigma(dealt, ratings.prompts) >= observed * (1 - 1e-12)
        chance_shares = _tail_shares(means + dealt, low, high)
        polarising_by_chance += int((chance_shares >= POLARISING_SHARE).sum())
    expected = math.nan
    if low < high and (counts >= MIN_RATINGS).any():
        expected = polarising_by_chance / permutations
    p_value = (1 + as_large) / (1 + permutations)
    return SigmaDifferences(p_value, polarising, expected, low, high)


def _tail_limits(values: Array) -> tuple[float, float]:
    """Where the lower tail ends and the upper tail begins."""
    low = max(float(values.mean() - values.std()), float(values.min()))
    high = min(float(values.mean() + values.std()), float(values.max()))
    return low, high


def _variation_of_sigma(residuals: Array, prompts: Integers) -> float:
    """Variation of sigma within prompts relative to its size; NaN if there is none to compare."""
    sigma = risk.sigma(residuals)
    has_sigma = ~np.isnan(sigma)
    sigma = sigma[has_sigma]
    prompt = prompts[has_sigma]
    total = float(np.sum(sigma**2))
    if np.bincount(prompt, minlength=1).max() < 2 or total <= 0:
        return math.nan
    return float(np.sum(subtract_group_means(sigma, prompt) ** 2)) / total


def _tail_shares(values: Array, low: float, high: float) -> Array:
    """The share of each candidate's ratings in the emptier tail, (I,); 0 with few ratings."""
    count = (~np.isnan(values)).sum(axis=1)
    if not low < high:
        return np.zeros(count.size)
    below = (values <= low).sum(axis=1)
    above = (values >= high).sum(axis=1)
    share = np.minimum(below, above) / np.maximum(count, 1)
    return np.where(count >= MIN_RATINGS, share, 0.0)
