"""Ranks, their correlations, and overlaps of top shares."""

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
    """Ranks from 1 along the last axis, (..., n); ties share their average rank."""
    return np.asarray(_stats().rankdata(values, axis=-1), dtype=np.float64)


def correlation(left: Array, right: Array) -> Array:
    """Pearson's correlation along the last axis, (...); NaN if one side is constant."""
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
    """Correlation of the ranks that remain after a linear fit to the controls' ranks.

    Args:
        left: Values (..., n).
        right: Values (..., n).
        controls: Values (c, ..., n).

    Returns:
        The correlations (...), NaN if the controls explain a side completely.
    """
    design = np.stack([np.ones(left.shape), *ranks(controls)], axis=-1)
    sides = np.stack([ranks(left), ranks(right)], axis=-1)
    residual = sides - design @ (np.linalg.pinv(design) @ sides)
    size = np.abs(sides - sides.mean(axis=-2, keepdims=True)).max(axis=-2)
    rounding = 1e-9 * np.maximum(size, 1.0)
    explained = (np.abs(residual).max(axis=-2) <= rounding).any(axis=-1)
    return np.where(explained, np.nan, correlation(residual[..., 0], residual[..., 1]))


def kendall(left: Array, right: Array) -> tuple[float, float]:
    """Kendall's tau-b of (n,) and (n,), and its two-sided p by the normal approximation."""
    result = _stats().kendalltau(left, right, method="asymptotic")
    return float(result.statistic), float(result.pvalue)


def correlation_p(value: float, size: int) -> float:
    """Two-sided p of no correlation by Fisher's transformation.

    Args:
        value: The correlation.
        size: The number of pairs.

    Returns:
        The p-value, NaN for fewer than four pairs or an unknown correlation.
    """
    if size < 4 or np.isnan(value):
        return float("nan")
    if abs(value) >= 1:
        return 0.0
    deviations = abs(float(np.arctanh(value)) * sqrt(size - 3))
    return erfc(deviations / sqrt(2))


def top(values: Array, share: float) -> Mask:
    """The ceil(share n) largest of (n,) as a mask, ties to the earlier; NaN comes last."""
    result = np.zeros(len(values), dtype=bool)
    order = np.argsort(-values, kind="stable")
    result[order[: share_size(share, len(values))]] = True
    return result


def share_size(share: float, size: int) -> int:
    """ceil(share * size), safe against rounding errors that would make it one more."""
    return ceil(share * size - 1e-9)


def jaccard(left: Array, right: Array, share: float = 0.2) -> float:
    """Jaccard index of the top shares of (n,) and (n,), ties to the earlier; NaN for n = 0."""
    left_top = top(left, share)
    right_top = top(right, share)
    if not left_top.any():
        return float("nan")
    return float((left_top & right_top).sum() / (left_top | right_top).sum())


def hypergeometric_tail(overlap: int, items: int, left: int, right: int) -> float:
    """The probability that random sets of `left` and `right` items overlap at least this much.

    Args:
        overlap: The observed overlap.
        items: How many items both sets are drawn from.
        left: The size of one set.
        right: The size of the other set.

    Returns:
        P(X >= overlap).
    """
    return float(_stats().hypergeom.sf(overlap - 1, items, left, right))
