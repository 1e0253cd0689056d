"""The one place where samples become sums.

Columns of samples go in, a few numbers per column come out. Everything is measured from the
column's own minimum: `distance = R - min` is exact for close numbers, so neither a large offset nor
a small beta loses digits, and the sum of squares about the minimum loses at most a factor 2n of the
last bit, since the minimum and the maximum are in it. Samples lie along the first axis, so that
every loop of numpy runs over neighbouring columns.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from darc.typing import Array

# A larger beta counts as this one, so that products with it stay finite.
LARGEST = 1e300
# Where beta times the span of the samples is smaller, the value is a series, or uses expm1.
SERIES_BELOW = 1e-8
EXPM1_BELOW = 0.03
# Differences of a smaller share of the samples are rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Columns:
    """Samples by column, (n, ...), as distances above each column's minimum.

    A column's numbers are the same whether or not others have gaps.
    """

    #: The distances, (n, ...); 0 for a missing sample.
    distance: Array
    #: Each sample's weight, (n, ...), 0 for a missing one; None where all n count alike.
    mass: Array | None
    #: The number of samples, (...) or a scalar array.
    count: Array
    #: The sum of the masses, (...) or a scalar array.
    total: Array
    #: The minimum, (...), NaN for a column without samples, as are the next two.
    low: Array
    #: The mean distance, (...).
    offset: Array
    #: The variance (ddof = 0), (...).
    variance: Array
    #: Memory of the shape of the distances, to be overwritten.
    scratch: Array | None = None

    @property
    def share(self) -> Array | None:
        """Each sample's probability (n, ...), or None where all n count alike."""
        if self.mass is None:
            return None
        return self.mass / self.total

    @property
    def sigma(self) -> Array:
        """Standard deviation (...) with ddof = 1 (unbiased for weights); NaN for one sample."""
        total_squared = self.total * self.total
        unbiased = total_squared - self.total
        if self.mass is not None:
            square = np.multiply(self.mass, self.mass, out=self.scratch)
            unbiased = total_squared - np.add.reduce(square, axis=0)
        is_defined = (self.count > 1) & (unbiased > 0)
        variance = self.variance * (total_squared / np.where(is_defined, unbiased, np.nan))
        return np.sqrt(variance, out=variance)

    def soft_minimum(self, beta: Array, out: Array | None = None) -> Array:
        """The entropic value less the minimum of each column, with one pass of exp.

        Args:
            beta: Risk aversion; broadcasts to (...).
            out: Memory for the exponents: the distances themselves, where they are not needed
                again. By default the scratch memory.

        Returns:
            V_beta - min, (...), within [0, offset].
        """
        rate = np.minimum(beta, LARGEST)
        if out is None:
            out = self.scratch
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            column_rate = rate
            if rate.size > 1:
                # numpy's loops over a rate for every column are longer than over one per scorer.
                column_rate = np.broadcast_to(rate, self.low.shape).copy()
            exponent = np.multiply(self.distance, -column_rate, out=out)
            near = np.flatnonzero(self._span_below(EXPM1_BELOW, rate))
            closer = None
            if near.size:
                closer = self._closer(exponent, rate, near)
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
        """Where rate times the span is certainly below a limit, (...)."""
        return np.asarray(self.variance < 0.5 * limit * limit / (self.count * (rate * rate)))

    def _closer(self, exponent: Array, rate: Array, near: NDArray[np.intp]) -> Array:
        """V_beta - min of the columns that are near the mean, given by their places."""
        tiny = self._span_below(SERIES_BELOW, rate).reshape(-1)[near]
        near_rate = self._picked(rate, near)
        near_mass = None
        if self.mass is not None:
            near_mass = _flat_columns(self.mass)[:, near]
        growth = np.expm1(_flat_columns(exponent)[:, near])
        log_mean = np.log1p(_average(growth, near_mass, self._picked(self.total, near)))
        variance = self._picked(self.variance, near)
        series = self._picked(self.offset, near) - 0.5 * near_rate * variance
        return np.where(tiny, series, -log_mean / np.where(tiny, 1.0, near_rate))

    def _picked(self, array: Array, near: NDArray[np.intp]) -> Array:
        """The array's numbers for some columns, or the one number that it has for all."""
        if array.size == 1:
            return array.reshape(())
        return np.broadcast_to(array, self.low.shape).reshape(-1)[near]

    def average(self, values: Array) -> Array:
        """Mean (...) over the samples of values (n, ...), as the samples are weighted."""
        return _average(values, self.mass, self.total)


def _flat_columns(array: Array) -> Array:
    """An array (n, ...) as (n, columns)."""
    return array.reshape(len(array), -1)


def _average(values: Array, mass: Array | None, total: Array, out: Array | None = None) -> Array:
    """The mean of values (n, ...) over the first axis, weighted by masses if there are any."""
    if mass is not None:
        values = np.multiply(values, mass, out=out)
    sums = np.add.reduce(values, axis=0)
    return np.asarray(np.divide(sums, total, out=sums))


def columns(samples: Array, weights: Array | None = None) -> Columns:
    """`Columns` of samples (rows, n), NaN for missing ones; weights is (rows, n) or None."""
    by_sample = np.array(samples.T, order="C")
    if weights is None:
        return by_column(by_sample)
    return by_column(by_sample, weights.T)


def by_column(
    samples: Array, weights: Array | None = None, scratch: Array | None = None
) -> Columns:
    """`Columns` of samples (n, ...), NaN for missing ones; weights is (n, ...) or None.

    The samples are overwritten by their distances, and the result keeps using `scratch`, memory of
    the same shape. O(n) per column.
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
    """`Columns` of samples with gaps or weights."""
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
    offset[empty] = np.nan
    variance[empty] = np.nan
    return Columns(distance, mass, count, total, low, offset, variance, scratch)
