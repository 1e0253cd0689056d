"""Values of one set of satisfaction samples: plain functions over the last axis.

Scores are (..., n) with NaN for missing samples, or a `mask` that is True where a sample exists;
`weights` are probabilities of the samples, need not sum to one, and uniform weights change nothing.
Results have the leading shape; no samples at all give NaN.
"""

import numpy as np
from numpy.typing import ArrayLike

from darc.decide.statistics.arrays import (
    as_samples,
    as_weights,
    check_level,
    check_probability,
    check_share,
)
from darc.decide.statistics.kernel import LARGEST, Columns, columns
from darc.errors import InputError
from darc.typing import Array


def mean(
    scores: ArrayLike, weights: ArrayLike | None = None, mask: ArrayLike | None = None
) -> Array:
    """Mean of the samples, (...). O(n).

    Args:
        scores: Satisfaction samples, (..., n); NaN marks a missing one.
        weights: Probabilities of the samples, broadcast to (..., n); they need not sum to one.
        mask: True where a sample exists, of the shape of the scores.

    Returns:
        The mean of each row, (...).
    """
    table, shape = _columns(scores, weights, mask)
    return (table.low + table.offset).reshape(shape)


def sigma(
    scores: ArrayLike, weights: ArrayLike | None = None, mask: ArrayLike | None = None
) -> Array:
    """Sample standard deviation (ddof = 1), (...); NaN with fewer than two samples. O(n).

    With weights w summing to 1 the variance is sum w (R - mean)^2 / (1 - sum w^2).

    Args:
        scores: Satisfaction samples, (..., n); NaN marks a missing one.
        weights: Probabilities of the samples, broadcast to (..., n); they need not sum to one.
        mask: True where a sample exists, of the shape of the scores.

    Returns:
        The standard deviation of each row, (...).
    """
    table, shape = _columns(scores, weights, mask)
    return table.sigma.reshape(shape)


def entropic_value(
    scores: ArrayLike,
    beta: float = 1.0,
    weights: ArrayLike | None = None,
    mask: ArrayLike | None = None,
) -> Array:
    """Entropic value -(1/beta) log mean exp(-beta R), (...).

    The mean at beta = 0 and the minimum at infinity, between the two otherwise, and at most
    min_i (R_i + log(1/w_i)/beta). O(n).

    Args:
        scores: Satisfaction samples, (..., n); NaN marks a missing one.
        beta: Risk aversion, from 0 up; infinity is allowed.
        weights: Probabilities of the samples, broadcast to (..., n); they need not sum to one.
        mask: True where a sample exists, of the shape of the scores.

    Returns:
        The value of each row, (...).
    """
    table, shape = _columns(scores, weights, mask)
    level = np.full(table.low.shape, check_level("beta", beta))
    return (table.low + table.soft_minimum(level)).reshape(shape)


def risk_premium(
    scores: ArrayLike,
    beta: float = 1.0,
    weights: ArrayLike | None = None,
    mask: ArrayLike | None = None,
) -> Array:
    """Mean minus entropic value, (...), never negative; NaN with fewer than two samples. O(n).

    Args:
        scores: Satisfaction samples, (..., n); NaN marks a missing one.
        beta: Risk aversion, from 0 up; infinity is allowed.
        weights: Probabilities of the samples, broadcast to (..., n); they need not sum to one.
        mask: True where a sample exists, of the shape of the scores.

    Returns:
        The premium of each row, (...).
    """
    table, shape = _columns(scores, weights, mask)
    level = np.full(table.low.shape, check_level("beta", beta))
    premium = table.offset - table.soft_minimum(level)
    return np.where(table.count > 1, premium, np.nan).reshape(shape)


def cvar(
    scores: ArrayLike,
    alpha: float = 0.1,
    weights: ArrayLike | None = None,
    mask: ArrayLike | None = None,
) -> Array:
    """Mean of the k = max(1, ceil(alpha n)) lowest samples, (...). O(n log n).

    With weights, of the lowest samples that together reach a mass of alpha.

    Args:
        scores: Satisfaction samples, (..., n); NaN marks a missing one.
        alpha: The share of samples that counts as the lowest, in (0, 1].
        weights: Probabilities of the samples, broadcast to (..., n); they need not sum to one.
        mask: True where a sample exists, of the shape of the scores.

    Returns:
        The mean of the lowest samples of each row, (...).
    """
    share = check_share("alpha", alpha)
    samples = as_samples(scores, mask)
    mass = as_weights(weights, samples.shape)
    order = np.argsort(samples, axis=-1, kind="stable")
    lowest = np.take_along_axis(samples, order, axis=-1)
    present = ~np.isnan(lowest)
    weight = present.astype(np.float64)
    if mass is not None:
        weight *= np.take_along_axis(mass, order, axis=-1)
    total = weight.sum(axis=-1, keepdims=True)
    before = np.cumsum(weight, axis=-1) - weight
    # A sample is in the tail while the mass before it has not reached alpha; the slack keeps
    # alpha * n = 7.000000000000001 from counting as 8.
    tail = np.where(before < share * total * (1 - 1e-9), weight, 0.0)
    tail_mass = tail.sum(axis=-1)
    with np.errstate(invalid="ignore"):
        result = (tail * np.where(present, lowest, 0.0)).sum(axis=-1) / tail_mass
    return np.asarray(result)


def jackknife_value(
    scores: ArrayLike,
    beta: float = 1.0,
    floor: float | None = None,
    mask: ArrayLike | None = None,
) -> Array:
    """Jackknife-corrected entropic value, (...): n V - (n - 1) mean of the leave-one-out values.

    Never above the plug-in value, which is optimistic at small n; it may fall below the smallest
    sample, so give the scale's lower end as `floor`. NaN with fewer than two samples. O(n).

    Args:
        scores: Satisfaction samples, (..., n); NaN marks a missing one.
        beta: Risk aversion, from 0 up; infinity is allowed.
        floor: The lower end of the scale, below which the value never falls.
        mask: True where a sample exists, of the shape of the scores.

    Returns:
        The corrected value of each row, (...).
    """
    level = check_level("beta", beta)
    table, shape = _columns(scores, None, mask)
    beta_column = np.full(table.low.shape, level)
    plug_in = table.soft_minimum(beta_column)
    others = _leave_one_out(table, min(level, LARGEST))
    share = table.share
    if share is None:
        share = 1.0 / table.count
    count = np.where(table.count > 1, table.count, np.nan)
    corrected = count * plug_in - (count - 1) * (share * others).sum(axis=0)
    result = table.low + np.minimum(corrected, plug_in)
    if floor is not None:
        result = np.maximum(result, floor)
    return result.reshape(shape)


def _leave_one_out(table: Columns, beta: float) -> Array:
    """Entropic value above the minimum of all samples but one, (n, columns); 0 where missing."""
    distance = table.distance
    present = np.full(distance.shape, True)
    if table.mass is not None:
        present = table.mass > 0
    remaining = np.where(table.count > 1, table.count - 1, np.nan)
    if beta == 0:
        total = (present * distance).sum(axis=0)
        return np.where(present, (total - distance) / remaining, 0.0)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        exponent = np.where(present, -beta * distance, -np.inf)
        # The sum of the others from both sides: subtracting the dominant term would cancel.
        forward = np.logaddexp.accumulate(exponent, axis=0)
        backward = np.logaddexp.accumulate(exponent[::-1], axis=0)[::-1]
        nothing = np.full((1, exponent.shape[1]), -np.inf)
        before = np.vstack([nothing, forward[:-1]])
        after = np.vstack([backward[1:], nothing])
        log_mean = np.logaddexp(before, after) - np.log(remaining)
        growth = np.where(present, np.expm1(-beta * distance), 0.0)
        near_mean = np.log1p((growth.sum(axis=0) - growth) / remaining)
        value = -np.where(table.near_mean(np.asarray(beta)), near_mean, log_mean) / beta
    return np.where(present, value, 0.0)


def bootstrap_interval(
    scores: ArrayLike,
    beta: float = 1.0,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    mask: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """Percentile bootstrap interval (low, high) of the entropic value, each (...).

    Each resample draws n of the row's own n samples. NaN with fewer than two samples.
    O(resamples * n) time and memory per row.

    Args:
        scores: Satisfaction samples, (..., n); NaN marks a missing one.
        beta: Risk aversion, from 0 up; infinity is allowed.
        confidence: The nominal coverage of the interval.
        resamples: The number of bootstrap resamples.
        seed: The seed of the resamples.
        mask: True where a sample exists, of the shape of the scores.

    Returns:
        The lower and the upper end for each row, each (...).

    Raises:
        InputError: If `resamples` is below 1.
    """
    level = check_level("beta", beta)
    check_probability("confidence", confidence)
    if resamples < 1:
        raise InputError(f"resamples must be at least 1, not {resamples}", "2000 is usual")
    samples = as_samples(scores, mask)
    generator = np.random.default_rng(seed)
    edges = [(1 - confidence) / 2, (1 + confidence) / 2]
    rows = samples.reshape(-1, samples.shape[-1])
    result = np.full((2, len(rows)), np.nan)
    for index, row in enumerate(rows):
        seen = row[~np.isnan(row)]
        if len(seen) > 1:
            resampled = seen[generator.integers(len(seen), size=(resamples, len(seen)))]
            result[:, index] = np.quantile(entropic_value(resampled, level), edges)
    low, high = result.reshape(2, *samples.shape[:-1])
    return low, high


def _columns(
    scores: ArrayLike, weights: ArrayLike | None, mask: ArrayLike | None
) -> tuple[Columns, tuple[int, ...]]:
    """The samples as columns, and the leading shape of the result."""
    samples = as_samples(scores, mask)
    mass = as_weights(weights, samples.shape)
    size = samples.shape[-1]
    if mass is not None:
        mass = mass.reshape(-1, size)
    return columns(samples.reshape(-1, size), mass), samples.shape[:-1]
