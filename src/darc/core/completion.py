"""The best completion of a partly seen candidate, for the rules that can be searched lazily.

A candidate has `seen` samples and `unseen` more to come, total = seen + unseen, all of them at most
`high`. V is concave in the unseen samples, the risk premium and sigma are convex, and all are
symmetric, so some best completion gives every unseen sample the same number: the functions return
it. All arguments broadcast; with nothing seen the answer is `high`. Proofs: docs/design.md.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from darc.core.kernel import LARGEST

Array = NDArray[np.float64]

NEWTON_STEPS = 8


def penalty(value: Array, seen: Array, total: Array, high: Array, beta: float, lam: float) -> Array:
    """The fill that maximises V - lam RP, given the value of what is seen.

    Stationary where exp(-beta x) is lam seen / (total + lam seen) of the seen average.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rise = np.log((total + lam * seen) / (lam * seen)) / beta
        fill = np.minimum(high, value + rise)
    return np.where((seen == 0) | (lam == 0) | (beta == 0), high, fill)


def tau(
    value: Array, premium: Array, seen: Array, total: Array, high: Array, beta: float, limit: float
) -> Array:
    """The largest fill whose risk premium is at most `limit`, or the value where none is.

    At x = value + t the premium is (seen/total) RP + (unseen/total) t + log((seen + unseen
    exp(-beta t))/total)/beta: convex and rising in t, so Newton's steps from above stay above the
    root, and stopping early can only make the bound too large.
    """
    known = np.where(seen == 0, high, value)
    whole = np.maximum(total, 1)
    least = np.where(seen > 0, seen / whole * np.nan_to_num(premium), 0.0)
    rest = (total - seen) / whole
    rate = min(beta, LARGEST)
    rise = np.maximum(high - known, 0.0)
    if beta > 0:
        for _ in range(NEWTON_STEPS):
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                decay = np.expm1(-rate * rise)
                excess = least + rest * rise + np.log1p(rest * decay) / rate - limit
                slope = rest * (1 - (1 + decay) / (1 + rest * decay))
                step = np.where((excess > 0) & (slope > 0), excess / slope, 0.0)
            rise = np.maximum(rise - step, 0.0)
    return np.minimum(known + rise, high)


def lcb(mean: Array, sigma: Array, seen: Array, total: Array, high: Array, lam: ArrayLike) -> Array:
    """The fill that maximises mean - lam sigma."""
    unseen = total - seen
    square = np.nan_to_num(sigma) ** 2 * np.maximum(seen - 1, 0)
    cross = seen * unseen / total
    rest = unseen / total
    weight = np.asarray(lam, dtype=np.float64) ** 2
    excess = weight * cross - rest**2 * (total - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rise = rest * np.sqrt((total - 1) * square / (cross * excess))
    free = (seen == 0) | (excess <= 0)
    return np.where(free, high, np.minimum(mean + np.where(free, 0.0, rise), high))
