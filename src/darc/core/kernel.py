"""The one place where samples become sums: columns of samples in, a few numbers a column out.

Everything is measured from the column's own minimum: `distance = R - min` is exact for close
numbers, so neither a large offset nor a small beta loses digits, and the sum of squares about the
minimum loses at most a factor 2n of the last bit, since the minimum and the maximum are in it.
Samples lie along the first axis, so that every loop of numpy runs over neighbouring columns.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from darc.typing import Array

LARGEST = 1e300
SERIES_BELOW = 1e-8
EXPM1_BELOW = 0.03


@dataclass(frozen=True)
class Columns:
    """Samples by column, (n, ...), as distances above each column's minimum.

    `mass` is each sample's weight, or None where all n count alike; a missing sample has mass 0 and
    distance 0. `count` and `total` (the sum of the masses) are (...) or scalar arrays; `low`,
    `offset` (the mean distance) and `variance` (ddof = 0) are (...), NaN for a column without
    samples. A column's numbers are the same whether or not others have gaps.
    """

    distance: Array
    mass: Array | None
    count: Array
    total: Array
    low: Array
    offset: Array
    variance: Array
    scratch: Array | None = None

    @property
    def share(self) -> Array | None:
        """Each sample's probability (n, ...), or None where all n count alike."""
        return None if self.mass is None else self.mass / self.total

    @property
    def sigma(self) -> Array:
        """Standard deviation (...) with ddof = 1 (unbiased for weights); NaN for one sample."""
        whole = self.total * self.total
        lost = whole - self.total
        if self.mass is not None:
            square = np.multiply(self.mass, self.mass, out=self.scratch)
            lost = whole - np.add.reduce(square, axis=0)
        variance = self.variance * (whole / np.where((self.count > 1) & (lost > 0), lost, np.nan))
        return np.sqrt(variance, out=variance)

    def soft_minimum(self, beta: Array, out: Array | None = None) -> Array:
        """V_beta - min of each column, (...), within [0, offset]; beta broadcasts to (...).

        One pass of exp over the samples. `out` is memory for the exponents: the distances
        themselves, where they are not needed again.
        """
        rate = np.minimum(beta, LARGEST)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            out = self.scratch if out is None else out
            exponent = np.multiply(self.distance, self._spread_out(-rate), out=out)
            near = np.flatnonzero(self._span_below(EXPM1_BELOW, rate))
            closer = self._closer(exponent, rate, near) if near.size else None
            above = _average(np.exp(exponent, out=exponent), self.mass, self.total, out=exponent)
            np.log(above, out=above)
            np.divide(above, rate, out=above)
        np.abs(above, out=above)
        if closer is not None:
            above.reshape(-1)[near] = closer
        return np.minimum(above, self.offset, out=above)

    def near_mean(self, rate: Array) -> NDArray[np.bool_]:
        """Where beta is so small that exp loses digits: rate * span < 0.03, (...).

        The span of n samples is at most sqrt(2 n) deviations, so the test errs to the safe side.
        """
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return self._span_below(EXPM1_BELOW, rate)

    def _span_below(self, limit: float, rate: Array) -> NDArray[np.bool_]:
        return np.asarray(self.variance < 0.5 * limit * limit / (self.count * (rate * rate)))

    def _spread_out(self, rate: Array) -> Array:
        """The rate of every column, (...): numpy's loops are longer than over one a scorer."""
        return rate if rate.size == 1 else np.broadcast_to(rate, self.low.shape).copy()

    def _closer(self, exponent: Array, rate: Array, near: NDArray[np.intp]) -> Array:
        """V_beta - min of the columns that are near the mean, given by their places."""
        tiny = self._span_below(SERIES_BELOW, rate).reshape(-1)[near]
        rate, total = self._picked(rate, near), self._picked(self.total, near)
        mass = None if self.mass is None else _rows(self.mass)[:, near]
        log_mean = np.log1p(_average(np.expm1(_rows(exponent)[:, near]), mass, total))
        series = self._picked(self.offset, near) - 0.5 * rate * self._picked(self.variance, near)
        return np.where(tiny, series, -log_mean / np.where(tiny, 1.0, rate))

    def _picked(self, array: Array, near: NDArray[np.intp]) -> Array:
        """The array's numbers for some columns, or the one number that it has for all."""
        if array.size == 1:
            return array.reshape(())
        return np.broadcast_to(array, self.low.shape).reshape(-1)[near]

    def average(self, values: Array) -> Array:
        """Mean (...) over the samples of values (n, ...), as the samples are weighted."""
        return _average(values, self.mass, self.total)


def _rows(array: Array) -> Array:
    return array.reshape(len(array), -1)


def _average(values: Array, mass: Array | None, total: Array, out: Array | None = None) -> Array:
    sums = np.add.reduce(values if mass is None else np.multiply(values, mass, out=out), axis=0)
    return np.asarray(np.divide(sums, total, out=sums))


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
        return _ragged(samples, weights, scratch)
    size = len(samples)
    distance = np.subtract(samples, low, out=samples)
    offset = np.add.reduce(distance, axis=0)
    offset /= size
    scratch = np.multiply(distance, distance, out=scratch)
    variance = np.add.reduce(scratch, axis=0)
    variance /= size
    variance -= offset * offset
    np.abs(variance, out=variance)
    count = np.asarray(float(size))
    return Columns(distance, None, count, count, low, offset, variance, scratch)


def _ragged(samples: Array, weights: Array | None, scratch: Array | None) -> Columns:
    missing = np.isnan(samples)
    if weights is None:
        mass = np.subtract(1.0, missing)
    else:
        missing |= weights <= 0
        mass = np.where(missing, 0.0, weights)
        # Relative to the largest, so that equal weights are exactly none.
        largest = np.maximum.reduce(mass, axis=0)
        mass /= np.where(largest > 0, largest, 1.0)
    count = len(samples) - np.add.reduce(missing, axis=0, dtype=np.float64)
    empty = count == 0
    total = np.where(empty, 1.0, np.add.reduce(mass, axis=0))
    np.copyto(samples, np.inf, where=missing)
    low = np.minimum.reduce(samples, axis=0)
    low[empty] = np.nan
    distance = np.subtract(samples, low, out=samples)
    np.copyto(distance, 0.0, where=missing)
    scratch = np.multiply(distance, mass, out=scratch)
    offset = np.add.reduce(scratch, axis=0) / total
    scratch *= distance
    variance = np.add.reduce(scratch, axis=0) / total
    variance -= offset * offset
    np.maximum(variance, 0.0, out=variance)
    offset[empty] = variance[empty] = np.nan
    return Columns(distance, mass, count, total, low, offset, variance, scratch)
