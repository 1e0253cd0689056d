"""Rank correlation and overlap of the largest, with ties."""

import numpy as np

from darc.typing import Array


def ranks(numbers: Array) -> Array:
    """Ranks from 1, ties sharing their mean, (N,). O(N log N)."""
    _, inverse, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2.0)[inverse], dtype=np.float64)


def spearman(one: Array, other: Array) -> float:
    """Spearman's rank correlation; NaN where one of the two does not vary."""
    left, right = (ranks(numbers) - (len(numbers) + 1) / 2.0 for numbers in (one, other))
    size = float(np.sqrt((left @ left) * (right @ right)))
    return float(left @ right) / size if size > 0 else float("nan")


def jaccard(one: Array, other: Array, share: float = 0.2) -> float:
    """Overlap of the largest ceil(share N) by two measures, ties by position; NaN of nothing."""
    size = int(np.ceil(share * len(one) - 1e-9))
    tops = [set(np.argsort(-numbers, kind="stable")[:size].tolist()) for numbers in (one, other)]
    return len(tops[0] & tops[1]) / len(tops[0] | tops[1]) if size else float("nan")
