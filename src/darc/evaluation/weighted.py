"""Rank correlations and overlaps of weighted items, for many weightings at once.

A bootstrap over prompts weighs every candidate by how often its prompt was drawn; equal items then
share the ranks that they would have if they were written out.
"""

import numpy as np

from darc.typing import Array


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
