"""How many raters a prediction is worth."""

from dataclasses import dataclass

import numpy as np

from darc.decide.evidence.posterior import DEFAULT_NOISE_RATIO, centred_over
from darc.typing import Array

# The fewest degrees of freedom within candidates from which the noise of a rating is known.
FEWEST_REPEATS = 20
# The noise of one rating over the variance of candidates is taken to be within these.
LEAST_RATIO = 0.2
LARGEST_RATIO = 30.0
# The least variance of candidates, as a share of the noise of one rating.
LEAST_CANDIDATE_SHARE = 0.02
# Groups of prompts that the jackknife leaves out, and how many of its errors the interval spans.
GROUPS = 20
REACH = 2.1
# The logarithm of the worth is taken after adding this, since a worth may be 0.
LOG_OFFSET = 0.2


@dataclass(frozen=True)
class Worth:
    """How many raters a prediction is worth, with an interval of about 90 %."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class PromptVariances:
    """Sums of squares of each prompt, (P,) each."""

    #: Within candidates, and its degrees of freedom.
    within: Array
    within_df: Array
    #: Between candidates, around what is predicted, and its degrees of freedom.
    between: Array
    between_df: Array
    #: The mean of 1 / (number of ratings) over rated candidates.
    inverse_count: Array

    def components(self, rows: Array | slice = slice(None)) -> tuple[float, float]:
        """The noise of one rating and the variance of candidates, from some of the prompts."""
        within = float(self.within[rows].sum()) / max(float(self.within_df[rows].sum()), 1.0)
        df = max(float(self.between_df[rows].sum()), 1.0)
        observed = float(self.between[rows].sum()) / df
        inverse = float((self.inverse_count[rows] * self.between_df[rows]).sum()) / df
        least = max(LEAST_CANDIDATE_SHARE * within, 1e-300)
        return within, max(observed - within * inverse, least)


def prompt_variances(
    ratings: Array, predicted: float | Array = 0.0, shared: float = 1.0
) -> PromptVariances:
    """The variances of each prompt within and between its candidates.

    Args:
        ratings: (P, K, n), NaN where there is none.
        predicted: What is predicted of each candidate, (P, K).
        shared: The share of noise that blurs comparisons within a prompt.
    """
    is_rated = np.isfinite(ratings)
    count = is_rated.sum(axis=-1)
    has_ratings = count > 0
    mean = np.where(is_rated, ratings, 0.0).sum(axis=-1) / np.maximum(count, 1)
    deviation = centred_over(mean - predicted, has_ratings)
    squares = np.where(is_rated, (ratings - mean[..., None]) ** 2, 0.0)
    inverse = np.where(has_ratings, 1 / np.maximum(count, 1), 0.0).sum(axis=1)
    return PromptVariances(
        within=shared * squares.sum(axis=(1, 2)),
        within_df=np.maximum(count - 1, 0).sum(axis=1),
        between=(deviation**2).sum(axis=1),
        between_df=np.maximum(has_ratings.sum(axis=1) - 1, 0),
        inverse_count=inverse / np.maximum(has_ratings.sum(axis=1), 1),
    )


def noise_ratio(ratings: Array, shared: float = 1.0) -> float:
    """The noise of one rating over the variance of candidates' true means within prompts.

    Args:
        ratings: (P, K, n), NaN where there is none.
        shared: The share of noise that blurs comparisons within a prompt.

    Returns:
        The ratio; a usual one where too few candidates were rated twice.
    """
    variances = prompt_variances(ratings, shared=shared)
    if variances.within_df.sum() < FEWEST_REPEATS:
        return DEFAULT_NOISE_RATIO
    noise, candidates = variances.components()
    return float(np.clip(noise / candidates, LEAST_RATIO, LARGEST_RATIO))


def worth_in_raters(
    ratings: Array, predicted: Array, shared: float = 1.0, seed: int = 0
) -> Worth | None:
    """How many raters a prediction is worth.

    Precisions add: n ratings and the prediction choose as well as n + worth ratings. The interval
    is a jackknife over groups of prompts, on the logarithm.

    Args:
        ratings: (P, K, n), NaN where there is none.
        predicted: The prediction of each candidate, (P, K), learnt on other prompts.
        shared: The share of noise that blurs comparisons within a prompt.
        seed: The seed of the groups.

    Returns:
        The worth, or None where the noise of a rating cannot be known, because hardly anything
        was rated twice.
    """
    without = prompt_variances(ratings, shared=shared)
    with_prediction = prompt_variances(ratings, predicted, shared)
    if without.within_df.sum() < FEWEST_REPEATS:
        return None

    def gained_precision(rows: Array | slice) -> float:
        noise, candidates = with_prediction.components(rows)
        usual_noise, usual_candidates = without.components(rows)
        return noise / candidates - usual_noise / usual_candidates

    group = np.random.default_rng(seed).permutation(len(ratings)) % GROUPS
    estimate = gained_precision(slice(None))
    left_out = [gained_precision(np.asarray(group != index)) for index in range(GROUPS)]
    logs = np.log(np.maximum(left_out, 0.0) + LOG_OFFSET)
    error = np.sqrt((GROUPS - 1) / GROUPS * ((logs - logs.mean()) ** 2).sum())
    factor = float(np.exp(REACH * error))
    return Worth(
        estimate=estimate,
        low=max(0.0, (estimate + LOG_OFFSET) / factor - LOG_OFFSET),
        high=(estimate + LOG_OFFSET) * factor - LOG_OFFSET,
    )
