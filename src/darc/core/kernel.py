"""The one place where samples become sums: columns of samples in, a few numbers a column out.

Everything is measured from the column's own minimum: `distance = R - min` is exact for close
numbers, so neither a large offset nor a small beta loses digits, and the sum of squares about the
minimum loses at most a factor 2n of the last bit, since the minimum and the maximum are in it.
Samples lie along the first axis, so that every loop of numpy runs over neighbouring columns.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LARGEST = 1e300
SERIES_BELOW = 1e-8
EXPM1_BELOW = 0.03


@dataclass(frozen=True)
class Columns:
    """Samples by column, (n, ...), as distances above each column's minimum.

    `share` is each sample's probability, or None where all n count alike; a missing sample has
    share 0 and distance 0. `count` is (...) or a scalar array; `low`, `offset` (the mean distance)
    and `variance` (ddof = 0) are (...), NaN for a column without samples.
    """

    distance: Array
    share: Array | None
    count: Array
    low: Array
    offset: Array
    variance: Array
    scratch: Array | None = None

    @property
    def sigma(self) -> Array:
        """Standard deviation (...) with ddof = 1 (unbiased for weights); NaN for one sample."""
        if self.share is None:
            correction = self.count / np.where(self.count > 1, self.count - 1, np.nan)
        else:
            lost = 1.0 - (self.share * self.share).sum(axis=0)
            correction = 1.0 / np.where((self.count > 1) & (lost > 0), lost, np.nan)
        variance = self.variance * correction
        return np.sqrt(variance, out=variance)

    def soft_minimum(self, beta: Array) -> Array:
        """V_beta - min of each column, (...), within [0, offset]; beta broadcasts to (...).

        One pass of exp over the samples.
        """
        rate = np.minimum(beta, LARGEST)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            exponent = np.multiply(self.distance, -rate, out=self.scratch)
            near = self.near_mean(rate)
            closer = self._closer(exponent, rate, near) if near.any() else None
            above = self.average(np.exp(exponent, out=exponent))
            np.log(above, out=above)
            np.divide(above, -rate, out=above)
        if closer is not None:
            above[near] = closer
        np.maximum(above, 0.0, out=above)
        return np.minimum(above, self.offset, out=above)

    def near_mean(self, rate: Array) -> NDArray[np.bool_]:
        """Where beta is so small that exp loses digits: (rate * span)^2 < 0.03^2, (...).

        The span of n samples is at most sqrt(2 n) deviations, so the test errs to the safe side.
        """
        return self._span_below(EXPM1_BELOW, rate)

    def _span_below(self, limit: float, rate: Array) -> NDArray[np.bool_]:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self.variance * (rate * rate * (2.0 * self.count)) < limit * limit)

    def _closer(self, exponent: Array, rate: Array, near: NDArray[np.bool_]) -> Array:
        tiny = self._span_below(SERIES_BELOW, rate)[near]
        rate = np.broadcast_to(rate, near.shape)[near]
        count = np.broadcast_to(self.count, near.shape)[near]
        share = None if self.share is None else self.share[:, near]
        log_mean = np.log1p(_average(np.expm1(exponent[:, near]), share, count))
        series = self.offset[near] - 0.5 * rate * self.variance[near]
        return np.where(tiny, series, -log_mean / np.where(tiny, 1.0, rate))

    def average(self, values: Array) -> Array:
        """Mean (...) over the samples of values (n, ...), as the samples are weighted."""
        return _average(values, self.share, self.count)


def _average(values: Array, share: Array | None, count: Array) -> Array:
    if share is None:
        total = np.add.reduce(values, axis=0)
        return np.asarray(np.divide(total, count, out=total))
    return np.asarray(np.add.reduce(values * share, axis=0))


def columns(samples: Array, weights: Array | None = None) -> Columns:
    """`Columns` of samples (rows, n), NaN for missing ones; weights is (rows, n) or None."""
    return by_column(np.array(samples.T, order="C"), None if weights is None else weights.T)


def by_column(
    samples: Array, weights: Array | None = None, scratch: Array | None = None
) -> Columns:
    """`Columns` of samples (n, ...), NaN for missing ones; weights is (n, ...) or None.

    The samples are overwritten by their distances, and the result keeps using `scratch`, memory of
    the same shape. O(n) a column.
    """
    low = np.minimum.reduce(samples, axis=0)
    if weights is not None or np.isnan(np.add.reduce(low, axis=None)):
        return _ragged(samples, weights)
    size = len(samples)
    distance = np.subtract(samples, low, out=samples)
    offset = np.add.reduce(distance, axis=0)
    offset /= size
    scratch = np.multiply(distance, distance, out=scratch)
    variance = np.add.reduce(scratch, axis=0)
    variance /= size
    variance -= offset * offset
    np.maximum(variance, 0.0, out=variance)
    return Columns(distance, None, np.asarray(float(size)), low, offset, variance, scratch)


def _ragged(samples: Array, weights: Array | None) -> Columns:
    present = ~np.isnan(samples)
    if weights is not None:
        present &= weights > 0
    mass = present.astype(np.float64) if weights is None else np.where(present, weights, 0.0)
    total = np.add.reduce(mass, axis=0)
    empty = total == 0
    share = mass / np.where(empty, 1.0, total)
    low = np.minimum.reduce(np.where(present, samples, np.inf), axis=0)
    low[empty] = np.nan
    distance = np.where(present, samples - low, 0.0)
    offset = np.add.reduce(share * distance, axis=0)
    variance = np.add.reduce(share * distance * distance, axis=0) - offset * offset
    np.maximum(variance, 0.0, out=variance)
    offset[empty] = variance[empty] = np.nan
    count = np.add.reduce(present, axis=0, dtype=np.float64)
    return Columns(distance, share, count, low, offset, variance)
