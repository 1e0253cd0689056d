"""All statistics of all candidates in one pass over (P, M, K, n)."""

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from darc.core.arrays import as_samples, as_weights, check_level
from darc.core.kernel import Columns, by_column
from darc.core.normalization import Normalization, Normalizer, Units, normalizer
from darc.errors import InputError
from darc.types import Statistics

Array = NDArray[np.float64]

# A block's scratch memory should stay in the cache, and a strip's cache lines in the innermost one
# while they are read once for each sample.
BLOCK_SAMPLES = 1 << 18
STRIP = 128
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
    """`Statistics` of scores (K, n), (M, K, n) or (P, M, K, n).

    NaN or a mask that is False marks missing samples.
    `normalize` is "prompt" (each scorer by its pooled mean and deviation over the prompt), "none",
    or fixed constants (location, scale), each a number or one a scorer; None means "prompt" for
    several scorers and "none" for one. Results are (K,), or (P, K) for four dimensions.
    One pass of exp over the samples; memory beyond the input is O(P M K). Large arrays are worked
    on by one thread a core.
    """
    samples = as_samples(scores, mask)
    if samples.ndim not in (2, 3, 4):
        raise InputError(
            f"scores have {samples.ndim} dimensions",
            "give (candidates, samples), (scorers, candidates, samples) or (prompts, ...)",
        )
    mass = as_weights(weights, samples.shape)
    lifted = samples.reshape((1,) * (4 - samples.ndim) + samples.shape)
    lifted_mass = None if mass is None else mass.reshape(lifted.shape)
    batch = batched(lifted, beta, gamma, normalize, lifted_mass)
    return batch if samples.ndim == 4 else cut(batch, 0)


def cut(batch: Statistics, part: int | slice) -> Statistics:
    """The statistics of one prompt of a batch, (K,), or of some, (P, K)."""
    inner = None if batch.by_scorer is None else cut(batch.by_scorer, part)
    arrays = {name: getattr(batch, name)[part] for name in (*_FIELDS, "location", "scale")}
    return Statistics(**arrays, constant=batch.constant[part], by_scorer=inner)


def batched(
    samples: Array,
    beta: float,
    gamma: float,
    normalize: Normalization = None,
    weights: Array | None = None,
) -> Statistics:
    """`Statistics` (P, K) of float64 samples (P, M, K, n), in blocks that stay in the cache."""
    beta, gamma = check_level("beta", beta), check_level("gamma", gamma)
    rule = normalizer(normalize, samples.shape[1])
    result = Result.empty(samples.shape)
    by_blocks(result, samples, beta, gamma, rule, weights)
    return result.statistics()


@dataclass(frozen=True)
class Result:
    """Where the numbers of all prompts are written.

    `each` (4, P, M, K) has value, mean, sigma and risk premium of each scorer, `hedged` (4, P, K)
    the same aggregated over the scorers, `count` (P, M, K) the samples of each candidate, `units`
    (2, P, M) each scorer's location and scale, and `constant` (P, M) whether it is constant.
    """

    each: Array
    hedged: Array
    count: Array
    units: Array
    constant: NDArray[np.bool_]

    @classmethod
    def empty(cls, shape: tuple[int, ...]) -> "Result":
        """Memory for samples of the given shape, (P, M, K, n)."""
        prompts, scorers, candidates, _ = shape
        each = np.empty((4, prompts, scorers, candidates))
        return cls(
            each,
            each[:, :, 0] if scorers == 1 else np.empty((4, prompts, candidates)),
            np.empty((prompts, scorers, candidates)),
            np.empty((2, prompts, scorers)),
            np.empty((prompts, scorers), dtype=bool),
        )

    def statistics(self) -> Statistics:
        """The arrays by name."""
        least = np.minimum.reduce(self.count, axis=1)
        inner = Statistics(*self.each, self.count, *self.units, self.constant)
        return Statistics(*self.hedged, least, *self.units, self.constant, by_scorer=inner)


def by_blocks(
    result: Result,
    samples: Array,
    beta: float,
    gamma: float,
    rule: Normalizer,
    weights: Array | None,
) -> None:
    """Fill the result with numpy, one block of prompts after the other, on all cores if large."""
    prompts, scorers = samples.shape[:2]
    one = samples[:1].size
    step = max(2, BLOCK_SAMPLES // max(1, one))
    parts = [slice(start, min(start + step, prompts)) for start in range(0, prompts, step)]

    def work(some: Sequence[slice]) -> None:
        memory = np.empty((2, step * one))
        for part in some:
            block = _by_sample(samples[part], memory[0])
            mass = None if weights is None else _by_sample(weights[part])
            table = by_column(block, mass, memory[1, : block.size].reshape(block.shape))
            units = rule(table)
            each = _each(table, units, beta)
            size = part.stop - part.start
            result.each[:, part] = each.transpose(0, 3, 1, 2)[:, :size]
            result.count[part] = table.count if table.share is None else table.count.transpose(2,0,1)[:size]
            result.units[0, part] = units.location[:, 0, :size].T
            result.units[1, part] = units.scale[:, 0, :size].T
            result.constant[part] = units.constant[:, 0, :size].T
            if scorers > 1:
                result.hedged[:, part] = _hedged(each, gamma).transpose(0, 2, 1)[:, :size]

    threads = min(os.cpu_count() or 1, len(parts)) if samples.size >= THREADS_FROM else 1
    if threads == 1:
        work(parts)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, [parts[start::threads] for start in range(threads)]))


def _by_sample(block: Array, memory: Array | None = None) -> Array:
    """A copy (n, M, K, P) of a block (P, M, K, n), in the given memory; P is 2 for one prompt.

    numpy adds a lone column in another order than one of several, so one prompt is copied twice:
    its numbers are the same in any company.
    """
    turned = block.transpose(3, 1, 2, 0)
    shape = (*turned.shape[:3], max(2, len(block)))
    size = math.prod(shape)
    copy = (np.empty(size) if memory is None else memory[:size]).reshape(shape)
    for start in range(0, shape[-1], STRIP):
        strip = slice(start, start + STRIP)
        np.copyto(copy[..., strip], turned[..., strip])
    return copy


def _each(table: Columns, units: Units, beta: float) -> Array:
    """Value, mean, sigma and risk premium of every scorer, (4, M, K, P), from a block's columns."""
    result = np.empty((4, *table.low.shape))
    value, mean, sigma, premium = result
    above = table.soft_minimum(units.rate(beta))
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
    if table.share is not None or table.count <= 1:
        premium[np.broadcast_to(table.count <= 1, premium.shape)] = np.nan
    return result


def _hedged(each: Array, gamma: float) -> Array:
    """The statistics (4, K, P) aggregated over the scorers of (4, M, K, P)."""
    result = np.empty((4, *each.shape[2:]))
    table = by_column(each[0].copy())
    np.add(table.low, table.soft_minimum(np.asarray(gamma)), out=result[0])
    if table.share is None:
        result[1] = table.average(each[1])
    else:
        result[1] = np.where(table.count > 0, table.average(np.nan_to_num(each[1])), np.nan)
    np.fmax.reduce(each[2:], axis=1, out=result[2:])
    return result
