"""What many splits of some ratings say of each method."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.analysis import metrics
from darc.analysis.bootstrap import draw_counts, largest
from darc.analysis.evaluate.settings import ContestSettings
from darc.ratings.ratings import Ratings
from darc.typing import Array, Integers, Mask

# The fields with an axis for the methods.
_BY_METHOD = ("choice", "reward", "risk", "outcome", "pairwise", "rewards")


@dataclass(frozen=True, eq=False)
class Contest:
    """What R splits say of A methods on P prompts; the first method is Best-of-K."""

    #: The ratings that were split; for a proxy that people judge, the proxy's.
    ratings: Ratings
    settings: ContestSettings
    #: What was divided: "rater", "sample", "rewrite", or "joined" where people judge a proxy.
    split: str
    #: The texts of the methods, (A,).
    methods: list[str]
    #: The choices (R, A, P), -1 where a prompt is not usable in a split.
    choice: Integers
    #: The mean of each choice on the judging half, (R, A, P), NaN where there is no choice.
    reward: Array
    #: The sigma of each choice, (R, A, P), on the half that the settings name.
    risk: Array
    #: What the CVaR over prompts is of, (R, A, P).
    outcome: Array
    #: Win rate minus one half against Best-of-K's choice, (R, A, P), over raters of both.
    pairwise: Array
    #: The mean of each choice by each scorer on its raw scale, (R, A, M, P).
    rewards: Array
    #: The scorers' pooled deviations on the judging half, (R, M).
    scales: Array
    #: The prompts that are usable in a split, (R, P).
    usable: Mask
    #: The high-variance prompts, (R, P).
    high: Mask
    #: The disagreement on Best-of-K's choice (or in the pool) on the selecting half, (R, P).
    disagreement: Array
    #: The disagreement on Best-of-K's choice on the judging half, (R, P).
    judged_disagreement: Array
    #: The weight of sigma in the tradeoff, (R, P): one number, or by median matching that of each
    #: split's selecting half.
    lambdas: Array
    #: The mean of each choice by each group of raters on the judging half, (R, A, G, P); None where
    #: raters have no groups.
    by_group: Array | None = None
    #: Why a method was left out, by its text.
    not_run: dict[str, str] = field(default_factory=dict)
    #: The share of decisions with each flag, by method and flag.
    flags: dict[str, dict[str, float]] = field(default_factory=dict)
    #: The time that each method took over all splits, in seconds.
    seconds: dict[str, float] = field(default_factory=dict)
    #: How many candidates are left out per split because one half has no sample of them.
    left_out: float = 0.0
    #: The share of samples that were clipped to their scorer's bounds.
    clipped_share: float = 0.0

    @property
    def tradeoff(self) -> Array:
        """The tradeoff reward - lambda risk, (R, A, P)."""
        return self.weighed()

    @property
    def length(self) -> Array:
        """The lengths of the choices, (R, A, P)."""
        return metrics.values_at(self.ratings.lengths, self.choice)

    @property
    def lam(self) -> float:
        """The weight of sigma, the mean where it differs between splits."""
        return float(self.lambdas.mean())

    def weighed(self, factor: float = 1.0) -> Array:
        """The tradeoff at a multiple of lambda, (R, A, P).

        Args:
            factor: What lambda is multiplied by.
        """
        return np.asarray(self.reward - factor * self.lambdas[:, None, :] * self.risk)

    @cached_property
    def counts(self) -> NDArray[Any]:
        """The bootstrap's resamples of prompts, (B, P)."""
        return draw_counts(len(self.ratings.prompt_ids), self.settings.draws, self.settings.seed)

    def only(self, methods: Sequence[int]) -> "Contest":
        """The contest of some methods, given by index; the first should be Best-of-K.

        Args:
            methods: The indices of the methods.
        """
        arrays = {name: getattr(self, name)[:, list(methods)] for name in _BY_METHOD}
        if self.by_group is not None:
            arrays["by_group"] = self.by_group[:, list(methods)]
        return replace(self, methods=[self.methods[method] for method in methods], **arrays)

    def against(self, values: Array) -> Array:
        """1, 0 or -1 for a win, tie or loss against Best-of-K by values (R, A, P).

        Args:
            values: The values, (R, A, P).
        """
        difference = values - values[:, :1]
        return metrics.outcome_signs(difference, self.settings.tie_threshold, largest(values))

    @property
    def subsets(self) -> dict[str, Mask]:
        """All usable prompts, and the high-variance ones if there are any, (R, P) by name."""
        result = {"overall": self.usable}
        if self.high.any():
            result["high-variance"] = self.high
        return result
