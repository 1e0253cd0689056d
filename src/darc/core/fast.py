"""The statistics of large arrays without gaps as machine code: one pass over memory.

The formulas are those of `kernel` and `normalization`, and the results agree to the last few bits.
Columns lie side by side here too, so that every loop becomes vector instructions; exp and log are
polynomials, since calls into the mathematical library would keep them scalar.
"""

import math
from collections.abc import Callable
from decimal import Decimal
from typing import ParamSpec, TypeVar

import numpy as np
from numba import config, njit, types
from numpy.typing import NDArray

from darc.core.kernel import EXPM1_BELOW, LARGEST, SERIES_BELOW
from darc.core.normalization import ROUNDING, Kind

Array = NDArray[np.float64]
Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")

BLOCK_SAMPLES = 4608
FIXED, PROMPT = int(Kind.FIXED), int(Kind.PROMPT)
LOW, OFFSET, VARIANCE, RATE, FACTOR, ABOVE = range(6)

LOWEST = -700.0
# Taylor coefficients from the highest power down, enough of them for the last bit.
EXP = tuple(1.0 / math.factorial(k) for k in range(13, -1, -1))
ATANH = tuple(1.0 / (2 * k + 1) for k in range(10, 0, -1))
LOG2_E = 1.0 / math.log(2.0)
# log 2 in two parts, the first so short that whole multiples of it are exact.
LN2_HIGH = math.floor(math.log(2.0) * 2.0**32) / 2.0**32
LN2_LOW = float(Decimal(2).ln() - Decimal(LN2_HIGH))
# Adding it rounds to a whole number k and leaves k + 1023, the exponent of 2^k, in the last bits.
ROUNDER = 1.5 * 2.0**52 + 1023.0
# A whole number in the last bits of 2^52 is that number above 2^52.
WHOLE = 2.0**52
WHOLE_BITS = 1075 << 52
ONE_BITS = 1023 << 52
FRACTION_BITS = (1 << 52) - 1

if config.DISABLE_JIT:
    raise RuntimeError("NUMBA_DISABLE_JIT is set")


def compiled(
    signature: object = None, reorder: bool = False
) -> Callable[[Callable[Parameters, Returned]], Callable[Parameters, Returned]]:
    """A decorator to machine code that runs beside other threads.

    A function with a signature is compiled at once, with all it calls, and kept on disk. `reorder`
    lets a sum of numbers that are not NaN be added in any order, and is for nothing else: it would
    also let (low - base) + offset lose the digits that it is there to keep.
    """
    freedom = {"contract", "reassoc", "nnan", "nsz"} if reorder else {"contract"}
    kept = signature is not None
    return njit(signature, cache=kept, nogil=True, error_model="numpy", fastmath=freedom)


@compiled()
def exp_negative(x: float) -> float:
    """exp(x) for x <= 0 within 2e-16 of it; 1e-304 below -700."""
    x = max(x, LOWEST)
    shifted = x * LOG2_E + ROUNDER
    k = shifted - ROUNDER
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    p = 0.0
    for coefficient in EXP:
        p = p * r + coefficient
    return p * np.int64(np.float64(shifted).view(np.int64) << 52).view(np.float64)


@compiled()
def log_positive(y: float) -> float:
    """log(y) for normal y > 0 within 4e-16 of it."""
    bits = np.float64(y).view(np.int64)
    k = np.int64((bits >> 52) | WHOLE_BITS).view(np.float64) - (WHOLE + 1023.0)
    m = np.int64((bits & FRACTION_BITS) | ONE_BITS).view(np.float64)
    large = m > 1.4142135623730951
    m = 0.5 * m if large else m
    k = k + 1.0 if large else k
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = 0.0
    for coefficient in ATANH:
        p = p * z + coefficient
    return k * LN2_HIGH + (k * LN2_LOW + 2.0 * (s + s * (z * p)))


@compiled()
def moments(distance: Array, columns: Array, count: int) -> bool:
    """Whether no sample (n, count) is NaN; overwrites them by their distances above the lowest.

    Lowest sample, mean distance and variance (ddof = 0) go to the first rows of `columns`.
    """
    size = len(distance)
    low, offset, variance = columns[LOW], columns[OFFSET], columns[VARIANCE]
    for c in range(count):
        low[c] = distance[0, c]
        offset[c] = variance[c] = 0.0
    for i in range(1, size):
        for c in range(count):
            low[c] = min(low[c], distance[i, c])
    for i in range(size):
        for c in range(count):
            height = distance[i, c] - low[c]
            distance[i, c] = height
            offset[c] += height
            variance[c] += height * height
    missing = 0
    for c in range(count):
        missing += offset[c] != offset[c]  # NaN differs from itself
        offset[c] /= size
        variance[c] = max(variance[c] / size - offset[c] * offset[c], 0.0)
    return missing == 0


@compiled()
def soft_minimum(distance: Array, columns: Array, count: int) -> None:
    """Write V - min of every column of distance (n, count) to the row ABOVE of `columns`."""
    size = len(distance)
    offset, variance = columns[OFFSET], columns[VARIANCE]
    rate, above = columns[RATE], columns[ABOVE]
    for c in range(count):
        above[c] = 0.0
    for i in range(size):
        for c in range(count):
            above[c] += exp_negative(distance[i, c] * -rate[c])
    near = 0
    for c in range(count):
        above[c] = min(max(log_positive(above[c] / size) / -rate[c], 0.0), offset[c])
        near += span(variance[c], rate[c], size) < EXPM1_BELOW * EXPM1_BELOW
    if near > 0:
        for c in range(count):
            if span(variance[c], rate[c], size) < EXPM1_BELOW * EXPM1_BELOW:
                above[c] = near_mean(distance, c, rate[c], offset[c], variance[c])


@compiled()
def span(variance: float, rate: float, size: int) -> float:
    """At least the square of rate times the span of a column."""
    return variance * (2.0 * size) * rate * rate


@compiled()
def near_mean(distance: Array, c: int, rate: float, offset: float, variance: float) -> float:
    """V - min of column c, whose rate * span is small."""
    size = len(distance)
    if span(variance, rate, size) < SERIES_BELOW * SERIES_BELOW:
        return max(offset - 0.5 * rate * variance, 0.0)
    total = 0.0
    for i in range(size):
        total += math.expm1(distance[i, c] * -rate)
    return min(max(-math.log1p(total / size) / rate, 0.0), offset)


@compiled(reorder=True)
def sum_of(values: Array, start: int, stop: int) -> float:
    """The sum of the values from start to stop."""
    total = 0.0
    for c in range(start, stop):
        total += values[c]
    return total


@compiled()
def pooled(columns: Array, start: int, stop: int, size: int) -> tuple[float, float, float]:
    """Lowest sample, mean above it, and deviation (ddof = 1) of one scorer's candidates."""
    low, offset, variance = columns[LOW], columns[OFFSET], columns[VARIANCE]
    height = columns[RATE]
    base = low[start]
    for c in range(start, stop):
        base = min(base, low[c])
    for c in range(start, stop):
        height[c] = (low[c] - base) + offset[c]
    center = sum_of(height, start, stop) / (stop - start)
    for c in range(start, stop):
        height[c] = variance[c] + (height[c] - center) * (height[c] - center)
    square = sum_of(height, start, stop) / (size * (stop - start) - 1)
    return base, center, math.sqrt(size * square)


@compiled()
def normalize(
    columns: Array,
    start: int,
    stop: int,
    size: int,
    beta: float,
    kind: int,
    units: tuple[float, float],
) -> tuple[float, float, bool]:
    """Location, scale and constancy of the scorer of columns start to stop, put on that scale.

    `units` are the constants of kind FIXED.
    """
    low, rate, factor = columns[LOW], columns[RATE], columns[FACTOR]
    base, center, scale, constant = 0.0, 0.0, 1.0, False
    if kind == FIXED:
        base, scale = units
    elif kind == PROMPT:
        base, center, scale = pooled(columns, start, stop, size)
        constant = scale <= ROUNDING * max(abs(base), abs(base + center))
        scale = 1.0 if constant else scale
    raw_rate = min(beta / scale, LARGEST)
    multiplier = 0.0 if constant else 1.0 / scale
    for c in range(start, stop):
        low[c] = (low[c] - base) - center
        rate[c] = raw_rate
        factor[c] = multiplier
    return base + center, scale, constant


@compiled()
def write_each(columns: Array, count: int, size: int, each: Array, first: int) -> None:
    """Write value, mean, sigma and risk premium of the columns to each (4, P M K)."""
    low, offset, variance = columns[LOW], columns[OFFSET], columns[VARIANCE]
    factor, above = columns[FACTOR], columns[ABOVE]
    value, mean, sigma, premium = each[0], each[1], each[2], each[3]
    correction = size / (size - 1.0)
    for c in range(count):
        value[first + c] = (low[c] + above[c]) * factor[c]
        mean[first + c] = (low[c] + offset[c]) * factor[c]
        sigma[first + c] = math.sqrt(variance[c] * correction) * factor[c]
        premium[first + c] = (offset[c] - above[c]) * factor[c]


@compiled()
def hedge(
    each: Array,
    hedged: Array,
    prompts: tuple[int, int],
    shape: tuple[int, int],
    gamma: float,
    distance: Array,
    columns: Array,
) -> None:
    """Write each (4, P M K), aggregated over the scorers, to hedged (4, P K); shape is (M, K)."""
    start, stop = prompts
    scorers, candidates = shape
    count = (stop - start) * candidates
    low, rate, above = columns[LOW], columns[RATE], columns[ABOVE]
    for p in range(start, stop):
        for m in range(scorers):
            source, target = (p * scorers + m) * candidates, (p - start) * candidates
            for k in range(candidates):
                distance[m, target + k] = each[0, source + k]
    for c in range(count):
        rate[c] = min(gamma, LARGEST)
    moments(distance[:scorers], columns, count)
    soft_minimum(distance[:scorers], columns, count)
    for c in range(count):
        hedged[0, start * candidates + c] = low[c] + above[c]
    for p in range(start, stop):
        target, source = p * candidates, p * scorers * candidates
        for q in range(1, 4):
            for k in range(candidates):
                hedged[q, target + k] = each[q, source + k]
        for m in range(1, scorers):
            other = source + m * candidates
            for k in range(candidates):
                hedged[1, target + k] += each[1, other + k]
                hedged[2, target + k] = max(hedged[2, target + k], each[2, other + k])
                hedged[3, target + k] = max(hedged[3, target + k], each[3, other + k])
        for k in range(candidates):
            hedged[1, target + k] /= scorers


SIGNATURE = types.boolean(
    types.Array(types.float64, 2, "C", readonly=True),
    types.UniTuple(types.int64, 2),
    types.UniTuple(types.int64, 2),
    types.float64,
    types.float64,
    types.int64,
    types.float64[:, ::1],
    types.float64[:, ::1],
    types.float64[:, ::1],
    types.boolean[::1],
)


@compiled(SIGNATURE)
def fill(
    samples: Array,
    prompts: tuple[int, int],
    shape: tuple[int, int],
    beta: float,
    gamma: float,
    kind: int,
    each: Array,
    hedged: Array,
    units: Array,
    constant: NDArray[np.bool_],
) -> bool:
    """Whether no sample of the prompts (start, stop) is NaN; if so their statistics are written.

    samples are (P M K, n) with n at least 2, shape is (M, K), each (4, P M K), hedged (4, P K),
    units (2, P M) and constant (P M,), as in `statistics.Result`. O(n) a candidate and scorer.
    """
    start, stop = prompts
    scorers, candidates = shape
    size, one = samples.shape[1], scorers * candidates
    step = max(1, BLOCK_SAMPLES // (one * size))
    distance = np.empty((max(size, scorers), step * one))
    columns = np.empty((6, step * one))
    for first in range(start, stop, step):
        last = min(first + step, stop)
        count = (last - first) * one
        for c in range(count):
            for i in range(size):
                distance[i, c] = samples[first * one + c, i]
        if not moments(distance[:size], columns, count):
            return False
        for p in range(first, last):
            for m in range(scorers):
                place = p * scorers + m
                begin = (p - first) * one + m * candidates
                end = begin + candidates
                fixed = units[0, place], units[1, place]
                found = normalize(columns, begin, end, size, beta, kind, fixed)
                units[0, place], units[1, place], constant[place] = found
        soft_minimum(distance[:size], columns, count)
        write_each(columns, count, size, each, first * one)
        if scorers > 1:
            hedge(each, hedged, (first, last), shape, gamma, distance, columns)
    return True
