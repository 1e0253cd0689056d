"""Each rater beside the others: severity, agreement with the rest, constant raters, outliers.

The rule for outliers is robust, and stated: a rater is flagged whose severity is further from the
median rater's than 3.5 times sqrt(MAD^2 + se^2) and than half the noise of one rating, or whose
agreement (in Fisher's z) is as far below the median's and by 0.2 at least; MAD is the median
absolute deviation times 1.4826, se the rater's own standard error. Below five raters nobody is
flagged for either.
"""

import math
from dataclasses import dataclass

import numpy as np

from darc.diagnosis.panel import RaterPanel
from darc.typing import Array, Integers

FAR = 3.5
CONSTANT = 0.9
FEWEST_RATERS = 5
FEWEST_RATINGS = 5
FEWEST_TYPICAL = 3
_SWEEPS = 500


@dataclass(frozen=True)
class RaterReport:
    """One rater: how many ratings, how severe, how much in agreement, and what is odd.

    `severity` is how far below (negative: stricter) or above the others this rater rates the same
    candidates, `error` its standard error with prompts as units, `shrunk` its estimate drawn
    towards 0 as far as it is uncertain. `agreement` is the correlation with the mean of the others'
    ratings, each less the level of who gave it. `flags` are among "constant", "severe", "lenient"
    and "apart".
    """

    name: str
    ratings: int
    severity: float
    error: float
    shrunk: float
    agreement: float
    flags: tuple[str, ...]


def rate_raters(panel: RaterPanel) -> list[RaterReport]:
    """Every rater; none where raters are unknown, alone, or have below three ratings typically.

    O(ratings) a sweep of the additive fit.
    """
    if not panel.named or len(panel.rater_names) < 2:
        return []
    item, rater, value = panel.flat()
    size = len(panel.rater_names)
    count = np.bincount(rater, minlength=size)
    if np.median(count) < FEWEST_TYPICAL:
        return []
    severity, rest = additive(item, rater, value)
    error = _errors(panel.prompts[item] * size + rater, rater, rest, count)
    shrunk = severity * _kept(severity, error)
    agreement = _agreements(item, rater, value - severity[rater], size)
    constant = [_constant(value[rater == j]) for j in range(size)]
    if np.ptp(value) == 0:
        constant = [False] * size
    steady = np.array([not one for one in constant]) & (count >= FEWEST_RATINGS)
    far = _far(severity, error, steady, 0.5 * float(np.std(rest)))
    spread = 1 / np.sqrt(np.maximum(count - 3.0, 1.0))
    apart = _far(np.arctanh(np.clip(agreement, -0.999999, 0.999999)), spread, steady, 0.2)
    result = []
    for j, name in enumerate(panel.rater_names):
        flags = ["constant"] if constant[j] else []
        if abs(far[j]) > FAR:
            flags.append("severe" if far[j] < 0 else "lenient")
        if apart[j] < -FAR:
            flags.append("apart")
        result.append(
            RaterReport(
                name=name,
                ratings=int(count[j]),
                severity=float(severity[j]),
                error=float(error[j]),
                shrunk=float(shrunk[j]),
                agreement=float(agreement[j]),
                flags=tuple(flags),
            )
        )
    return result


def additive(item: Integers, rater: Integers, value: Array) -> tuple[Array, Array]:
    """Raters' levels, of mean 0 a rating, and what they and the candidates' means leave over.

    The least-squares fit of value = candidate + rater by alternating means, so that a rater is not
    called severe for having rated bad candidates.
    """
    items, raters = np.bincount(item), np.bincount(rater)
    level = np.zeros(raters.size)
    rest = value - (np.bincount(item, value) / items)[item]
    for _ in range(_SWEEPS):
        step = np.bincount(rater, rest) / np.maximum(raters, 1)
        level += step
        rest = rest - step[rater]
        rest = rest - (np.bincount(item, rest) / np.maximum(items, 1))[item]
        if np.abs(step).max() <= 1e-10 * max(np.ptp(value), 1e-300):
            break
    return level - np.average(level, weights=raters), rest


def _errors(cell: Integers, rater: Integers, rest: Array, count: Integers) -> Array:
    """Standard errors of the levels, whole prompts being the independent units."""
    cells, code = np.unique(cell, return_inverse=True)
    sums = np.bincount(code, rest) ** 2
    units = np.bincount(cells % count.size, minlength=count.size).astype(np.float64)
    squares = np.bincount(cells % count.size, sums, count.size)
    single = np.bincount(rater, rest**2, count.size)
    squares = np.where(units > 1, squares * units / np.maximum(units - 1, 1), single)
    return np.sqrt(squares) / np.maximum(count, 1)


def _kept(level: Array, error: Array) -> Array:
    """The share of each level that is kept: between raters against between raters plus error."""
    between = max(float(np.var(level, ddof=1) - np.mean(error**2)), 0.0)
    whole = between + error**2
    return np.divide(between, whole, out=np.zeros_like(whole), where=whole > 0)


def _agreements(item: Integers, rater: Integers, value: Array, raters: int) -> Array:
    """Correlation of each rater's ratings with the mean of the others', NaN below three pairs."""
    count = np.bincount(item)
    others = np.bincount(item, value)[item] - value
    known = count[item] >= 2
    mean = others[known] / (count[item][known] - 1)
    result = np.full(raters, math.nan)
    for j in range(raters):
        mine = rater[known] == j
        one, other = value[known][mine], mean[mine]
        if one.size >= 3 and np.ptp(one) > 0 and np.ptp(other) > 0:
            result[j] = np.corrcoef(one, other)[0, 1]
    return result


def _constant(values: Array) -> bool:
    """Whether nearly all ratings are one and the same."""
    _, counts = np.unique(values, return_counts=True)
    return values.size >= FEWEST_RATINGS and counts.max() >= CONSTANT * values.size


def _far(values: Array, error: Array, judged: np.ndarray, least: float) -> Array:
    """Distance from the median in robust deviations, 0 below `least` or where it is unknown."""
    known = ~np.isnan(values) & judged
    result = np.zeros(values.size)
    if known.sum() < FEWEST_RATERS:
        return result
    middle = float(np.median(values[known]))
    deviation = 1.4826 * float(np.median(np.abs(values[known] - middle)))
    scale = np.sqrt(deviation**2 + error**2)
    usable = known & (scale > 0) & (np.abs(values - middle) >= least)
    result[usable] = (values[usable] - middle) / scale[usable]
    return result
