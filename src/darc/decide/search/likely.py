"""A lazy search that stops when the choice is very probably final, and says how probable."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from darc.decide.decision import Decision
from darc.decide.model.calibration import calibrations
from darc.decide.pools import Pools
from darc.decide.rule import Rule
from darc.decide.search import plans
from darc.decide.search.lazy import LazySearch, Pair
from darc.decide.search.plans import NEVER
from darc.typing import Array, Integers, Mask

# How many completions of the ratings are drawn, and the share of them that the choice must win.
DRAWS = 100
ENOUGH = 0.99
# Ratings of each candidate that are asked for before anything is guessed.
FIRST_RATINGS = 2
# An unseen rating repeats one of m others with probability m / (m + this).
NEW_RATINGS = 3
# Where no two ratings of a candidate differ yet, they may by this share of the scale.
LEAST_DEVIATION = 0.05
# So that a candidate which wins no draw is asked for only after those that do.
SMALL_SHARE = 1e-3


def can_be_likely(rule: Rule, sample: str) -> bool:
    """Whether there is a likely search for a rule and what its samples are."""
    return rule.plan is plans.auto and sample != "rewrite"


class LikelySearch(LazySearch):
    """A `LazySearch` of the rule `auto` on ratings that may stop before the choice is certain.

    It draws what the unseen ratings may be, given those that are seen, and lets the rule choose in
    each draw. It asks for ratings of the candidates that win draws, and stops when one of them wins
    99 % of all; the decision is then flagged `likely:0.99`. The same answers give the same choice.
    With several scorers it is the exact search.
    """

    # The share of draws that each candidate wins, (K,); None where they are to be drawn anew.
    _win_shares: Array | None = None

    @property
    def done(self) -> bool:
        """Whether the choice is certain, or likely enough to be final."""
        return super().done or self._is_likely()

    def tell(self, pairs: Sequence[Pair], values: ArrayLike) -> None:
        """Record the scores of pairs that were asked for; NaN where there is no such sample."""
        super().tell(pairs, values)
        self._win_shares = None

    def decision(self) -> Decision:
        """The rule's choice, flagged with its probability unless it is certain."""
        if super().done or not self._is_likely():
            return super().decision()
        shares = self._shares()
        winner = int(shares.argmax())
        decision = self._decide_on_seen()
        probability = min(float(shares[winner]), ENOUGH)
        flags = [flag for flag in decision.flags if flag != "shrunk" or self._has_gaps()]
        return replace(
            decision,
            index=winner,
            flags=(*flags, f"likely:{probability:g}"),
            bounded=self._incomplete_others(winner),
        )

    def _next_pairs(self, batch: int) -> list[Pair]:
        """The pairs to score next, at most `batch`, without those that are waited for."""
        if not self._can_draw:
            return super()._next_pairs(batch)
        first = self._first_pairs()
        if first:
            return first[:batch]
        if not self._all_begun() or self.done:
            return []
        shares = self._shares()
        exact = self._priority()
        waiting = [self._waiting(candidate) for candidate in range(len(self._rows))]
        pairs: list[Pair] = []
        while len(pairs) < batch:
            useful = [
                candidate
                for candidate, samples in enumerate(waiting)
                if samples and exact[candidate] > NEVER
            ]
            winning = [candidate for candidate in useful if shares[candidate] > 0]
            if not winning and not pairs:
                winning = useful
            if not winning:
                break
            # Uncertainty grows with the number of unseen ratings, and with the share of wins.
            urgency = [
                len(waiting[candidate]) * np.sqrt(shares[candidate] + SMALL_SHARE)
                for candidate in winning
            ]
            candidate = winning[int(np.argmax(urgency))]
            pairs.append((candidate, waiting[candidate].pop(0)))
        return pairs

    def _first_pairs(self) -> list[Pair]:
        """The first ratings of each candidate that were not asked for yet."""
        needed = min(FIRST_RATINGS, self._frame.n_samples)
        return [
            (candidate, sample)
            for sample in range(needed)
            for candidate in range(len(self._rows))
            if sample in self._waiting(candidate)
        ]

    def _all_begun(self) -> bool:
        """Whether the first ratings of each candidate are answered."""
        needed = min(FIRST_RATINGS, self._frame.n_samples)
        return all(None not in row.cells[:needed] for row in self._rows)

    def _waiting(self, candidate: int) -> list[int]:
        """The samples of a candidate that were not asked for yet."""
        pending = self._asked.get(candidate, ())
        cells = self._rows[candidate].cells
        return [i for i, cell in enumerate(cells) if cell is None and i not in pending]

    @property
    def _can_draw(self) -> bool:
        """Whether there is one scorer, whose ratings can be drawn."""
        return len(self._low) == 1

    def _has_gaps(self) -> bool:
        """Whether an answer said that there is no such rating."""
        return any(row.total < self._frame.n_samples for row in self._rows)

    def _is_likely(self) -> bool:
        if not self._can_draw or not self._all_begun() or not any(row.seen for row in self._rows):
            return False
        return bool(self._shares().max() >= ENOUGH)

    def _shares(self) -> Array:
        """The share of draws that each candidate wins, (K,)."""
        if self._win_shares is None:
            ratings = np.where(self._unseen(), np.nan, self._samples()[0])
            self._win_shares = self._completions.win_shares(ratings, self._unseen())
        return self._win_shares

    @cached_property
    def _completions(self) -> "Completions":
        pools = self._pools(self._samples())
        return Completions(self._rule.fitted(pools), pools, self._low[0], self._high[0])


class Completions:
    """Draws of what the unseen ratings of one prompt may be, and the rule's choice in each.

    The random numbers are fixed when it is made, so that the same ratings give the same draws, in
    whatever order they came.
    """

    def __init__(self, rule: Rule, pools: Pools, low: float, high: float) -> None:
        _, _, candidates, size = pools.shape
        (calibration,) = calibrations(rule.parameters["calibration"], 1)
        self._rule = rule
        self._pools = pools
        self._low = low
        self._high = high
        _, self._shrinkage = calibration.by_count(size)
        generator = np.random.default_rng(0)
        self._mean_errors = generator.normal(size=(DRAWS, candidates, 1))
        self._errors = generator.normal(size=(DRAWS, candidates, size))
        # The earlier rating that a rating repeats; a place that is not earlier means none.
        places = np.arange(size) + NEW_RATINGS
        self._repeated = (generator.random((DRAWS, candidates, size)) * places).astype(np.int64)

    def win_shares(self, ratings: Array, unseen: Mask) -> Array:
        """The share of draws that each candidate wins, (K,).

        Args:
            ratings: (K, n), NaN where a rating is unseen or missing.
            unseen: Which ratings are to be drawn, (K, n).
        """
        samples = self.draw(ratings, unseen)
        choice = self._rule.choose(replace(self._pools, samples=samples[:, None]))
        wins = np.bincount(choice.index, minlength=len(ratings))
        return np.asarray(wins / DRAWS)

    def draw(self, ratings: Array, unseen: Mask) -> Array:
        """Completed ratings, (draws, K, n): those that are seen come first, missing ones last.

        Each unseen rating repeats one of the candidate's ratings so far, drawn ones too, or else is
        normal around the candidate's mean, which is itself drawn around its shrunken estimate.
        """
        seen = np.sort(ratings, axis=-1)
        count = (~np.isnan(seen)).sum(axis=-1)
        total = count + unseen.sum(axis=-1)
        new = self._new_ratings(seen, count)
        completed = np.tile(seen, (DRAWS, 1, 1))
        for place in range(int(count.min()), int(total.max())):
            earlier = self._repeated[..., place]
            repeated = np.take_along_axis(completed, np.minimum(earlier, place)[..., None], axis=-1)
            value = np.where(earlier < place, repeated[..., 0], new[..., place])
            missing = (count <= place) & (place < total)
            completed[..., place] = np.where(missing, value, completed[..., place])
        return completed

    def _new_ratings(self, seen: Array, count: Integers) -> Array:
        """Ratings that repeat none, (draws, K, n)."""
        rated = count > 0
        mean = np.nansum(seen, axis=-1) / np.maximum(count, 1)
        level = mean[rated].mean()
        shrinkage = self._shrinkage[count]
        centre = level + shrinkage * (mean - level)
        squares = np.nansum((seen - mean[:, None]) ** 2)
        variance = float(squares) / max(int(np.maximum(count - 1, 0).sum()), 1)
        if variance == 0:
            variance = (LEAST_DEVIATION * (self._high - self._low)) ** 2
        # Means vary between candidates by what makes this shrinkage right for one rating.
        once = min(float(self._shrinkage[1]), 1 - SMALL_SHARE)
        between = variance * once / (1 - once)
        means = centre[:, None] + np.sqrt(between * (1 - shrinkage))[:, None] * self._mean_errors
        new = means + np.sqrt(variance) * self._errors
        seen_ratings = seen[~np.isnan(seen)]
        if (seen_ratings == np.round(seen_ratings)).all():
            # Whole grades make ties, which draws of any number would not.
            new = np.round(new)
        return np.asarray(np.clip(new, self._low, self._high))
