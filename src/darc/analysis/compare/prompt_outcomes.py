"""Systems by their ratings on each prompt: tradeoff, CVaR over prompts, and who wins how often."""

from dataclasses import dataclass

import numpy as np

from darc.analysis.bootstrap import average, draw_counts, estimate, interval, resample, tail
from darc.ratings.splitting import NOBODY
from darc.typing import Array, Integers, Mask

#: The share of the prompts that the CVaR over prompts is of.
TAIL = 0.1
# Means that differ by less, relative to their size, are equal.
_ROUNDING = 1e-9
_UNKNOWN = (float("nan"), float("nan"))


@dataclass(frozen=True, eq=False)
class PromptRatings:
    """The ratings of systems as they were given, all arrays (N,)."""

    #: The places of the prompt, of the system and of the rater, -1 for nobody in particular.
    prompt: Integers
    system: Integers
    rater: Integers
    #: A number for the candidate, unique over all prompts.
    candidate: Integers
    value: Array
    #: How many prompts and systems there are.
    prompts: int
    systems: int


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval over prompts."""

    value: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class SystemOutcomes:
    """What a system is worth over prompts."""

    #: The mean over prompts of the mean rating less lambda times its standard deviation.
    tradeoff: Estimate
    #: The average of the lowest tenth of the prompts' means.
    cvar: Estimate


@dataclass(frozen=True)
class PairOutcomes:
    """How often one system is ahead of another, and by how much over prompts."""

    first: str
    second: str
    #: Whether a comparison is one person's on one prompt; else it is of the means of one prompt.
    by_person: bool
    comparisons: int
    #: The shares of comparisons that the first system wins, ties and loses.
    wins: float
    ties: float
    losses: float
    #: The share of wins, with ties counted half.
    win_rate: Estimate
    #: The changes from the second system to the first, on the prompts that both have.
    tradeoff: Estimate
    cvar: Estimate


class PromptOutcomes:
    """The mean and the standard deviation of each prompt and system.

    Args:
        ratings: The ratings.
        lam: How much mean a unit of standard deviation is worth.
        draws: How many resamples of the prompts intervals are from.
        seed: The seed of the resamples.
    """

    def __init__(self, ratings: PromptRatings, lam: float, draws: int, seed: int) -> None:
        self._ratings = ratings
        self._counts = draw_counts(ratings.prompts, draws, seed)
        place = ratings.prompt * ratings.systems + ratings.system
        #: The mean rating, (P, S), NaN without ratings.
        self.mean: Array = _grouped_mean(place, ratings.value, self._shape)
        #: The standard deviation within a candidate, (P, S), NaN without two ratings of one.
        self.sigma: Array = self._sigmas(place)
        #: The mean less lambda times the standard deviation, (P, S).
        self.tradeoff: Array = self.mean - lam * self.sigma

    @property
    def _shape(self) -> tuple[int, int]:
        return self._ratings.prompts, self._ratings.systems

    def _sigmas(self, place: Integers) -> Array:
        value = self._ratings.value
        _, candidate = np.unique(self._ratings.candidate, return_inverse=True)
        sizes = np.bincount(candidate)
        residual = value - (np.bincount(candidate, value) / np.maximum(sizes, 1))[candidate]
        cells = self._shape[0] * self._shape[1]
        squares = np.bincount(place, residual**2, cells)
        # A candidate with n ratings has n - 1 degrees of freedom, 1 - 1/n for each of them.
        freedom = np.bincount(place, 1 - 1 / sizes[candidate], cells)
        known = freedom > 0.5
        sigma = np.sqrt(squares / np.where(known, freedom, 1.0))
        return np.where(known, sigma, np.nan).reshape(self._shape)

    def of_system(self, system: int) -> SystemOutcomes:
        """What the system at a place is worth.

        Args:
            system: The place of the system.

        Returns:
            Its tradeoff and its CVaR over prompts, NaN where they are unknown.
        """
        return SystemOutcomes(
            tradeoff=self._average(self.tradeoff[:, system]),
            cvar=self._tail(self.mean[:, [system]], np.array([1.0])),
        )

    def of_pair(self, first: int, second: int, names: tuple[str, str]) -> PairOutcomes:
        """Compare two systems.

        Args:
            first: The place of one system.
            second: The place of the other.
            names: Their names.

        Returns:
            Shares of wins, ties and losses of the first, and the changes against the second.
        """
        lead, prompt, by_person = self._leads(first, second)
        wins = (lead > 0).astype(np.float64)
        ties = (lead == 0).astype(np.float64)
        count = len(lead)
        both = self.mean[:, [first, second]]
        both = np.where(np.isnan(both).any(axis=1, keepdims=True), np.nan, both)
        return PairOutcomes(
            first=names[0],
            second=names[1],
            by_person=by_person,
            comparisons=count,
            wins=float(wins.mean()) if count else float("nan"),
            ties=float(ties.mean()) if count else float("nan"),
            losses=float((lead < 0).mean()) if count else float("nan"),
            win_rate=self._rate(wins + ties / 2, prompt),
            tradeoff=self._average(self.tradeoff[:, first] - self.tradeoff[:, second]),
            cvar=self._tail(both, np.array([1.0, -1.0])),
        )

    def tie_shares(self) -> Array:
        """The share of prompts on which two systems have the same mean, (S, S), NaN for one."""
        systems = self._ratings.systems
        shares = np.full((systems, systems), np.nan)
        for first in range(systems):
            for second in range(systems):
                left = self.mean[:, first]
                right = self.mean[:, second]
                known = ~np.isnan(left) & ~np.isnan(right)
                if first != second and known.any():
                    shares[first, second] = np.mean(_leads(left[known], right[known]) == 0)
        return shares

    def _leads(self, first: int, second: int) -> tuple[Array, Integers, bool]:
        """1, 0 or -1 for each comparison, its prompt, and whether persons compare."""
        ratings = self._ratings
        raters = int(ratings.rater.max(initial=0)) + 1
        first_keys, first_means = self._personal_means(first, raters)
        second_keys, second_means = self._personal_means(second, raters)
        keys, left, right = np.intersect1d(
            first_keys, second_keys, assume_unique=True, return_indices=True
        )
        if keys.size:
            return _leads(first_means[left], second_means[right]), keys // raters, True
        both = ~np.isnan(self.mean[:, first]) & ~np.isnan(self.mean[:, second])
        return _leads(self.mean[both, first], self.mean[both, second]), np.flatnonzero(both), False

    def _personal_means(self, system: int, raters: int) -> tuple[Integers, Array]:
        """The mean that each person gave a system on a prompt, by prompt * raters + rater."""
        ratings = self._ratings
        chosen = (ratings.rater != NOBODY) & (ratings.system == system)
        keys, place = np.unique(
            ratings.prompt[chosen] * raters + ratings.rater[chosen], return_inverse=True
        )
        totals = np.bincount(place, ratings.value[chosen], len(keys))
        return keys, totals / np.bincount(place, minlength=len(keys))

    def _rate(self, values: Array, prompt: Integers) -> Estimate:
        """The mean of values that belong to prompts, with an interval over prompts."""
        if not len(values):
            return Estimate(float("nan"), _UNKNOWN)
        prompts = self._ratings.prompts
        totals = np.bincount(prompt, values, prompts)
        sizes = np.bincount(prompt, minlength=prompts).astype(np.float64)

        def rate(weights: Array) -> Array:
            with np.errstate(invalid="ignore", divide="ignore"):
                return np.asarray((weights @ totals) / (weights @ sizes))

        low, high = interval(resample(rate, self._counts)).tolist()
        return Estimate(float(values.mean()), (low, high))

    def _average(self, values: Array) -> Estimate:
        """The mean of values (P,) over the prompts that have one."""
        among = _all_prompts(values)
        observed, ends = estimate(
            lambda counts: average(values[None, None], among, counts), self._counts
        )
        return Estimate(float(observed[0]), (float(ends[0, 0]), float(ends[1, 0])))

    def _tail(self, values: Array, signs: Array) -> Estimate:
        """A signed sum over columns (P, C) of the averages of their lowest tenths."""
        among = _all_prompts(values)
        columns = values.T[None]
        observed, ends = estimate(
            lambda counts: (tail(columns, among, counts, TAIL) @ signs)[..., None], self._counts
        )
        return Estimate(float(observed[0]), (float(ends[0, 0]), float(ends[1, 0])))


def _all_prompts(values: Array) -> Mask:
    return np.ones((1, len(values)), dtype=bool)


def _grouped_mean(place: Integers, values: Array, shape: tuple[int, int]) -> Array:
    """The means of values by their places, NaN where there are none."""
    cells = shape[0] * shape[1]
    counts = np.bincount(place, minlength=cells)
    totals = np.bincount(place, values, cells)
    return np.where(counts > 0, totals / np.maximum(counts, 1), np.nan).reshape(shape)


def _leads(left: Array, right: Array) -> Array:
    """1, 0 or -1 where the left value is larger, equal up to rounding, or smaller."""
    size = np.maximum(np.abs(left), np.abs(right))
    difference = left - right
    return np.where(np.abs(difference) <= _ROUNDING * size, 0.0, np.sign(difference))
