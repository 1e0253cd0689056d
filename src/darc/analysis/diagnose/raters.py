"""Each rater beside the others: severity, agreement with the rest, constant raters, outliers."""

import math
from dataclasses import dataclass

import numpy as np

from darc.analysis.diagnose.panel import RaterPanel, additive
from darc.typing import Array, Integers, Mask

FAR = 3.5
CONSTANT = 0.9
FEWEST_RATERS = 5
FEWEST_RATINGS = 5
FEWEST_TYPICAL = 3


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
    # Of a level, as much is kept as raters differ beyond their errors.
    between = max(float(np.var(severity, ddof=1) - np.mean(error**2)), 0.0)
    whole = between + error**2
    kept = np.divide(between, whole, out=np.zeros_like(whole), where=whole > 0)
    agreement = _agreements(item, rater, value - severity[rater], size)
    commonest = [np.unique(value[rater == j], return_counts=True)[1].max() for j in range(size)]
    judged = count >= FEWEST_RATINGS
    constant = judged & (commonest >= CONSTANT * count) & bool(np.ptp(value))
    far = _far(severity, error, judged & ~constant, 0.5 * float(np.std(rest)))
    spread = 1 / np.sqrt(np.maximum(count - 3.0, 1.0))
    fisher = np.arctanh(np.clip(agreement, -0.999999, 0.999999))
    apart = _far(fisher, spread, judged & ~constant, 0.2)
    odd = {"constant": constant, "severe": far < -FAR, "lenient": far > FAR, "apart": apart < -FAR}
    flags = [tuple(flag for flag, has in odd.items() if has[j]) for j in range(size)]
    numbers = (each.tolist() for each in (count, severity, error, severity * kept, agreement))
    return [RaterReport(*row) for row in zip(panel.rater_names, *numbers, flags, strict=True)]


def _errors(cell: Integers, rater: Integers, rest: Array, count: Integers) -> Array:
    """Standard errors of the levels, whole prompts being the independent units."""
    cells, code = np.unique(cell, return_inverse=True)
    sums = np.bincount(code, rest) ** 2
    units = np.bincount(cells % count.size, minlength=count.size).astype(np.float64)
    squares = np.bincount(cells % count.size, sums, count.size)
    single = np.bincount(rater, rest**2, count.size)
    squares = np.where(units > 1, squares * units / np.maximum(units - 1, 1), single)
    return np.sqrt(squares) / np.maximum(count, 1)


def _agreements(item: Integers, rater: Integers, value: Array, raters: int) -> Array:
    """Correlation of each rater's ratings with the mean of the others', NaN below three pairs."""
    shared = np.bincount(item)[item]
    known = shared >= 2
    rater, own = rater[known], value[known]
    mean = (np.bincount(item, value)[item][known] - own) / (shared[known] - 1)
    result = np.full(raters, math.nan)
    for j in range(raters):
        one, other = own[rater == j], mean[rater == j]
        if one.size >= 3 and np.ptp(one) > 0 and np.ptp(other) > 0:
            result[j] = np.corrcoef(one, other)[0, 1]
    return result


def _far(values: Array, error: Array, judged: Mask, least: float) -> Array:
    """Distance from the median in deviations, sqrt((1.4826 MAD)^2 + error^2).

    0 below `least`, where it is unknown, and with fewer raters than `FEWEST_RATERS`.
    """
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
