"""Whether the answers to one prompt divide people differently, judged by their own ratings.

A pool holds the candidates of one prompt. Before its ratings are seen it is of one of two kinds:
in an *alike* pool all candidates have nearly the same standard deviation sigma over people, so
that differences between the sample deviations are mostly noise; in a *different* pool some
candidates divide people much more than others. Bayes' rule on a small grid tells how probable each
kind is after the ratings, and how large each sigma is.

Ratings are (P, K, n): P prompts, K candidates, up to n ratings, NaN where there is none. Everything
is measured in units of the pool's own pooled deviation, so shifting or scaling the ratings changes
nothing.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from darc.typing import Array, Integers, Mask

# Grid of log sigma of a candidate, in units of the pool's pooled deviation.
LOG_SIGMA = np.linspace(math.log(0.1), math.log(4.0), 33)
# Grid of the typical log sigma of a pool's candidates; all levels are equally likely beforehand.
LOG_LEVEL = np.linspace(math.log(0.3), math.log(1.6), 13)
SIGMA = np.exp(LOG_SIGMA)
INVERSE_VARIANCE = np.exp(-2 * LOG_SIGMA)
# Spread of log sigma among the candidates of a different pool.
SPREAD_DIFFERENT = 0.60
# Variance that a scale of whole points hides, as a share of the pooled variance.
ROUNDING_SHARE = 0.04
# A squared deviation counts at most this many times the mean of the others. One of five people who
# disagrees reaches exactly 16 and counts in full, one of twenty hardly counts.
MAX_DEVIATION_RATIO = 16.0
# From this many ratings on, one candidate can rule out another.
MIN_RATINGS_TO_RULE_OUT = 4
# More degrees of freedom than this are finer than the grid.
MAX_DEGREES_OF_FREEDOM = 100.0
# Gains that exceed the allowed losses by less than this share are a tie.
TIE_SHARE = 1e-9


@dataclass(frozen=True)
class SpreadPrior:
    """What is assumed about the sigmas of a pool before its ratings are seen.

    Attributes:
        spread_alike: Spread of log sigma among the candidates of an alike pool.
        share_different: How often pools are different.
        sigma_df_factor: Degrees of freedom that one of a sample deviation is worth; 1 for Gaussian
            ratings, less for ratings with heavier tails.
    """

    spread_alike: float = 0.10
    share_different: float = 0.14
    sigma_df_factor: float = 0.85


DEFAULT_PRIOR = SpreadPrior()


@dataclass(frozen=True, eq=False)
class RatingSummary:
    """Counts, means and spreads of ratings, all (P, K).

    Attributes:
        count: Number of ratings.
        mean: Mean rating, 0 where there is none.
        squares: Sum of squared deviations from the mean, with a lone far rating held back.
    """

    count: Integers
    mean: Array
    squares: Array

    @property
    def deviation(self) -> Array:
        """The standard deviation (ddof 1) without its bias at small n; 0 below two ratings."""
        variance = self.squares / np.maximum(self.count - 1, 1)
        unbiased = (4 * self.count - 3) / np.maximum(4 * self.count - 4, 1)
        return np.asarray(np.sqrt(variance) * np.where(self.count > 1, unbiased, 1.0))

    def only(self, candidates: Mask) -> "RatingSummary":
        """The summary with every other candidate treated as not rated."""
        return RatingSummary(
            count=np.where(candidates, self.count, 0),
            mean=self.mean,
            squares=np.where(candidates, self.squares, 0.0),
        )


def summarize(ratings: Array) -> RatingSummary:
    """Summarize ratings (P, K, n)."""
    rated = ~np.isnan(ratings)
    count = rated.sum(axis=-1)
    mean = np.where(rated, ratings, 0.0).sum(axis=-1) / np.maximum(count, 1)
    squares = np.where(rated, ratings - mean[..., None], 0.0) ** 2
    total = squares.sum(axis=-1)
    mean_of_others = (total[..., None] - squares) / np.maximum(count - 1, 1)[..., None]
    limited = np.minimum(squares, MAX_DEVIATION_RATIO * mean_of_others).sum(axis=-1)
    return RatingSummary(count, mean, np.where(count > 2, limited, total))


@dataclass(frozen=True, eq=False)
class SpreadPosterior:
    """What the ratings of P pools say about the sigmas of their candidates.

    Attributes:
        probability_different: Probability that the pool is different, (P,).
        sigma: Expected sigma of each candidate, (P, K).
        sigma_if_different: The part of that expectation that comes from the pool being different,
            E[sigma; different], (P, K).
        evidence: Likelihood of the ratings if the pool is alike and if it is different, (P, 2), up
            to a common factor.
    """

    probability_different: Array
    sigma: Array
    sigma_if_different: Array
    evidence: Array


def spread_posterior(summary: RatingSummary, prior: SpreadPrior = DEFAULT_PRIOR) -> SpreadPosterior:
    """The posterior of the sigmas of P pools; candidates without ratings say nothing.

    Args:
        summary: Counts and squared deviations of the ratings, (P, K).
        prior: What is assumed before the ratings are seen.
    """
    # Candidates without ratings are left out, which in most pools are those that are ruled out.
    rated = summary.count > 0
    prompt = np.nonzero(rated)[0]
    count = summary.count[rated]
    squares = summary.squares[rated]
    free = count - 1
    prompts = len(rated)
    total_free = np.maximum(summary.count - 1, 0).sum(axis=-1)
    pooled = summary.squares.sum(axis=-1) / np.maximum(total_free, 1)
    unit = np.where(pooled > 0, pooled, 1.0)
    ratio = squares / np.maximum(free, 1) / unit[prompt]
    ratio = (ratio + ROUNDING_SHARE) / (1 + ROUNDING_SHARE)
    # Small samples show the shape of the ratings least, hence the factor (n - 1)/n.
    degrees = prior.sigma_df_factor * free * free / count
    degrees = np.minimum(degrees, MAX_DEGREES_OF_FREEDOM)

    # Likelihood of each candidate's variance at each sigma of the grid, (candidates, sigmas).
    misfit = ratio[:, None] * INVERSE_VARIANCE + 2 * LOG_SIGMA
    log_likelihood = -0.5 * degrees[:, None] * misfit
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=-1, keepdims=True))

    # The same averaged over sigma, for each level and kind, (candidates, levels x kinds).
    weights = _grid_weights(prior.spread_alike)
    marginal = likelihood @ weights
    sigma = (likelihood * SIGMA) @ weights / marginal

    log_joint = _sum_by_prompt(np.log(marginal), prompt, prompts)
    joint = np.exp(log_joint - log_joint.max(axis=-1, keepdims=True))
    evidence = joint.reshape(prompts, -1, 2).sum(axis=1)
    kinds = np.array([1 - prior.share_different, prior.share_different])
    joint = joint * np.tile(kinds, len(LOG_LEVEL))
    joint = joint / joint.sum(axis=-1, keepdims=True)
    by_kind = np.zeros((*rated.shape, 2))
    by_kind[rated] = (sigma * joint[prompt]).reshape(len(prompt), -1, 2).sum(axis=1)
    by_kind *= np.sqrt(pooled)[:, None, None]
    return SpreadPosterior(
        probability_different=joint.reshape(prompts, -1, 2).sum(axis=1)[:, 1],
        sigma=by_kind.sum(axis=-1),
        sigma_if_different=by_kind[..., 1],
        evidence=evidence,
    )


def _sum_by_prompt(rows: Array, prompt: Integers, prompts: int) -> Array:
    """Sums (prompts, columns) of rows (N, columns) whose prompts (N,) are in rising order."""
    result = np.zeros((prompts, rows.shape[1]))
    if len(rows):
        present, starts = np.unique(prompt, return_index=True)
        result[present] = np.add.reduceat(rows, starts, axis=0)
    return result


@lru_cache(maxsize=64)
def _grid_weights(spread_alike: float) -> Array:
    """Prior weights of log sigma for each level and kind, (sigmas, levels x kinds)."""
    spreads = np.array([spread_alike, SPREAD_DIFFERENT])
    distance = (LOG_SIGMA[:, None, None] - LOG_LEVEL[:, None]) / spreads
    weights = np.exp(-0.5 * distance**2)
    return np.asarray((weights / weights.sum(axis=0)).reshape(len(LOG_SIGMA), -1))


def ruled_out(ratings: Array, count: Integers, means: Array, caution: float) -> Mask:
    """Which candidates another one betters nearly everywhere, (P, K).

    A candidate is ruled out if another one has a larger (shrunken) mean and, with the ratings of
    both sorted and compared rank by rank, gains more than (1 + caution)^2 times what it loses. Both
    must have at least four ratings, and the other one at least half as many.

    Args:
        ratings: (P, K, n), NaN where there is no rating.
        count: Number of ratings, (P, K); 0 leaves a candidate out.
        means: Shrunken means, (P, K).
        caution: How much risk costs.
    """
    ranks = _rank_values(ratings, count)
    loss_factor = (1 + caution) ** 2
    eligible = count >= MIN_RATINGS_TO_RULE_OUT
    if bool((np.where(eligible, count, 0).max(1, keepdims=True) == count)[eligible].all()):
        return _ruled_out_in_turn(ranks, eligible, means, loss_factor)
    remaining = eligible.copy()
    # The largest means rule out most of the others, which are then compared no further.
    highest = np.where(eligible, means, -np.inf).max(axis=0)
    for other in np.argsort(-highest, kind="stable").tolist():
        left = np.flatnonzero(remaining.any(axis=0))
        enough = eligible[:, other, None] & (2 * count[:, other, None] >= count[:, left])
        better = remaining[:, left] & enough & (means[:, other, None] > means[:, left])
        if better.any():
            gains = _gains_enough(ranks[:, other, None], ranks[:, left], loss_factor)
            remaining[:, left] &= ~(better & gains)
    return eligible & ~remaining


def _ruled_out_in_turn(ranks: Array, eligible: Mask, means: Array, loss_factor: float) -> Mask:
    """The same for candidates with equally many ratings, where the relation is transitive.

    What a candidate that is ruled out could rule out, the one that ruled it out does as well. So it
    is enough to go through the survivors from the largest mean down.
    """
    result = np.zeros(eligible.shape, dtype=bool)
    waiting = eligible.copy()
    rows = np.flatnonzero(waiting.any(axis=1))
    while len(rows):
        best = np.where(waiting[rows], means[rows], -np.inf).argmax(axis=1)
        waiting[rows, best] = False
        leader = ranks[rows, best][:, None]
        below = waiting[rows] & (means[rows] < means[rows, best][:, None])
        beaten = below & _gains_enough(leader, ranks[rows], loss_factor)
        result[rows] |= beaten
        waiting[rows] &= ~beaten
        rows = rows[waiting[rows].any(axis=1)]
    return result


def _gains_enough(leader: Array, others: Array, loss_factor: float) -> Mask:
    """Whether the leader gains more on each of the others than its losses may cost, (P, K)."""
    gaps = leader - others
    gains = np.maximum(gaps, 0.0).sum(axis=-1)
    losses = np.maximum(-gaps, 0.0).sum(axis=-1)
    return np.asarray(gains * (1 - TIE_SHARE) > loss_factor * losses)


def _rank_values(ratings: Array, count: Integers) -> Array:
    """Sorted ratings (P, K, n), each candidate's at as many ranks as the best rated one has."""
    ranks = np.sort(ratings, axis=-1)
    width = ratings.shape[-1]
    if not (count < width).any():
        return ranks
    places = np.arange(width)
    most = np.maximum(count.max(axis=1), 1)[:, None, None]
    position = ((places + 0.5) / most * count[..., None]).astype(np.int64)
    position = np.minimum(position, np.maximum(count - 1, 0)[..., None])
    values = np.take_along_axis(ranks, position, axis=-1)
    return np.where((places < most) & (count > 0)[..., None], values, 0.0)
