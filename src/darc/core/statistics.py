"""All statistics of all candidates in one pass over (P, M, K, n)."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from darc.core.arrays import as_samples, as_weights, check_level
from darc.core.kernel import Columns, columns
from darc.core.normalization import Normalization, Normalizer, normalizer
from darc.errors import InputError
from darc.types import Statistics

Array = NDArray[np.float64]

BLOCK_ROWS = 8192
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
    return batch if samples.ndim == 4 else prompt(batch, 0)


def prompt(batch: Statistics, index: int) -> Statistics:
    """The statistics of one prompt of a batch, (K,)."""
    inner = None if batch.by_scorer is None else prompt(batch.by_scorer, index)
    arrays = {name: getattr(batch, name)[index] for name in (*_FIELDS, "location", "scale")}
    return Statistics(**arrays, constant=batch.constant[index], by_scorer=inner)


def batched(
    samples: Array,
    beta: float,
    gamma: float,
    normalize: Normalization = None,
    weights: Array | None = None,
) -> Statistics:
    """`Statistics` (P, K) of float64 samples (P, M, K, n), in blocks that stay in the cache."""
    beta, gamma = check_level("beta", beta), check_level("gamma", gamma)
    prompts, scorers, candidates, size = samples.shape
    rule = normalizer(normalize, scorers)
    inner = _empty((prompts, scorers, candidates), (prompts, scorers))
    outer = inner if scorers == 1 else _empty((prompts, candidates), (prompts, scorers))
    step = max(1, BLOCK_ROWS // max(1, scorers * candidates))
    parts = [slice(start, min(start + step, prompts)) for start in range(0, prompts, step)]

    def work(some: Sequence[slice]) -> None:
        workspace = np.empty((2, size, min(step, prompts) * scorers * candidates))
        for part in some:
            mass = None if weights is None else weights[part].reshape(-1, size)
            table = columns(samples[part].reshape(-1, size), mass, workspace)
            _fill(inner, part, table, beta, rule)
            if scorers > 1:
                _hedge(outer, inner, part, gamma)

    threads = min(os.cpu_count() or 1, len(parts)) if samples.size >= THREADS_FROM else 1
    if threads == 1:
        work(parts)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, [parts[start::threads] for start in range(threads)]))
    final = {name: getattr(outer, name) for name in _FIELDS}
    if scorers == 1:
        final = {name: array[:, 0] for name, array in final.items()}
    return replace(inner, **final, by_scorer=inner)


def _empty(shape: tuple[int, ...], constants: tuple[int, ...]) -> Statistics:
    arrays: dict[str, Any] = {name: np.empty(shape) for name in _FIELDS}
    return Statistics(
        **arrays,
        location=np.zeros(constants),
        scale=np.ones(constants),
        constant=np.zeros(constants, dtype=bool),
    )


def _fill(inner: Statistics, part: slice, table: Columns, beta: float, rule: Normalizer) -> None:
    """Write the per-scorer statistics of one block of prompts."""
    shape = inner.value[part].shape
    low, offset = table.low.reshape(shape), table.offset.reshape(shape)
    units = rule(low, offset, table.deviation.reshape(shape), table.count_like(shape))
    inner.location[part], inner.scale[part] = units.location, units.scale
    inner.constant[part] = units.constant
    above = table.soft_minimum(units.rate(beta, shape)).reshape(shape)
    sigma = table.sigma.reshape(shape)
    if units.factor is not None:
        low = (low - units.base) - units.center
        for array in (low, offset, above, sigma):
            np.multiply(array, units.factor, out=array)
    np.add(low, above, out=inner.value[part])
    np.add(low, offset, out=inner.mean[part])
    np.subtract(offset, above, out=inner.risk_premium[part])
    inner.sigma[part] = sigma
    inner.count[part] = table.count_like(shape)
    if table.share is not None or table.count <= 1:
        inner.risk_premium[part][inner.count[part] <= 1] = np.nan


def _hedge(outer: Statistics, inner: Statistics, part: slice, gamma: float) -> None:
    """Write one block's statistics aggregated over the scorers."""
    value = inner.value[part]
    outer.value[part] = soft_minimum(value, gamma)
    mean, known = inner.mean[part], np.asarray(value.shape[1], dtype=np.float64)
    if np.isnan(np.add.reduce(mean, axis=None)):
        known = np.maximum((~np.isnan(mean)).sum(axis=1), 1).astype(np.float64)
        empty = np.isnan(mean).all(axis=1)
        outer.mean[part] = np.where(empty, np.nan, np.nansum(mean, axis=1) / known)
    else:
        np.divide(np.add.reduce(mean, axis=1), known, out=outer.mean[part])
    np.fmax.reduce(inner.sigma[part], axis=1, out=outer.sigma[part])
    np.fmax.reduce(inner.risk_premium[part], axis=1, out=outer.risk_premium[part])
    np.minimum.reduce(inner.count[part], axis=1, out=outer.count[part])


def soft_minimum(values: Array, gamma: float) -> Array:
    """-(1/gamma) log mean exp(-gamma v) over the scorers of (P, M, K), skipping NaN."""
    prompts, scorers, candidates = values.shape
    table = columns(values.transpose(0, 2, 1).reshape(-1, scorers))
    soft = table.low + table.soft_minimum(np.asarray(gamma))
    return np.asarray(soft.reshape(prompts, candidates))
