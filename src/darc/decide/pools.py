"""The candidate pools of some prompts, as every rule sees them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from darc.decide.ids import Ids
from darc.decide.options import SelectOptions
from darc.decide.standards import NO_STANDARDS, Standards
from darc.decide.statistics import risk
from darc.decide.statistics.arrays import check_level
from darc.decide.statistics.draws import Seeds
from darc.decide.statistics.kernel import ROUNDING
from darc.decide.statistics.normalization import Normalization
from darc.decide.statistics.summary import batched, cut
from darc.errors import InputError
from darc.types import Statistics
from darc.typing import Array, Integers, Mask


def over_scorers(values: Array) -> Array:
    """The mean over scorers of values (P, M, ...), as far as they are known, (P, ...)."""
    count = (~np.isnan(values)).sum(axis=1)
    total = np.nansum(values, axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


@dataclass(frozen=True, eq=False)
class Settled:
    """What a lazy search has settled, (P, K) each."""

    statistics: Statistics
    #: Candidates that may be chosen.
    eligible: Mask
    #: Candidates that were given up early.
    dropped: Mask


@dataclass(frozen=True, eq=False)
class Pools:
    """P prompts with K candidates, M scorers and up to n samples each, as rules see them.

    A candidate without any sample is absent (shorter pools are padded so).
    """

    #: (P, M, K, n), NaN where there is no sample.
    samples: Array
    #: Risk aversion of the entropic value.
    beta: float = 1.0
    #: Hedge over scorers: the weight of the soft minimum.
    gamma: float = 1.0
    #: "prompt", "none" or the scorers' (locations, scales). None means "prompt" for several scorers
    #: and "none" for one.
    normalize: Normalization = None
    #: Weights of the samples, of their shape.
    weights: Array | None = None
    #: A present candidate is eligible if it has so many samples, by default half of its pool's
    #: largest count, since few samples flatter a candidate. Where none has, all present ones are.
    min_samples: int | None = None
    #: The seeds of the prompts, (P,), or a function that makes them.
    seed_source: Seeds | Callable[[], Seeds] = field(
        default_factory=lambda: np.zeros(0, dtype=np.uint64)
    )
    #: Side inputs by name, (P, K, ...).
    side: Mapping[str, Array] = field(default_factory=dict)
    #: What a lazy search has settled, None if all samples are given.
    settled: Settled | None = None
    #: Who gave each sample, (P, K, n).
    raters: Ids | None = None
    #: What wrote each candidate, (P, K).
    systems: Ids | None = None
    #: What one sample is, such as "rater" or "rewrite".
    sample: str = "sample"
    #: Whether the samples are grades of judge models, which are not independent people.
    judged: bool = False
    #: What counts as a good rating.
    standards: Standards = NO_STANDARDS

    @classmethod
    def with_options(cls, samples: Array, options: SelectOptions, **fields: Any) -> "Pools":
        """The pools of samples (P, M, K, n), with options and other fields.

        Args:
            samples: The samples, (P, M, K, n).
            options: The options of `select`.
            **fields: Other fields of the pools, by name.
        """
        return cls(
            samples,
            beta=options.beta,
            gamma=options.gamma,
            normalize=options.normalize,
            min_samples=options.min_samples,
            sample=options.sample,
            standards=options.standards,
            **fields,
        )

    @property
    def about_wording(self) -> bool:
        """Whether the samples are scores of rewrites, which tell of wording and not of people."""
        return self.sample == "rewrite"

    @property
    def independent(self) -> bool:
        """Whether the samples may be opinions of independent people, as a certificate needs."""
        return not self.about_wording and not self.judged

    @cached_property
    def seeds(self) -> Seeds:
        """One seed per prompt, (P,), made when a rule that draws first asks for them."""
        if callable(self.seed_source):
            return self.seed_source()
        return self.seed_source

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
        if self.min_samples is None:
            enough = self.present & (count >= count.max(axis=1, keepdims=True) / 2)
        else:
            enough = self.present & (count >= self.min_samples)
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
        left_out = self.present & ~self.eligible & ~(self.ratings_too_low > 0)
        if self.settled is None:
            return np.asarray(left_out)
        return np.asarray(left_out & ~self.settled.dropped)

    @cached_property
    def tolerance(self) -> Array:
        """Differences that count as ties, (P, K): 1e-12 of the candidate's largest |sample|.

        |mean| + sqrt(n) sigma bounds the largest |sample| from above.
        """
        statistics = self.by_scorer
        mean = np.abs(np.nan_to_num(statistics.mean))
        reach = np.nan_to_num(statistics.sigma) * np.sqrt(statistics.count) + mean
        return np.asarray(ROUNDING * reach.max(axis=1))

    def normalized(self, samples: Array) -> Array:
        """Raw numbers (P, M, K, ...) in the units of the statistics.

        Args:
            samples: The numbers, (P, M, K, ...).
        """
        statistics = self.statistics
        # Location and scale are (P, M), and get as many axes as the samples have.
        with_axes = (...,) + (None,) * (samples.ndim - 2)
        scaled = (samples - statistics.location[with_axes]) / statistics.scale[with_axes]
        return np.where(statistics.constant[with_axes] & ~np.isnan(scaled), 0.0, scaled)

    def reward(self, kind: str) -> Array:
        """One reward per candidate, (P, K).

        Args:
            kind: "mean" for the mean of its samples, "original" for its first sample.

        Raises:
            InputError: If an original's score is missing, or there is no such kind.
        """
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
        """Mean over the scorers of each one's normalised CVaR, (P, K).

        Args:
            alpha: The share of the lowest samples that counts.
        """
        tail = self.normalized(risk.cvar(self.samples, alpha, self.weights))
        return over_scorers(tail)

    def side_input(self, name: str) -> Array:
        """The side input of this name, checked by `decide` to be there.

        Args:
            name: Its name, such as "log_likelihood".
        """
        return self.side[name]

    @cached_property
    def copies(self) -> Array:
        """How many times each present candidate was written, (P, K); 1 where that is not known.

        Rules that go by how often an answer was written take it from the side input `copies`.
        """
        copies = self.side.get("copies")
        if copies is None:
            return np.ones(self.present.shape)
        return np.where(self.present & (copies >= 1), copies, 1.0)

    def expanded(self) -> Integers:
        """The candidate behind each written answer, (P, answers), -1 where a pool has fewer.

        A candidate with three copies stands there three times, in the order of the candidates.
        """
        copies = self.copies.astype(np.int64)
        if (copies == 1).all():
            return np.broadcast_to(np.arange(copies.shape[1]), copies.shape)
        size = int(copies.sum(axis=1).max())
        places = np.full((len(copies), size), -1, dtype=np.int64)
        for row, row_copies in zip(places, copies, strict=True):
            row[: row_copies.sum()] = np.repeat(np.arange(len(row_copies)), row_copies)
        return places

    def part(self, rows: slice | Integers) -> "Pools":
        """The pools of some prompts.

        Args:
            rows: The prompts, as a slice or by their places.
        """
        changes: dict[str, Any] = {}
        if self.weights is not None:
            changes["weights"] = self.weights[rows]
        if self.raters is not None:
            changes["raters"] = self.raters.part(rows)
        if self.systems is not None:
            changes["systems"] = self.systems.part(rows)
        return replace(
            self,
            settled=None,
            samples=self.samples[rows],
            seed_source=self.seeds[rows],
            side={name: array[rows] for name, array in self.side.items()},
            **changes,
        )

    def one(self, position: int) -> "Pools":
        """The pool of one prompt, as a batch of one that keeps the statistics.

        Args:
            position: The place of the prompt in the batch.
        """
        row = slice(position, position + 1)
        eligible = self.eligible[row]
        dropped = np.zeros_like(eligible)
        if self.settled is not None:
            dropped = self.settled.dropped[row]
        settled = Settled(cut(self.statistics, row), eligible, dropped)
        return replace(self.part(row), settled=settled)

    def sharing(self, **changes: Any) -> "Pools":
        """The same samples with other side inputs or `min_samples`; the statistics are shared.

        Args:
            **changes: The new values, by the names of fields.
        """
        result = replace(self, **changes)
        result.__dict__["statistics"] = self.statistics
        return result

    def keeping_few(self) -> "Pools":
        """The same pools, where a candidate with few samples is eligible unless told otherwise."""
        if self.min_samples is not None or self.settled is not None:
            return self
        return self.sharing(min_samples=1)

    def check(self) -> None:
        """Check that the options can be used and every prompt has a candidate.

        Raises:
            InputError: If not.
        """
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
            subject = "there is"
            if len(empty) > 1:
                subject = f"prompt {int(np.argmax(empty))} has"
            raise InputError(f"{subject} no candidate with a score", "give at least one sample")
