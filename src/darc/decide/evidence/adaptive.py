"""Asking the raters of one prompt by what their ratings are worth."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.decide.evidence.asking import DEFAULT_PRICE, DEPTHS, WaveLimits, next_wave
from darc.decide.evidence.posterior import Posterior, RatingNoise, posterior
from darc.typing import Array, Integers

#: A candidate and a rater of it.
Pair = tuple[int, int]

# The choice has at least so many ratings: one alone may be far off where noise has heavy tails.
LEADER_RATINGS = 2
# Raters who rate all candidates in one call are asked so many at a time.
RATERS_AT_ONCE = 2
_DRAWS = 1000
# A wave asks for this share of the candidates.
WAVE_SHARE = 8


@dataclass(frozen=True, eq=False)
class AskingModel:
    """What is known of the raters from other prompts, and what a rating may cost."""

    #: How far ratings and candidates vary, in squared units of the ratings.
    noise: RatingNoise
    #: How far above the others each rater rates, (n,).
    severity: Array
    #: What one rating must improve the choice by, in standard deviations of one rating.
    price: float = DEFAULT_PRICE


class AdaptiveAsking:
    """Asks for ratings of one prompt's K candidates until none is worth its price.

    Every candidate is rated by the first rater of the prompt's order, and the one that is chosen by
    the second as well; a candidate's next rating comes from the next rater in the order. So
    candidates that compete have raters in common, and nobody rates a candidate twice.
    """

    def __init__(self, n_candidates: int, order: Sequence[int], model: AskingModel) -> None:
        """Begin with no ratings.

        Args:
            n_candidates: The number of candidates.
            order: The places of the raters, in the order in which they are asked.
            model: What is known of the raters.
        """
        self._model = model
        self._order = list(order)
        #: The ratings so far, (K, n), NaN where there is none.
        self.ratings: Array = np.full((n_candidates, len(self._order)), np.nan)
        # How many raters were asked about each candidate, including those who did not answer.
        self._asked: Integers = np.zeros(n_candidates, dtype=np.int64)

    @property
    def belief(self) -> Posterior:
        """What is believed of the candidates' true means, (1, K) each."""
        ratings = self.ratings - self._model.severity
        return posterior(ratings[None], self._model.noise)

    @property
    def calls(self) -> int:
        """How many ratings were asked for."""
        return int(self._asked.sum())

    def ask(self, most: int | None = None) -> list[Pair]:
        """The ratings to ask for next; none when no further rating is worth its price.

        They must be answered before the next wave.

        Args:
            most: The largest number of ratings; an eighth of the candidates by default.
        """
        candidates = self._next_candidates(most)
        pairs = []
        for candidate in candidates:
            pairs.append((candidate, self._order[self._asked[candidate]]))
            self._asked[candidate] += 1
        return pairs

    def tell(self, ratings: Array) -> None:
        """Record what was answered.

        Args:
            ratings: The ratings so far, (K, n), NaN where there is none.
        """
        self.ratings = ratings

    def _next_candidates(self, most: int | None) -> list[int]:
        room = len(self._order) - self._asked
        unrated = np.isnan(self.ratings).all(axis=1) & (room > 0)
        if unrated.any():
            return [int(candidate) for candidate in np.flatnonzero(unrated)]
        belief = self.belief
        size = most or max(1, len(self._asked) // WAVE_SHARE)
        limits = WaveLimits(size, room[None], price=self._model.price)
        wave = next_wave(belief, self._model.noise.rating, limits)
        if len(wave):
            return [int(candidate) for candidate in wave[:, 1]]
        leader = int(belief.mean[0].argmax())
        is_single = np.isfinite(self.ratings[leader]).sum() < LEADER_RATINGS
        if is_single and room[leader] > 0:
            return [leader]
        return []


class ListAsking:
    """Asks raters, each of whom rates all K candidates of a prompt in one call, two at a time.

    It stops when no further rater is worth the price of a call.
    """

    def __init__(self, n_candidates: int, order: Sequence[int], model: AskingModel) -> None:
        """Begin with no ratings.

        Args:
            n_candidates: The number of candidates.
            order: The places of the raters, in the order in which they are asked.
            model: What is known of the raters.
        """
        self._n_candidates = n_candidates
        self._model = model
        self._waiting = list(order)
        self.ratings: Array = np.full((n_candidates, len(order)), np.nan)

    def ask(self) -> list[Pair]:
        """The ratings to ask for next: those of two raters; none when they are not worth it."""
        is_first = len(self._waiting) == self.ratings.shape[1]
        if not is_first and np.isfinite(self.ratings).any():
            belief = posterior(self.ratings[None], self._model.noise)
            value = rater_value(belief, self._model.noise.rating, len(self._waiting))
            if value < self._model.price * math.sqrt(self._model.noise.rating):
                return []
        raters = self._waiting[:RATERS_AT_ONCE]
        self._waiting = self._waiting[RATERS_AT_ONCE:]
        return [(candidate, rater) for rater in raters for candidate in range(self._n_candidates)]

    def tell(self, ratings: Array) -> None:
        """Record what was answered.

        Args:
            ratings: The ratings so far, (K, n), NaN where there is none.
        """
        self.ratings = ratings


def rater_value(belief: Posterior, rating_noise: float, room: int) -> float:
    """What one further rater, who rates every candidate, is expected to improve the choice by.

    Args:
        belief: What is believed of the true means, (1, K) each.
        rating_noise: The variance of one rating around its candidate's true mean.
        room: How many more raters there are.

    Returns:
        The expected improvement per rater, at the best of several numbers of further raters, in
        units of the ratings.
    """
    mean = belief.mean[0]
    variance = belief.variance[0]
    half = np.random.default_rng(0).normal(size=(_DRAWS, len(mean)))
    errors = np.concatenate([half, -half])
    leader = int(mean.argmax())
    best = 0.0
    for depth in DEPTHS:
        if depth <= room:
            shift = np.sqrt(variance**2 * depth / (variance * depth + rating_noise))
            later = mean + shift * errors
            gain = later.max(axis=1) - later[:, leader]
            best = max(best, float(gain.mean()) / depth)
    return best


def probability_final(
    ratings: Array, belief: Posterior, noise: RatingNoise, room: Integers, choice: int
) -> float:
    """The probability that the choice has the highest mean with all ratings, by draws.

    Args:
        ratings: The ratings so far, (K, n), NaN where there is none.
        belief: What is believed of the true means, (1, K) each.
        noise: How far ratings and candidates vary.
        room: How many more ratings each candidate would get, (K,).
        choice: The chosen candidate.
    """
    random = np.random.default_rng(0)
    shape = (_DRAWS, len(ratings))
    true_means = belief.mean[0] + np.sqrt(belief.variance[0]) * random.normal(size=shape)
    errors = np.sqrt(noise.rating / np.maximum(room, 1)) * random.normal(size=shape)
    count = (~np.isnan(ratings)).sum(axis=1)
    total = np.nansum(ratings, axis=1) + room * (true_means + errors)
    final = total / np.maximum(count + room, 1)
    return float((final.argmax(axis=1) == choice).mean())
