"""The kernel's numbers for one short row of samples, in plain floats, and its best completion.

The lazy search looks at one candidate at a time, and a call of numpy costs more than the arithmetic
of a few samples. The formulas, and the branches for small and large beta, are those of `kernel`;
the results agree to the last few bits.

A partly seen candidate has `seen` samples and more to come, `total` in all, each at most `high`. V
is concave in the unseen samples, the risk premium and sigma are convex, and all are symmetric, so
some best completion gives every unseen sample the same number, which `best_fill_...` return. With
nothing seen the answer is `high`. Proofs: docs/design.md.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from darc.decide.statistics.kernel import EXPM1_BELOW, LARGEST, SERIES_BELOW

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
    low = min(samples, default=fill)
    rest = 0.0
    if times:
        low = min(low, fill)
        rest = fill - low
    total = times * rest
    square = times * rest * rest
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
    count_squared = count * count
    sigma = math.sqrt(variance * (count_squared / (count_squared - count)))
    return RowSummary(low + above, low + offset, sigma, offset - above)


def with_fill(seen: RowSummary, fill: float, rest: float, beta: float) -> RowSummary:
    """The summary of what is seen and of a share `rest` of samples that equal `fill`; no sigma."""
    rate = min(beta, LARGEST)
    mean = seen.mean + rest * (fill - seen.mean)
    rise = fill - seen.value
    away = rate * rise
    if abs(away) < SERIES_BELOW:
        value = seen.value + rest * rise * (1 - 0.5 * (1 - rest) * away)
    else:
        value = seen.value - math.log1p(rest * math.expm1(-away)) / rate
    return RowSummary(value, mean, NAN, mean - value)


def hedged(parts: Sequence[RowSummary], gamma: float) -> RowSummary:
    """The summaries of the scorers as one: soft minimum, average, and largest of the spreads.

    All scorers have the same number of samples, so a number is undefined for all or for none.
    """
    if len(parts) == 1:
        return parts[0]
    return RowSummary(
        value=soft_minimum([part.value for part in parts], gamma),
        mean=sum([part.mean for part in parts]) / len(parts),
        sigma=max([part.sigma for part in parts]),
        risk_premium=max([part.risk_premium for part in parts]),
    )


def soft_minimum(values: Sequence[float], gamma: float) -> float:
    """The soft minimum of the scorers' numbers, NaN if they are."""
    if len(values) == 1 or math.isnan(values[0]):
        return values[0]
    return summary(values, gamma).value


def cvar(samples: Sequence[float], alpha: float, fill: float = 0.0, times: int = 0) -> float:
    """Mean of the lowest share `alpha` of the samples and `times` more that equal `fill`."""
    row = sorted([*samples, *([fill] * times)])
    tail = row[: math.ceil(alpha * len(row) * (1 - 1e-9))]
    if not tail:
        return NAN
    return sum(tail) / len(tail)


NEWTON_STEPS = 8
# Newton's next step would be about the square of this.
CONVERGED = 1e-4


def best_fill_penalty(
    value: float, seen: int, total: int, high: float, beta: float, lam: float
) -> float:
    """The fill that maximises V - lam RP, given the value of what is seen.

    Stationary where exp(-beta x) is lam seen / (total + lam seen) of the seen average.
    """
    if seen == 0 or lam == 0 or beta == 0:
        return high
    return min(high, value + math.log1p(total / (lam * seen)) / beta)


def best_fill_tau(
    value: float, premium: float, seen: int, total: int, high: float, beta: float, limit: float
) -> float:
    """The largest fill whose risk premium is at most `limit`, or the value where none is.

    At x = value + t the premium is (seen/total) RP + (unseen/total) t + log((seen + unseen
    exp(-beta t))/total)/beta: convex and rising in t, so Newton's steps from above stay above the
    root, and stopping early can only make the bound too large. An undefined premium counts as 0.
    """
    if seen == 0 or beta == 0:
        return high
    least = 0.0
    if not math.isnan(premium):
        least = seen / total * premium
    rest = (total - seen) / total
    rate = min(beta, LARGEST)
    rise = max(high - value, 0.0)
    for _ in range(NEWTON_STEPS):
        decay = math.expm1(-rate * rise)
        excess = least + rest * rise + math.log1p(rest * decay) / rate - limit
        slope = rest * (1 - (1 + decay) / (1 + rest * decay))
        if excess <= 0 or slope <= 0:
            break
        step = excess / slope
        rise = max(rise - step, 0.0)
        if step <= CONVERGED * rise:
            break
    return min(value + rise, high)


def best_fill_lcb(
    mean: float, sigma: float, seen: int, total: int, high: float, lam: float
) -> float:
    """The fill that maximises mean - lam sigma; an undefined sigma counts as 0."""
    rest = (total - seen) / total
    cross = seen * rest
    excess = lam * lam * cross - rest * rest * (total - 1)
    if seen == 0 or excess <= 0:
        return high
    square = 0.0
    if not math.isnan(sigma):
        square = sigma * sigma * (seen - 1)
    return min(mean + rest * math.sqrt((total - 1) * square / (cross * excess)), high)
