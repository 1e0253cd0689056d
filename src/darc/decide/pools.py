"""The candidate pools of some prompts, as every rule sees them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from darc.decide.ids import Ids
from darc.decide.standards import NO_STANDARDS, Standards
from darc.decide.statistics import risk
from darc.decide.statistics.arrays import check_level
from darc.decide.statistics.draws import Seeds
from darc.decide.statistics.kernel import ROUNDING, Normalization
from darc.decide.statistics.summary import batched, cut
from darc.errors import InputError
from darc.types import Statistics
from darc.typing import Array, Integers, Mask


def over_scorers(values: Array) -> Array:
    """The mean over scorers of values (P, M, ...), as far as they are known, (P, ...)."""
    times = (~np.isnan(values)).sum(axis=1)
    return np.where(times > 0, np.nansum(values, axis=1) / np.maximum(times, 1), np.nan)


@dataclass(frozen=True, eq=False)
class Settled:
    """What a lazy search has settled, (P, K): the statistics, who may win, who is ruled out."""

    statistics: Statistics
    eligible: Mask
    dropped: Mask


@dataclass(frozen=True, eq=False)
class Pools:
    """P prompts with K candidates, M scorers and up to n samples each; NaN marks what is missing.

    A candidate without any sample is absent (shorter pools are padded so). A present candidate is
    `eligible` when it has at least `min_samples` samples, by default half of its pool's largest
    count, since few samples flatter a candidate; where none has, all present ones are. `raters`
    names who gave each sample, (P, K, n), and `systems` what wrote each candidate, (P, K). `drawn`
    has the seeds of the prompts, or makes them. `sample` is what one sample is, such as "rater" or
    "rewrite", and `standards` say what counts as a good rating.
    """

    samples: Array
    beta: float = 1.0
    gamma: float = 1.0
    normalize: Normalization = None
    weights: Array | None = None
    min_samples: int | None = None
    drawn: Seeds | Callable[[], Seeds] = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))
    side: Mapping[str, Array] = field(default_factory=dict)
    settled: Settled | None = None
    raters: Ids | None = None
    systems: Ids | None = None
    sample: str = "sample"
    standards: Standards = NO_STANDARDS

    @property
    def about_wording(self) -> bool:
        """Whether the samples are scores of rewrites, which tell of wording and not of people."""
        return self.sample == "rewrite"

    @cached_property
    def seeds(self) -> Seeds:
        """One seed a prompt, (P,), made when a rule that draws first asks for them."""
        return self.drawn() if callable(self.drawn) else self.drawn

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(P, M, K, n)."""
        prompts, scorers, candidates, size = self.samples.shape
        return prompts, scorers, candidates, size

    @cached_property
    def statistics(self) -> Statistics:
        """`Statistics` (P, K) of the normalised samples."""
        if self.settled is not None:
            return self.settled.statistics
        return batched(self.samples, self.beta, self.gamma, self.normalize, self.weights)

    @property
    def by_scorer(self) -> Statistics:
        """`Statistics` (P, M, K) of each scorer on its own."""
        return self.statistics.by_scorer or self.statistics

    @cached_property
    def present(self) -> Mask:
        """Which candidates have a sample from at least one scorer, (P, K)."""
        return np.asarray(self.by_scorer.count.max(axis=1) > 0)

    @cached_property
    def eligible(self) -> Mask:
        """Which candidates may be chosen, (P, K)."""
        if self.settled is not None:
            return self.settled.eligible
        count = self.statistics.count
        least = (
            count.max(axis=1, keepdims=True) / 2 if self.min_samples is None else self.min_samples
        )
        enough = self.present & (count >= least)
        candidates = np.where(enough.any(axis=1, keepdims=True), enough, self.present)
        if self.standards.no_rating_below is None:
            return candidates
        fewest = np.where(candidates, self.ratings_too_low, np.inf).min(axis=1, keepdims=True)
        return candidates & (self.ratings_too_low == fewest)

    @cached_property
    def ratings_too_low(self) -> Integers:
        """How many ratings of each candidate are below `standards.no_rating_below`, (P, K)."""
        floor = self.standards.no_rating_below
        if floor is None:
            return np.zeros(self.present.shape, dtype=np.int64)
        with np.errstate(invalid="ignore"):
            return np.asarray((self.samples[:, 0] < floor).sum(axis=-1))

    @property
    def left_out(self) -> Mask:
        """Present candidates with too few samples to be chosen, (P, K)."""
        ruled_out = False if self.settled is None else self.settled.dropped
        return np.asarray(self.present & ~self.eligible & ~ruled_out & ~(self.ratings_too_low > 0))

    @cached_property
    def tolerance(self) -> Array:
        """Differences that count as ties, (P, K): 1e-12 of the candidate's largest |sample|.

        |mean| + sqrt(n) sigma bounds the largest |sample| from above.
        """
        each = self.by_scorer
        reach = np.nan_to_num(each.sigma) * np.sqrt(each.count) + np.abs(np.nan_to_num(each.mean))
        return np.asarray(ROUNDING * reach.max(axis=1))

    def normalized(self, samples: Array) -> Array:
        """Raw numbers (P, M, K, ...) in the units of the statistics."""
        extra = (...,) + (None,) * (samples.ndim - 2)
        statistics = self.statistics
        scaled = (samples - statistics.location[extra]) / statistics.scale[extra]
        return np.where(statistics.constant[extra] & ~np.isnan(scaled), 0.0, scaled)

    def reward(self, kind: str) -> Array:
        """One reward a candidate, (P, K): its samples' "mean", or its first, "original" sample."""
        if kind == "mean":
            return self.statistics.mean
        if kind == "original":
            first = self.normalized(self.samples[..., 0])
            if np.isnan(np.where(self.present[:, None, :], first, 0.0)).any():
                raise InputError(
                    "reward='original' needs every candidate's first sample, and one is missing",
                    "put the original's score first, or use reward='mean'",
                )
            return np.asarray(first.mean(axis=1))
        raise InputError(f"reward must be 'mean' or 'original', not {kind!r}")

    def cvar(self, alpha: float) -> Array:
        """Mean over the scorers of each one's normalised CVaR, (P, K)."""
        tail = self.normalized(risk.cvar(self.samples, alpha, self.weights))
        return over_scorers(tail)

    def side_input(self, name: str) -> Array:
        """The side input of this name, checked by `decide` to be there."""
        return self.side[name]

    @cached_property
    def copies(self) -> Array:
        """How many times each present candidate was written, (P, K); 1 where that is not known.

        Rules that go by how often an answer was written take it from the side input `copies`.
        """
        given = self.side.get("copies")
        if given is None:
            return np.ones(self.present.shape)
        known = self.present & (given >= 1)
        return np.where(known, given, 1.0)

    def expanded(self) -> Integers:
        """The candidate behind each written answer, (P, answers), -1 where a pool has fewer.

        A candidate with three copies stands there three times, in the order of the candidates.
        """
        copies = self.copies.astype(np.int64)
        if (copies == 1).all():
            return np.broadcast_to(np.arange(copies.shape[1]), copies.shape)
        size = int(copies.sum(axis=1).max())
        places = np.full((len(copies), size), -1, dtype=np.int64)
        for row, own in zip(places, copies, strict=True):
            row[: own.sum()] = np.repeat(np.arange(len(own)), own)
        return places

    def part(self, rows: slice | Integers) -> "Pools":
        """The pools of some prompts."""
        return replace(
            self,
            settled=None,
            samples=self.samples[rows],
            weights=None if self.weights is None else self.weights[rows],
            drawn=self.seeds[rows],
            side={name: array[rows] for name, array in self.side.items()},
            raters=None if self.raters is None else self.raters.part(rows),
            systems=None if self.systems is None else self.systems.part(rows),
        )

    def one(self, position: int) -> "Pools":
        """The pool of one prompt, as a batch of one that keeps the statistics."""
        part = slice(position, position + 1)
        dropped = np.zeros_like(self.eligible) if self.settled is None else self.settled.dropped
        settled = Settled(cut(self.statistics, part), self.eligible[part], dropped[part])
        return replace(self.part(part), settled=settled)

    def sharing(self, **changes: Any) -> "Pools":
        """The same samples with other side inputs or `min_samples`; the statistics are shared."""
        result = replace(self, **changes)
        result.__dict__["statistics"] = self.statistics
        return result

    def keeping_few(self) -> "Pools":
        """The same pools, where a candidate with few samples is eligible unless told otherwise."""
        told = self.min_samples is not None or self.settled is not None
        return self if told else self.sharing(min_samples=1)

    def check(self) -> None:
        """Raise an `InputError` where a prompt has no candidate to choose."""
        check_level("beta", self.beta)
        check_level("gamma", self.gamma)
        if self.standards.no_rating_below is not None and self.shape[1] > 1:
            raise InputError(
                f"no_rating_below is given, and there are {self.shape[1]} scorers",
                "it works with one scorer, whose scale it is on",
            )
        if self.min_samples is not None and self.min_samples < 1:
            raise InputError(f"min_samples must be at least 1, not {self.min_samples}")
        empty = ~np.any(self.present, axis=1)
        if empty.any():
            where = int(np.argmax(empty))
            place = f"prompt {where} has" if len(empty) > 1 else "there is"
            raise InputError(f"{place} no candidate with a score", "give at least one sample")
