"""All statistics of all candidates in one pass over (P, M, K, n)."""

import math
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import ArrayLike

from darc.decide.statistics.arrays import as_samples, as_weights, check_level
from darc.decide.statistics.kernel import Columns, Normalization, Units, by_column, normalizer
from darc.errors import InputError
from darc.types import Statistics
from darc.typing import Array

# A block's scratch memory should stay in the cache, and a strip's cache lines in the innermost one
# while they are read once for each sample.
BLOCK_SAMPLES = 3 << 17
STRIP = 64
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
    """`Statistics` (P, K) of float64 samples (P, M, K, n), by blocks that stay in the cache."""
    beta, gamma = check_level("beta", beta), check_level("gamma", gamma)
    prompts, scorers, candidates, size = samples.shape
    units_of = normalizer(normalize, scorers)
    # Value, mean, sigma and risk premium of each scorer, and aggregated over the scorers.
    each = np.empty((4, prompts, scorers, candidates))
    hedged = each[:, :, 0] if scorers == 1 else np.empty((4, prompts, candidates))
    location, scale = np.empty((2, prompts, scorers))
    constant = np.empty((prompts, scorers), dtype=bool)
    ragged: list[tuple[slice, Array]] = []
    one = samples[:1].size
    step = max(2, min(prompts, BLOCK_SAMPLES // max(1, one)))

    def work(parts: Iterable[slice]) -> None:
        memory = np.empty((2, step * one))
        for part in parts:
            block = _by_sample(samples[part], memory[0])
            mass = None if weights is None else _by_sample(weights[part])
            table = by_column(block, mass, memory[1, : block.size].reshape(block.shape))
            units = units_of(table)
            found = _each(table, units, beta)
            # The prompts are the last axis, and a lone one is there twice.
            own = slice(part.stop - part.start)
            each[:, part] = found.transpose(0, 3, 1, 2)[:, own]
            if scorers > 1:
                hedged[:, part] = _hedged(found, gamma).transpose(0, 2, 1)[:, own]
            location[part] = units.location[:, 0, own].T
            scale[part] = units.scale[:, 0, own].T
            constant[part] = units.constant[:, 0, own].T
            if table.mass is not None:
                ragged.append((part, table.count.transpose(2, 0, 1)[own]))

    parts = [slice(start, min(start + step, prompts)) for start in range(0, prompts, step)]
    threads = min(os.cpu_count() or 1, len(parts)) if samples.size >= THREADS_FROM else 1
    if threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            # They share the iterator, and so each takes what the others have not begun.
            list(pool.map(work, [iter(parts)] * threads))
    else:
        work(parts)
    # Without gaps the counts are one number seen as an array: writing them out would take time.
    count = np.broadcast_to(np.float64(size), samples.shape[:3])
    least = count[:, 0]
    if ragged:
        count = count.copy()
        for part, numbers in ragged:
            count[part] = numbers
        least = np.minimum.reduce(count, axis=1)
    about = location, scale, constant
    inner = Statistics(each[0], each[1], each[2], each[3], count, *about)
    return Statistics(hedged[0], hedged[1], hedged[2], hedged[3], least, *about, by_scorer=inner)


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


def _hedged(each: Array, gamma: float) -> Array:
    """The statistics (4, K, P) aggregated over the scorers of (4, M, K, P)."""
    result = np.empty((4, *each.shape[2:]))
    table = by_column(each[0].copy())
    np.add(table.low, table.soft_minimum(np.asarray(gamma), out=table.distance), out=result[0])
    if table.mass is None:
        result[1] = table.average(each[1])
    else:
        result[1] = np.where(table.count > 0, table.average(np.nan_to_num(each[1])), np.nan)
    np.fmax.reduce(each[2:], axis=1, out=result[2:])
    return result


_MOST = 200
_C4 = np.array(
    [
        math.sqrt(2 / (n - 1)) * math.exp(math.lgamma(n / 2) - math.lgamma((n - 1) / 2))
        for n in (2, 2, *range(2, _MOST + 1))
    ]
)


def c4(count: ArrayLike) -> Array:
    """E[standard deviation]/sigma of `count` Gaussian ratings; fewer than 2 count as 2."""
    return np.asarray(_C4[np.minimum(np.asarray(count, dtype=np.int64), _MOST)])
