"""The kernel's numbers for one short row of samples, in plain floats.

The lazy search looks at one candidate at a time, and a call of numpy costs more than the arithmetic
of a few samples. The formulas, and the branches for small and large beta, are those of `kernel`;
the results agree to the last few bits.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from darc.core.kernel import EXPM1_BELOW, LARGEST, SERIES_BELOW

NAN = math.nan


class RowSummary(NamedTuple):
    """What one row of samples says; NaN where it is undefined."""

    value: float
    mean: float
    sigma: float
    risk_premium: float


NOTHING = RowSummary(NAN, NAN, NAN, NAN)


def summary(samples: Sequence[float], beta: float, fill: float = 0.0, times: int = 0) -> RowSummary:
    """The `RowSummary` of the samples and `times` more that equal `fill`. O(len(samples))."""
    count = len(samples) + times
    if not count:
        return NOTHING
    low = min(samples) if samples else fill
    if times and fill < low:
        low = fill
    rest = fill - low if times else 0.0
    total, square = times * rest, times * rest * rest
    for sample in samples:
        distance = sample - low
        total += distance
        square += distance * distance
    offset = total / count
    variance = abs(square / count - offset * offset)
    rate = min(beta, LARGEST)
    # beta times the span, squared, at most; see `Columns.near_mean`.
    reach = 2.0 * variance * count * rate * rate
    if rate == 0 or reach < SERIES_BELOW * SERIES_BELOW:
        above = offset - 0.5 * rate * variance
    elif reach < EXPM1_BELOW * EXPM1_BELOW:
        growth = times * math.expm1(-rate * rest)
        for sample in samples:
            growth += math.expm1(-rate * (sample - low))
        above = -math.log1p(growth / count) / rate
    else:
        decay = times * math.exp(-rate * rest)
        for sample in samples:
            decay += math.exp(-rate * (sample - low))
        above = abs(math.log(decay / count) / rate)
    above = min(above, offset)
    if count == 1:
        return RowSummary(low + above, low + offset, NAN, NAN)
    whole = count * count
    sigma = math.sqrt(variance * (whole / (whole - count)))
    return RowSummary(low + above, low + offset, sigma, offset - above)


def with_fill(known: RowSummary, fill: float, rest: float, beta: float) -> RowSummary:
    """The summary with a share `rest` of further samples that equal `fill`; sigma is left out."""
    rate = min(beta, LARGEST)
    mean = known.mean + rest * (fill - known.mean)
    rise = fill - known.value
    away = rate * rise
    if abs(away) < SERIES_BELOW:
        value = known.value + rest * rise * (1 - 0.5 * (1 - rest) * away)
    else:
        value = known.value - math.log1p(rest * math.expm1(-away)) / rate
    return RowSummary(value, mean, NAN, mean - value)


def hedged(parts: Sequence[RowSummary], gamma: float) -> RowSummary:
    """The summaries of the scorers as one: soft minimum, average, and largest of the spreads.

    All scorers have the same number of samples, so a number is undefined for all or for none.
    """
    if len(parts) == 1:
        return parts[0]
    value, mean, sigma, premium = zip(*parts, strict=True)
    return RowSummary(soft_minimum(value, gamma), sum(mean) / len(parts), max(sigma), max(premium))


def soft_minimum(values: Sequence[float], gamma: float) -> float:
    """The soft minimum of the scorers' numbers, NaN if they are."""
    if len(values) == 1 or math.isnan(values[0]):
        return values[0]
    return summary(values, gamma).value


def cvar(samples: Sequence[float], alpha: float, fill: float = 0.0, times: int = 0) -> float:
    """Mean of the lowest share `alpha` of the samples and `times` more that equal `fill`."""
    row = sorted([*samples, *([fill] * times)])
    tail = row[: math.ceil(alpha * len(row) * (1 - 1e-9))]
    return sum(tail) / len(tail) if tail else NAN
