"""Rank correlations and overlaps under many weightings at once.

A bootstrap over prompts weighs every candidate by how often its prompt was drawn. Equal items then
share the ranks that they would have if every item were written out as often as its weight says.
"""

from collections.abc import Sequence

import numpy as np

from darc.typing import Array


def weighted_ranks(values: Array, weights: Array) -> Array:
    """Ranks of items that occur several times, ties averaged.

    Args:
        values: The items' values (N,).
        weights: How often each item occurs (B, N).

    Returns:
        Ranks (B, N).
    """
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


def weighted_correlations(columns: Sequence[Array], weights: Array) -> Array:
    """Correlation matrices of columns under weights.

    Args:
        columns: C columns (B, N).
        weights: How often each item occurs (B, N).

    Returns:
        Matrices (B, C, C), NaN where a column is constant.
    """
    total = weights.sum(axis=1, keepdims=True)
    means = [(weights * column).sum(axis=1, keepdims=True) / total for column in columns]
    centred = np.stack([column - mean for column, mean in zip(columns, means, strict=True)], 1)
    covariance = np.einsum("bcn,bn,bdn->bcd", centred, weights, centred, optimize=True)
    spread = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(covariance / (spread[:, :, None] * spread[:, None, :]))


def partial_correlation(matrices: Array) -> Array:
    """The correlation of the first two columns with the others controlled.

    Args:
        matrices: Correlation matrices (B, C, C).

    Returns:
        Partial correlations (B,), NaN where a matrix is singular or unknown.
    """
    result = np.full(len(matrices), np.nan)
    usable = np.asarray(np.isfinite(matrices).all(axis=(1, 2)))
    usable[usable] = np.linalg.cond(matrices[usable]) < 1e12
    inverse = np.linalg.inv(matrices[usable])
    result[usable] = -inverse[:, 0, 1] / np.sqrt(inverse[:, 0, 0] * inverse[:, 1, 1])
    return result


def weighted_overlap(left: Array, right: Array, weights: Array, share: float) -> Array:
    """Jaccard index of the top shares of two values under weights.

    Args:
        left: Values (N,).
        right: Values (N,).
        weights: How often each item occurs (B, N).
        share: The share of the items that is the top.

    Returns:
        The index of each weighting (B,).
    """
    top_size = np.ceil(share * weights.sum(axis=1, keepdims=True) - 1e-9)
    left_top = _top_weights(left, weights, top_size)
    right_top = _top_weights(right, weights, top_size)
    both = np.minimum(left_top, right_top).sum(axis=1)
    return np.asarray(both / (2 * top_size[:, 0] - both))


def _top_weights(values: Array, weights: Array, top_size: Array) -> Array:
    """How much of each item's weight (B, N) is in the top, of total weight `top_size` (B, 1)."""
    order = np.argsort(-values, kind="stable")
    ordered = weights[:, order]
    reached = np.cumsum(ordered, axis=1)
    result = np.empty(weights.shape)
    result[:, order] = np.clip(ordered - np.maximum(reached - top_size, 0.0), 0.0, None)
    return result
