"""Asking the raters of one prompt by what their next rating is worth."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.decide.evidence.asking import DEFAULT_PRICE, WaveLimits, next_wave
from darc.decide.evidence.posterior import Posterior, RatingNoise, posterior
from darc.typing import Array, Integers

#: A candidate and a rater of it.
Pair = tuple[int, int]

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

    Every candidate is rated by the first rater of the prompt's order; a candidate's next rating
    comes from the next rater in the order. So candidates that compete have raters in common, and
    nobody rates a candidate twice.
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

        All of them must be told before the next wave.

        Args:
            most: The largest number of ratings; an eighth of the candidates by default.
        """
        candidates = self._next_candidates(most)
        pairs = []
        for candidate in candidates:
            pairs.append((candidate, self._order[self._asked[candidate]]))
            self._asked[candidate] += 1
        return pairs

    def tell(self, pairs: Sequence[Pair], ratings: Sequence[float]) -> None:
        """Record ratings; NaN where a rater gave none.

        Args:
            pairs: The ratings that were asked for.
            ratings: Their values.
        """
        for pair, rating in zip(pairs, ratings, strict=True):
            self.ratings[pair] = rating

    def _next_candidates(self, most: int | None) -> list[int]:
        room = len(self._order) - self._asked
        unrated = np.isnan(self.ratings).all(axis=1) & (room > 0)
        if unrated.any():
            return [int(candidate) for candidate in np.flatnonzero(unrated)]
        belief = self.belief
        size = most or max(1, len(self._asked) // WAVE_SHARE)
        limits = WaveLimits(size, room[None], price=self._model.price)
        wave = next_wave(belief, self._model.noise.rating, limits)
        return [int(candidate) for candidate in wave[:, 1]]
