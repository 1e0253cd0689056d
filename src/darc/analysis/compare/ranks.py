"""Ranks, their correlations and overlaps of top shares, also under many weightings at once.

A bootstrap over prompts weighs every candidate by how often its prompt was drawn; equal items then
share the ranks that they would have if they were written out.
"""

from math import ceil, erfc, sqrt
from typing import Any

import numpy as np

from darc.errors import extra_needed
from darc.typing import Array, Mask


def _stats() -> Any:
    with extra_needed("comparing ranks", "eval"):
        from scipy import stats
    return stats


def ranks(values: Array) -> Array:
    """Ranks from 1 along the last axis, (..., n), ties sharing their average."""
    return np.asarray(_stats().rankdata(values, axis=-1), dtype=np.float64)


def correlation(left: Array, right: Array) -> Array:
    """Pearson's correlation along the last axis, (...); NaN where one side is constant."""
    x = left - left.mean(axis=-1, keepdims=True)
    y = right - right.mean(axis=-1, keepdims=True)
    scale = np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        result = np.where(scale > 0, (x * y).sum(axis=-1) / scale, np.nan)
    return np.asarray(np.clip(result, -1.0, 1.0))


def spearman(left: Array, right: Array) -> Array:
    """Spearman's correlation along the last axis, (...)."""
    return correlation(ranks(left), ranks(right))


def partial_spearman(left: Array, right: Array, controls: Array) -> Array:
    """Correlation of the ranks left after a linear fit to the controls' ranks, (...).

    `controls` is (c, ..., n). NaN where nothing is left of a side.
    """
    design = np.stack([np.ones(left.shape), *ranks(controls)], axis=-1)
    sides = np.stack([ranks(left), ranks(right)], axis=-1)
    residual = sides - design @ (np.linalg.pinv(design) @ sides)
    size = np.abs(sides - sides.mean(axis=-2, keepdims=True)).max(axis=-2)
    gone = (np.abs(residual).max(axis=-2) <= 1e-9 * np.maximum(size, 1.0)).any(axis=-1)
    return np.where(gone, np.nan, correlation(residual[..., 0], residual[..., 1]))


def kendall(left: Array, right: Array) -> tuple[float, float]:
    """Kendall's tau-b of (n,) and (n,), and its two-sided p by the normal approximation."""
    found = _stats().kendalltau(left, right, method="asymptotic")
    return float(found.statistic), float(found.pvalue)


def correlation_p(value: float, size: int) -> float:
    """Two-sided p of no correlation by Fisher's transformation; NaN where undefined."""
    if size < 4 or np.isnan(value):
        return float("nan")
    if abs(value) >= 1:
        return 0.0
    return erfc(abs(float(np.arctanh(value)) * sqrt(size - 3)) / sqrt(2))


def top(values: Array, share: float) -> Mask:
    """The ceil(share n) largest of (n,), ties to the earlier; NaN comes last."""
    result = np.zeros(len(values), dtype=bool)
    result[np.argsort(-values, kind="stable")[: share_size(share, len(values))]] = True
    return result


def share_size(share: float, size: int) -> int:
    """ceil(share * size), of which rounding errors do not make one more."""
    return ceil(share * size - 1e-9)


def jaccard(left: Array, right: Array, share: float = 0.2) -> float:
    """Overlap of the top shares of (n,) and (n,), ties to the earlier; NaN of nothing."""
    one, other = top(left, share), top(right, share)
    return float((one & other).sum() / (one | other).sum()) if one.any() else float("nan")


def hypergeometric_tail(overlap: int, items: int, left: int, right: int) -> float:
    """P(X >= overlap) for the overlap of random sets of `left` and `right` among `items`."""
    return float(_stats().hypergeom.sf(overlap - 1, items, left, right))


def weighted_ranks(values: Array, weights: Array) -> Array:
    """Ranks (B, N) of values (N,) among items that occur weights (B, N) times, ties averaged."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    sizes = np.add.reduceat(weights[:, order], starts, axis=1)
    ends = np.cumsum(sizes, axis=1)
    middle = ends - (sizes - 1) / 2
    group = np.cumsum(np.bincount(starts, minlength=len(values))) - 1
    result = np.empty(weights.shape)
    result[:, order] = middle[:, group]
    return result


def weighted_correlations(columns: list[Array], weights: Array) -> Array:
    """Correlation matrices (B, C, C) of columns (B, N) under weights (B, N); NaN if constant."""
    total = weights.sum(axis=1, keepdims=True)
    centred = np.stack([c - (weights * c).sum(axis=1, keepdims=True) / total for c in columns], 1)
    covariance = np.einsum("bcn,bn,bdn->bcd", centred, weights, centred, optimize=True)
    spread = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(covariance / (spread[:, :, None] * spread[:, None, :]))


def partial_of(matrices: Array) -> Array:
    """The correlation of the first two columns with the others controlled, (B,)."""
    result = np.full(len(matrices), np.nan)
    fine = np.asarray(np.isfinite(matrices).all(axis=(1, 2)))
    fine[fine] = np.linalg.cond(matrices[fine]) < 1e12
    inverse = np.linalg.inv(matrices[fine])
    result[fine] = -inverse[:, 0, 1] / np.sqrt(inverse[:, 0, 0] * inverse[:, 1, 1])
    return result


def weighted_overlap(left: Array, right: Array, weights: Array, share: float) -> Array:
    """Jaccard index (B,) of the top share of two values (N,) under weights (B, N)."""
    wanted = np.ceil(share * weights.sum(axis=1, keepdims=True) - 1e-9)
    both = np.minimum(_top(left, weights, wanted), _top(right, weights, wanted)).sum(axis=1)
    return np.asarray(both / (2 * wanted[:, 0] - both))


def _top(values: Array, weights: Array, wanted: Array) -> Array:
    order = np.argsort(-values, kind="stable")
    weight = weights[:, order]
    reached = np.cumsum(weight, axis=1)
    result = np.empty(weights.shape)
    result[:, order] = np.clip(weight - np.maximum(reached - wanted, 0.0), 0.0, None)
    return result
