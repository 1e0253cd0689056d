"""Rank statistics: ranks, correlations of ranks, overlaps of top shares."""

from math import ceil, lgamma

import numpy as np

from darc.typing import Array, Mask

BLOCK = 2048


def ranks(values: Array) -> Array:
    """Ranks from 1 along the last axis, (..., n), ties sharing their average. O(n log n)."""
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    starts = np.ones(values.shape, dtype=bool)
    starts[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    place = np.arange(values.shape[-1])
    first = np.maximum.accumulate(np.where(starts, place, 0), axis=-1)
    ends = np.ones(values.shape, dtype=bool)
    ends[..., :-1] = starts[..., 1:]
    last = np.where(ends, place, values.shape[-1] - 1)
    last = np.minimum.accumulate(last[..., ::-1], axis=-1)[..., ::-1]
    result = np.empty(values.shape)
    np.put_along_axis(result, order, (first + last) / 2 + 1.0, axis=-1)
    return result


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


def kendall(left: Array, right: Array) -> float:
    """Kendall's tau-b of (n,) and (n,); NaN where one side is constant. O(n^2), in blocks."""
    concordance, ties = 0.0, np.zeros(2)
    for start in range(0, len(left), BLOCK):
        part = slice(start, start + BLOCK)
        x = np.sign(left[part, None] - left[None, :])
        y = np.sign(right[part, None] - right[None, :])
        concordance += float((x * y).sum())
        ties += [np.count_nonzero(x), np.count_nonzero(y)]
    scale = float(np.sqrt(ties[0] * ties[1]))
    return concordance / scale if scale else float("nan")


def kendall_p(left: Array, right: Array) -> float:
    """Two-sided p of tau-b = 0 by the normal approximation with ties; NaN where undefined."""
    n = len(left)
    tau = kendall(left, right)
    if n < 3 or np.isnan(tau):
        return float("nan")
    pairs = n * (n - 1) / 2
    sums = []
    for side in (left, right):
        counts = np.unique(side, return_counts=True)[1].astype(np.float64)
        sums.append(
            [
                (counts * (counts - 1)).sum() / 2,
                (counts * (counts - 1) * (counts - 2)).sum(),
                (counts * (counts - 1) * (2 * counts + 5)).sum(),
            ]
        )
    (tie_x, x0, x1), (tie_y, y0, y1) = sums
    score = tau * np.sqrt((pairs - tie_x) * (pairs - tie_y))
    m = n * (n - 1.0)
    variance = (m * (2 * n + 5) - x1 - y1) / 18 + 2 * tie_x * tie_y / m
    variance += x0 * y0 / (9 * m * (n - 2))
    return normal_tail(float(score / np.sqrt(variance)))


def correlation_p(value: float, size: int) -> float:
    """Two-sided p of no correlation by Fisher's transformation; NaN where undefined."""
    if size < 4 or np.isnan(value):
        return float("nan")
    if abs(value) >= 1:
        return 0.0
    return normal_tail(float(np.arctanh(value) * np.sqrt(size - 3)))


def normal_tail(z: float) -> float:
    """Two-sided tail of the normal distribution."""
    from math import erfc, sqrt

    return erfc(abs(z) / sqrt(2))


def top(values: Array, share: float) -> Mask:
    """The ceil(share n) largest of (n,), ties to the earlier; NaN comes last."""
    size = share_size(share, len(values))
    order = np.argsort(-np.where(np.isnan(values), -np.inf, values), kind="stable")
    result = np.zeros(len(values), dtype=bool)
    result[order[:size]] = True
    return result


def share_size(share: float, size: int) -> int:
    """ceil(share * size), of which rounding errors do not make one more."""
    return ceil(share * size - 1e-9)


def hypergeometric_tail(overlap: int, items: int, left: int, right: int) -> float:
    """P(X >= overlap) for the overlap of random sets of `left` and `right` among `items`."""
    lowest, highest = max(0, left + right - items), min(left, right)
    whole = _log_binomial(items, right)
    return min(
        1.0,
        sum(
            float(np.exp(_log_binomial(left, k) + _log_binomial(items - left, right - k) - whole))
            for k in range(max(overlap, lowest), highest + 1)
        ),
    )


def _log_binomial(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
