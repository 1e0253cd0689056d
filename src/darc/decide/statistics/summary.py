"""All statistics of all candidates in one pass over (P, M, K, n)."""

import math
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import ArrayLike

from darc.decide.statistics.arrays import as_samples, as_weights, check_level
from darc.decide.statistics.kernel import Columns, by_column
from darc.decide.statistics.normalization import Normalization, Units, normalizer
from darc.errors import InputError
from darc.types import Statistics
from darc.typing import Array

# A block's scratch memory should stay in the cache, and a strip's cache lines in the innermost one
# while they are read once for each sample.
BLOCK_SAMPLES = 3 << 17
STRIP = 64
# Samples from which on several threads are worth it.
THREADS_FROM = 500_000
_FIELDS = ("value", "mean", "sigma", "risk_premium", "count")


def statistics(
    scores: ArrayLike,
    beta: float = 1.0,
    gamma: float = 1.0,
    normalize: Normalization = None,
    *,
    weights: ArrayLike | None = None,
    mask: ArrayLike | None = None,
) -> Statistics:
    """Summarise the samples of each candidate.

    One pass of exp over the samples; memory beyond the input is O(P M K). Large arrays are worked
    on by one thread per core.

    Args:
        scores: (K, n), (M, K, n) or (P, M, K, n); NaN marks a missing sample.
        beta: Risk aversion of the entropic value.
        gamma: Hedge over scorers.
        normalize: "prompt" (each scorer by its pooled mean and deviation over the prompt), "none",
            or fixed constants (location, scale), each a number or one per scorer. None means
            "prompt" for several scorers and "none" for one.
        weights: Weights of the samples, of their shape.
        mask: False marks a missing sample.

    Returns:
        Statistics (K,), or (P, K) for four dimensions.

    Raises:
        InputError: If the scores have another number of dimensions.
    """
    samples = as_samples(scores, mask)
    if samples.ndim not in (2, 3, 4):
        raise InputError(
            f"scores have {samples.ndim} dimensions",
            "give (candidates, samples), (scorers, candidates, samples) or (prompts, ...)",
        )
    mass = as_weights(weights, samples.shape)
    lifted = samples.reshape((1,) * (4 - samples.ndim) + samples.shape)
    if mass is not None:
        mass = mass.reshape(lifted.shape)
    batch = batched(lifted, beta, gamma, normalize, mass)
    if samples.ndim == 4:
        return batch
    return cut(batch, 0)


def cut(batch: Statistics, part: int | slice) -> Statistics:
    """The statistics of one prompt of a batch, (K,), or of some, (P, K)."""
    arrays = {name: getattr(batch, name)[part] for name in (*_FIELDS, "location", "scale")}
    by_scorer = None
    if batch.by_scorer is not None:
        by_scorer = cut(batch.by_scorer, part)
    return Statistics(**arrays, constant=batch.constant[part], by_scorer=by_scorer)


def batched(
    samples: Array,
    beta: float,
    gamma: float,
    normalize: Normalization = None,
    weights: Array | None = None,
) -> Statistics:
    """`Statistics` (P, K) of float64 samples (P, M, K, n), by blocks that stay in the cache."""
    prompts = len(samples)
    samples_per_prompt = samples[:1].size
    block_size = max(2, min(prompts, BLOCK_SAMPLES // max(1, samples_per_prompt)))
    blocks = [
        slice(start, min(start + block_size, prompts)) for start in range(0, prompts, block_size)
    ]
    table = _StatisticsTable(
        samples,
        weights,
        beta=check_level("beta", beta),
        gamma=check_level("gamma", gamma),
        normalize=normalize,
        block_samples=block_size * samples_per_prompt,
    )
    threads = 1
    if samples.size >= THREADS_FROM:
        threads = min(os.cpu_count() or 1, len(blocks))
    if threads > 1:
        # They share the iterator, and so each takes what the others have not begun.
        iterators = [iter(blocks)] * threads
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(table.fill, iterators))
    else:
        table.fill(blocks)
    return table.statistics()


class _StatisticsTable:
    """The statistics of samples (P, M, K, n), filled block by block, by one or several threads."""

    def __init__(
        self,
        samples: Array,
        weights: Array | None,
        beta: float,
        gamma: float,
        normalize: Normalization,
        block_samples: int,
    ) -> None:
        prompts, scorers, candidates, _ = samples.shape
        self._samples = samples
        self._weights = weights
        self._beta = beta
        self._gamma = gamma
        self._block_samples = block_samples
        self._units_of = normalizer(normalize, scorers)
        # Value, mean, sigma and risk premium of each scorer, and aggregated over the scorers.
        self._by_scorer = np.empty((4, prompts, scorers, candidates))
        self._hedged = self._by_scorer[:, :, 0]
        if scorers > 1:
            self._hedged = np.empty((4, prompts, candidates))
        self._location = np.empty((prompts, scorers))
        self._scale = np.empty((prompts, scorers))
        self._constant = np.empty((prompts, scorers), dtype=bool)
        # The numbers of samples in blocks with gaps.
        self._counts: list[tuple[slice, Array]] = []

    def fill(self, blocks: Iterable[slice]) -> None:
        """Compute the statistics of some blocks of prompts."""
        memory = np.empty((2, self._block_samples))
        scorers = self._samples.shape[1]
        for block in blocks:
            samples = _by_sample(self._samples[block], memory[0])
            mass = None
            if self._weights is not None:
                mass = _by_sample(self._weights[block])
            table = by_column(samples, mass, memory[1, : samples.size].reshape(samples.shape))
            units = self._units_of(table)
            by_scorer = _scorer_statistics(table, units, self._beta)
            # The prompts are the last axis, and a lone one is there twice.
            without_copy = slice(block.stop - block.start)
            self._by_scorer[:, block] = by_scorer.transpose(0, 3, 1, 2)[:, without_copy]
            if scorers > 1:
                hedged = _hedge_scorers(by_scorer, self._gamma)
                self._hedged[:, block] = hedged.transpose(0, 2, 1)[:, without_copy]
            self._location[block] = units.location[:, 0, without_copy].T
            self._scale[block] = units.scale[:, 0, without_copy].T
            self._constant[block] = units.constant[:, 0, without_copy].T
            if table.mass is not None:
                self._counts.append((block, table.count.transpose(2, 0, 1)[without_copy]))

    def statistics(self) -> Statistics:
        """The statistics, once all blocks are filled."""
        # Without gaps the counts are one number seen as an array: writing them out takes time.
        size = np.float64(self._samples.shape[3])
        count = np.broadcast_to(size, self._samples.shape[:3])
        smallest_count = count[:, 0]
        if self._counts:
            count = count.copy()
            for block, block_count in self._counts:
                count[block] = block_count
            smallest_count = np.minimum.reduce(count, axis=1)
        by_scorer = self._named(self._by_scorer, count, None)
        return self._named(self._hedged, smallest_count, by_scorer)

    def _named(self, arrays: Array, count: Array, by_scorer: Statistics | None) -> Statistics:
        """Value, mean, sigma and risk premium with their names."""
        return Statistics(
            value=arrays[0],
            mean=arrays[1],
            sigma=arrays[2],
            risk_premium=arrays[3],
            count=count,
            location=self._location,
            scale=self._scale,
            constant=self._constant,
            by_scorer=by_scorer,
        )


def _by_sample(block: Array, memory: Array | None = None) -> Array:
    """A copy (n, M, K, P) of a block (P, M, K, n), in the given memory; P is 2 for one prompt.

    numpy adds a lone column in another order than one of several, so one prompt is copied twice:
    its numbers are the same in any company.
    """
    turned = block.transpose(3, 1, 2, 0)
    shape = (*turned.shape[:3], max(2, len(block)))
    size = math.prod(shape)
    if memory is None:
        memory = np.empty(size)
    copy = memory[:size].reshape(shape)
    for start in range(0, shape[-1], STRIP):
        strip = slice(start, start + STRIP)
        np.copyto(copy[..., strip], turned[..., strip])
    return copy


def _scorer_statistics(table: Columns, units: Units, beta: float) -> Array:
    """Value, mean, sigma and risk premium of every scorer, (4, M, K, P), from a block's columns."""
    result = np.empty((4, *table.low.shape))
    value, mean, sigma, premium = result
    above = table.soft_minimum(units.rate(beta), out=table.distance)
    low = table.low
    if units.factor is not None:
        low = low - units.base
        low -= units.center
    np.add(low, above, out=value)
    np.add(low, table.offset, out=mean)
    np.copyto(sigma, table.sigma)
    np.subtract(table.offset, above, out=premium)
    if units.factor is not None:
        result *= units.factor
    if table.mass is not None or table.count <= 1:
        premium[np.broadcast_to(table.count <= 1, premium.shape)] = np.nan
    return result


def _hedge_scorers(by_scorer: Array, gamma: float) -> Array:
    """The statistics (4, K, P) aggregated over the scorers of (4, M, K, P)."""
    result = np.empty((4, *by_scorer.shape[2:]))
    table = by_column(by_scorer[0].copy())
    np.add(table.low, table.soft_minimum(np.asarray(gamma), out=table.distance), out=result[0])
    mean = by_scorer[1]
    if table.mass is None:
        result[1] = table.average(mean)
    else:
        result[1] = np.where(table.count > 0, table.average(np.nan_to_num(mean)), np.nan)
    np.fmax.reduce(by_scorer[2:], axis=1, out=result[2:])
    return result


# The number of ratings from which on c4 counts as constant.
_LARGEST_COUNT = 200
_C4 = np.array(
    [
        math.sqrt(2 / (n - 1)) * math.exp(math.lgamma(n / 2) - math.lgamma((n - 1) / 2))
        for n in (2, 2, *range(2, _LARGEST_COUNT + 1))
    ]
)


def c4(count: ArrayLike) -> Array:
    """E[standard deviation]/sigma of `count` Gaussian ratings; fewer than 2 count as 2."""
    return np.asarray(_C4[np.minimum(np.asarray(count, dtype=np.int64), _LARGEST_COUNT)])
