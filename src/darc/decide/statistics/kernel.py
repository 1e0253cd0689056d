"""The one place where samples become sums, and the scale that several scorers are put on.

Columns of samples go in, a few numbers a column come out. Everything is measured from the column's
own minimum: `distance = R - min` is exact for close numbers, so neither a large offset nor a small
beta loses digits, and the sum of squares about the minimum loses at most a factor 2n of the last
bit, since the minimum and the maximum are in it. Samples lie along the first axis, so that every
loop of numpy runs over neighbouring columns. Scorers are normalised by the prompt's own scores, by
fixed constants, or not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from darc.errors import InputError
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
            # numpy's loops over a rate for every column are longer than over one a scorer.
            spread = rate if rate.size == 1 else np.broadcast_to(rate, self.low.shape).copy()
            exponent = np.multiply(self.distance, -spread, out=out)
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


Normalization = Literal["prompt", "none"] | Sequence[ArrayLike] | None

ROUNDING = 1e-12


@dataclass(frozen=True)
class Units:
    """What each scorer's samples are shifted and divided by; every array broadcasts to (M, 1, P).

    A sample becomes ((R - base) - center) * factor, base and center being apart so that scores with
    a large common offset keep their digits; `factor` is None where nothing changes, and 0 for a
    constant scorer, whose scale is 1.
    """

    base: Array
    center: Array
    scale: Array
    constant: NDArray[np.bool_]
    factor: Array | None

    @property
    def location(self) -> Array:
        """What is subtracted in all, (M, 1, P)."""
        return np.asarray(self.base + self.center)

    def rate(self, beta: float) -> Array:
        """Beta in the units of the raw samples, (M, 1, P)."""
        if self.factor is None:
            return np.full((1, 1, 1), beta)
        with np.errstate(over="ignore"):
            return np.asarray(beta / self.scale)


ZERO, ONE, NEVER = np.zeros((1, 1, 1)), np.ones((1, 1, 1)), np.zeros((1, 1, 1), dtype=bool)


def normalizer(normalize: object, scorers: int) -> Callable[[Columns], Units]:
    """What gives the `Units` of a block of columns (n, M, K, P) of M scorers.

    `normalize` is "prompt", "none", (location, scale), or None for the usual one: "prompt" with
    several scorers, "none" with one.
    """
    if normalize is None:
        normalize = "prompt" if scorers > 1 else "none"
    if isinstance(normalize, str) and normalize == "prompt":
        return prompt_units
    units = Units(ZERO, ZERO, ONE, NEVER, None)
    if not (isinstance(normalize, str) and normalize == "none"):
        location, scale = (each[:, None, None] for each in fixed_constants(normalize, scorers))
        units = Units(location, ZERO, scale, NEVER, 1.0 / scale)
    return lambda _: units


def prompt_units(table: Columns) -> Units:
    """Pooled mean and deviation (ddof = 1) of each scorer over the prompt's K n samples.

    A deviation that is only rounding, at most 1e-12 of the scores, counts as constant.
    """
    base = np.fmin.reduce(table.low, axis=1, keepdims=True)
    height, variance = (table.low - base) + table.offset, table.variance
    if table.mass is not None:
        base, height, variance = (np.nan_to_num(array) for array in (base, height, variance))
    total = table.count * height.shape[1]
    if table.count.ndim > 0:
        total = np.maximum(_over_candidates(table.count), 1.0)
    center = _over_candidates(table.count * height) / total
    height -= center
    height *= height
    height += variance
    height *= table.count
    spread = np.sqrt(_over_candidates(height) / np.maximum(total - 1.0, 1.0))
    constant = spread <= ROUNDING * np.maximum(np.abs(base), np.abs(base + center))
    scale = np.where(constant, 1.0, spread)
    return Units(base, center, scale, constant, np.where(constant, 0.0, 1.0 / scale))


def _over_candidates(array: Array) -> Array:
    return np.add.reduce(array, axis=1, keepdims=True)


def fixed_constants(constants: object, scorers: int) -> tuple[Array, Array]:
    """(location, scale) as arrays (M,), checked."""
    if (
        isinstance(constants, str)
        or not isinstance(constants, Sequence | np.ndarray)
        or len(constants) != 2
    ):
        raise InputError(
            f"normalize must be 'prompt', 'none' or (location, scale), not {constants!r}",
            "leave it out for the usual one",
        )
    try:
        location, scale = (
            np.broadcast_to(np.asarray(part, dtype=np.float64), (scorers,)) for part in constants
        )
    except (TypeError, ValueError):
        raise InputError(
            f"normalize=(location, scale) does not fit {scorers} scorers",
            "give one number, or one a scorer, for each",
        ) from None
    if not (np.isfinite(location).all() and np.isfinite(scale).all() and (scale > 0).all()):
        raise InputError("a scorer's location or scale is not usable", "scale must be above 0")
    return location, scale
