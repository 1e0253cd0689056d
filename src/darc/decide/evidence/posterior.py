"""What ratings so far say of the candidates' true means, and how sure that is."""

from dataclasses import dataclass

import numpy as np

from darc.typing import Array, Integers, Mask

# The noise of one rating over the variance of candidates, before anything is rated twice, and the
# degrees of freedom that this guess counts for.
DEFAULT_NOISE_RATIO = 3.3
GUESS_DF = 10.0
# The least variance of candidates, as a share of what is seen.
LEAST_CANDIDATE_SHARE = 0.05
TINY = 1e-12

# Draws of true means are made in blocks of about this many numbers.
_BLOCK_NUMBERS = 50_000


@dataclass(frozen=True)
class RatingNoise:
    """How far ratings of one candidate vary, and how far candidates vary within prompts."""

    #: The variance of one rating around its candidate's true mean.
    rating: float
    #: The variance of true means within prompts, around what is predicted of them.
    candidates: float


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is believed of the candidates' true means, (P, K) each."""

    #: The expected true mean.
    mean: Array
    #: The variance of the true mean around it.
    variance: Array


@dataclass(frozen=True, eq=False)
class Certainty:
    """How sure the choice of each prompt is, (P,) each."""

    #: The probability that no other candidate is better by more than the tolerance.
    probability: Array
    #: By how much the best candidate is expected to be better than the choice.
    regret: Array


def estimate_noise(
    ratings: Array, predicted: float | Array = 0.0, first_wave: int | None = None
) -> RatingNoise:
    """Estimate the noise of ratings and the variance of candidates by moments.

    The variance of candidates is from the first ratings alone, which were not chosen by looking at
    others. The noise is from every candidate with two ratings or more.

    Args:
        ratings: (P, K, n), NaN where there is none, in the order in which they were given.
        predicted: What is predicted of each candidate, (P, K), as a deviation from its prompt.
        first_wave: How many ratings of each candidate are the first ones; by default as many as
            the candidate with the fewest has.
    """
    is_rated = np.isfinite(ratings)
    count = is_rated.sum(axis=-1)
    if not count.any():
        return RatingNoise(1.0, 1.0 / DEFAULT_NOISE_RATIO)
    mean = _means(ratings, is_rated)
    squares = np.where(is_rated, (ratings - mean[..., None]) ** 2, 0.0).sum()
    df = np.maximum(count - 1, 0).sum()
    first = first_wave
    if first is None:
        first = int(count[count > 0].min())
    early = ratings[..., :first]
    is_early = is_rated[..., :first]
    has_early = np.asarray(is_early.any(axis=-1))
    deviation = centred_over(_means(early, is_early) - predicted, has_early)
    candidates_df = max(int(has_early.sum() - np.any(has_early, axis=1).sum()), 1)
    observed = float((deviation**2).sum()) / candidates_df
    guess = observed * DEFAULT_NOISE_RATIO / (first + DEFAULT_NOISE_RATIO) * first
    rating_noise = float((squares + GUESS_DF * guess) / (df + GUESS_DF))
    candidates = max(observed - rating_noise / first, LEAST_CANDIDATE_SHARE * observed, TINY)
    return RatingNoise(rating_noise, candidates)


def posterior(ratings: Array, noise: RatingNoise, predicted: float | Array = 0.0) -> Posterior:
    """What the ratings say of each candidate's true mean.

    The level of a prompt is estimated from its rated candidates, weighted by precision.

    Args:
        ratings: (P, K, n), NaN where there is none.
        noise: The noise of ratings and the variance of candidates.
        predicted: What is predicted of each candidate, (P, K), as a deviation from its prompt.
    """
    is_rated = np.isfinite(ratings)
    count = is_rated.sum(axis=-1)
    surprise = _means(ratings, is_rated) - predicted
    precision = np.where(
        count > 0, 1 / (noise.candidates + noise.rating / np.maximum(count, 1)), 0.0
    )
    total = precision.sum(axis=1, keepdims=True)
    level = (precision * surprise).sum(axis=1, keepdims=True) / np.maximum(total, 1e-300)
    shrinkage = count * noise.candidates / np.maximum(count * noise.candidates + noise.rating, TINY)
    above_level = np.where(count > 0, surprise - level, 0.0)
    return Posterior(
        mean=np.asarray(level + predicted + shrinkage * above_level),
        variance=np.asarray((1 - shrinkage) * noise.candidates),
    )


def certainty(
    belief: Posterior, choice: Integers, tolerance: float | Array, draws: int = 400, seed: int = 0
) -> Certainty:
    """How sure the choices are, by draws of the true means.

    Args:
        belief: What is believed of the true means.
        choice: The index of the chosen candidate of each prompt, (P,).
        tolerance: How much better another candidate may be without mattering, (P,) or one number.
        draws: How many times the true means are drawn.
        seed: The seed of the draws.

    Returns:
        The probability and the expected regret of each prompt. Candidates whose mean is NaN take
        no part.
    """
    generator = np.random.default_rng(seed)
    takes_part = ~np.isnan(belief.mean)
    mean = np.where(takes_part, belief.mean, -np.inf)
    spread = np.where(takes_part, np.sqrt(np.maximum(belief.variance, 0.0)), 0.0)
    rows = np.arange(len(mean))
    close = np.zeros(len(mean))
    regret = np.zeros(len(mean))
    # Several draws at once: for one prompt the calls of numpy would cost more than the numbers.
    block = max(1, _BLOCK_NUMBERS // max(1, mean.size))
    for done in range(0, draws, block):
        size = min(block, draws - done)
        true_mean = mean + spread * generator.normal(size=(size, *mean.shape))
        lost = true_mean.max(axis=2) - true_mean[:, rows, choice]
        close += (lost <= tolerance).sum(axis=0)
        regret += lost.sum(axis=0)
    return Certainty(close / draws, regret / draws)


def centred_over(values: Array, among: Mask) -> Array:
    """Values (P, K) less their prompt's mean over the marked ones, 0 elsewhere."""
    total = np.where(among, values, 0.0).sum(axis=1, keepdims=True)
    count = np.maximum(among.sum(axis=1, keepdims=True), 1)
    return np.asarray(np.where(among, values - total / count, 0.0))


def _means(ratings: Array, is_rated: Mask) -> Array:
    """The mean rating of each candidate, 0 where there is none, (P, K)."""
    total = np.where(is_rated, ratings, 0.0).sum(axis=-1)
    return np.asarray(total / np.maximum(is_rated.sum(axis=-1), 1))
