"""What a lazy search knows at one moment: samples seen, and bounds on everything else."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from darc.core import completion, risk
from darc.core.bounds import lcb_coefficient
from darc.core.normalization import ROUNDING
from darc.core.statistics import batched, cut
from darc.types import Statistics

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class View:
    """One prompt's partly seen pool, in the units of the statistics.

    `samples` (M, K, n) has NaN where nothing is seen; `unseen` (K, n) marks what may still come,
    the other NaN being samples that do not exist. All samples lie between `low` and `high`, (M,).
    """

    samples: Array
    unseen: Mask
    low: Array
    high: Array
    beta: float
    gamma: float
    min_samples: int | None

    @cached_property
    def seen(self) -> Array:
        """Samples seen of each candidate, (K,)."""
        return (~np.isnan(self.samples)).sum(axis=2).min(axis=0).astype(np.float64)

    @cached_property
    def total(self) -> Array:
        """The most samples that each candidate can end with, (K,)."""
        return self.seen + self.unseen.sum(axis=1)

    @cached_property
    def complete(self) -> Mask:
        """Which candidates have nothing unseen, (K,)."""
        return np.asarray(~self.unseen.any(axis=1))

    @cached_property
    def partial(self) -> Statistics:
        """Per-scorer statistics (M, K) of what is seen."""
        return self._by_scorer(self.samples)

    @cached_property
    def top(self) -> Statistics:
        """Statistics (1, K) with every unseen sample at its upper bound; exact where complete."""
        return self.completed(np.broadcast_to(self.high[:, None], self.samples.shape[:2]))

    @cached_property
    def tolerance(self) -> float:
        """More than any difference that the rules count as a tie."""
        reach = np.maximum(np.abs(self.low), np.abs(self.high))
        spread = (self.high - self.low) * np.sqrt(self.samples.shape[2])
        return float(2 * ROUNDING * np.max(reach + spread))

    @cached_property
    def sure(self) -> Mask:
        """Candidates that are complete and certainly eligible, (K,)."""
        if self.min_samples is None:
            return self.complete & (self.seen > 0) & (self.seen >= self.total.max() / 2)
        enough = self.complete & (self.seen >= self.min_samples)
        if (self.total < self.min_samples).all():
            return self.complete & (self.seen > 0)
        return enough & (self.seen > 0)

    @cached_property
    def barred(self) -> Mask:
        """Candidates that are certainly not eligible, (K,)."""
        if self.min_samples is None:
            return self.total < self.seen.max() / 2
        too_few = self.total < self.min_samples
        return too_few & bool((self.seen >= self.min_samples).any())

    @cached_property
    def doubtful(self) -> Mask:
        """Complete candidates of which it is not yet known whether they are eligible, (K,)."""
        return self.complete & (self.seen > 0) & ~self.sure & ~self.barred

    def predicted(self, candidate: int, sample: int) -> "View":
        """The view as if this sample were seen and equal to the mean of what is seen."""
        own = self.samples[:, candidate]
        seen = own if not np.isnan(own).all() else self.samples.reshape(len(own), -1)
        known = ~np.isnan(seen)
        total = np.where(known, seen, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        guess = np.where(known.any(axis=1), total, 0.5 * (self.low + self.high))
        samples, unseen = self.samples.copy(), self.unseen.copy()
        samples[:, candidate, sample] = guess
        unseen[candidate, sample] = False
        return replace(self, samples=samples, unseen=unseen)

    def completed(self, fill: Array) -> Statistics:
        """Statistics (1, K) with every unseen sample of scorer m, candidate k at fill (m, k)."""
        return batched(self._filled(fill)[None], self.beta, self.gamma, "none")

    def filled_cvar(self, alpha: float) -> Array:
        """Upper bound of the scorers' mean CVaR, (K,)."""
        filled = self._filled(np.broadcast_to(self.high[:, None], self.samples.shape[:2]))
        return np.asarray(np.nan_to_num(risk.cvar(filled, alpha), nan=-np.inf).mean(axis=0))

    @cached_property
    def least_premium(self) -> Array:
        """Lower bound of the aggregated premium, (K,): exact where complete, NaN if undefined."""
        share = np.where(self.total > 0, self.seen / np.maximum(self.total, 1), 0.0)
        bound = np.max(share * np.nan_to_num(self.partial.risk_premium), axis=0)
        return np.where(self.complete, self.top.risk_premium[0], bound)

    @cached_property
    def least_sigma(self) -> Array:
        """Lower bound of the aggregated sigma, (K,): squares about the mean only grow."""
        square = np.nan_to_num(self.partial.sigma) ** 2 * np.maximum(self.seen - 1, 0)
        bound = np.sqrt(square / np.maximum(self.total - 1, 1)).max(axis=0)
        return np.where(self.complete, self.top.sigma[0], bound)

    def best_penalty(self, lam: float) -> Array:
        """Upper bound of V - lam RP, (K,)."""
        fill = completion.penalty(
            self.partial.value, self.seen, self.total, self._high, self.beta, lam
        )
        statistics = self.completed(fill)
        exact = statistics.value[0] - lam * statistics.risk_premium[0]
        if len(self.samples) == 1:
            return np.asarray(exact)
        inner = _inner(statistics)
        each = inner.value - lam * np.nan_to_num(inner.risk_premium)
        return np.where(self.complete, exact, _soft_minimum(each, self.gamma))

    def best_under(self, limit: float, objective: str) -> Array:
        """Upper bound of the value or mean of what has a premium of at most `limit`, (K,)."""
        fill = completion.tau(
            self.partial.value,
            self.partial.risk_premium,
            self.seen,
            self.total,
            self._high,
            self.beta,
            limit,
        )
        statistics = self.completed(fill)
        return np.asarray(statistics.value[0] if objective == "value" else statistics.mean[0])

    def best_lcb(self, lam: float | None, delta: float, c: float) -> Array:
        """Upper bound of mean - lam sigma, (K,)."""
        total = np.maximum(self.total, 1)
        size = int((self.total > 0).sum())
        weight = lcb_coefficient(total, candidates=size, delta=delta, c=c) if lam is None else lam
        fill = completion.lcb(
            self.partial.mean, self.partial.sigma, self.seen, total, self._high, weight
        )
        statistics = self.completed(fill)
        exact = statistics.mean[0] - weight * statistics.sigma[0]
        inner = _inner(statistics)
        each = inner.mean - weight * np.nan_to_num(inner.sigma)
        return np.where(self.complete, exact, each.mean(axis=0))

    @property
    def _high(self) -> Array:
        return np.broadcast_to(self.high[:, None], self.samples.shape[:2])

    def _filled(self, fill: Array) -> Array:
        return np.where(self.unseen[None], fill[:, :, None], self.samples)

    def _by_scorer(self, samples: Array) -> Statistics:
        return _inner(batched(samples[None], self.beta, self.gamma, "none"))


def _inner(statistics: Statistics) -> Statistics:
    """The per-scorer statistics of the only prompt, (M, K)."""
    inner = cut(statistics, 0).by_scorer
    return statistics if inner is None else inner


def _soft_minimum(values: Array, gamma: float) -> Array:
    return np.asarray(risk.entropic_value(values.T, gamma))
