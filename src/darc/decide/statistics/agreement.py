"""Krippendorff's alpha: agreement of raters beyond chance, with missing ratings allowed.

Alpha is 1 - (observed disagreement within units) / (expected disagreement across all pairable
ratings). Each level needs a few sums per unit, so a bootstrap over units reweights those sums and
never touches the ratings again; the point estimate is the resample that draws every unit once.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from darc.decide.statistics.arrays import check_probability
from darc.errors import InputError, UnknownName
from darc.typing import Array

# Draws of all units, (resamples, units), to alphas, (resamples,).
Alphas = Callable[[Array], Array]

# Expected disagreement below this share of the sum of squares is rounding, not variation.
_ROUNDING = 1e-12
_CELLS_AT_ONCE = 1_000_000


def krippendorff_alpha(ratings: ArrayLike, level: str = "interval") -> float:
    """Krippendorff's alpha of ratings (units, raters): 1 is agreement, 0 is chance.

    `level` is "interval", "ordinal" or "nominal". NaN is a missing rating; units with fewer than
    two ratings are ignored; NaN comes back when no unit is pairable or all pairable ratings are
    equal. O(ratings) for interval, O(units x distinct values) otherwise.

    Args:
        ratings: One row per unit and one column per rater, NaN where a rating is missing.
        level: "interval", "ordinal" or "nominal".

    Returns:
        Alpha, or NaN if it is not defined.
    """
    alphas, units = _alphas(ratings, level)
    if not units:
        return float("nan")
    return float(alphas(np.ones((1, units)))[0])


def alpha_interval(
    ratings: ArrayLike,
    level: str = "interval",
    *,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> tuple[float, float]:
    """Percentile bootstrap interval (low, high) of alpha, resampling whole units.

    Resamples without variation are left out; (NaN, NaN) if none remains. O(resamples x units),
    times the distinct values unless the level is interval.

    Args:
        ratings: One row per unit and one column per rater, NaN where a rating is missing.
        level: "interval", "ordinal" or "nominal".
        confidence: The nominal coverage of the interval.
        resamples: The number of bootstrap resamples.
        seed: The seed of the resamples.

    Returns:
        The lower and the upper end.

    Raises:
        InputError: If `resamples` is below 1.
    """
    check_probability("confidence", confidence)
    if resamples < 1:
        raise InputError(f"resamples is {resamples}", "draw at least one resample")
    alphas, units = _alphas(ratings, level)
    if not units:
        return float("nan"), float("nan")
    generator = np.random.default_rng(seed)
    share = np.full(units, 1.0 / units)
    batch = max(1, _CELLS_AT_ONCE // units)
    batches = []
    for start in range(0, resamples, batch):
        draws = generator.multinomial(units, share, size=min(batch, resamples - start))
        batches.append(alphas(draws.astype(np.float64)))
    values = np.concatenate(batches)
    values = values[~np.isnan(values)]
    if not values.size:
        return float("nan"), float("nan")
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(values, [tail, 1.0 - tail])
    return float(low), float(high)


def _alphas(ratings: ArrayLike, level: str) -> tuple[Alphas, int]:
    """Map from draws to alphas, and the number of pairable units."""
    if level not in _LEVELS:
        raise UnknownName("level", level, _LEVELS)
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise InputError(f"ratings has {table.ndim} dimensions", "give units by raters")
    if np.isinf(table).any():
        raise InputError("ratings holds an infinite rating", "use NaN for a missing rating")
    table = table[np.sum(~np.isnan(table), axis=1) >= 2]
    return _LEVELS[level](table), table.shape[0]


def _interval(table: Array) -> Alphas:
    present = ~np.isnan(table)
    size = np.sum(present, axis=1).astype(np.float64)
    # Alpha ignores place and scale; from the minimum, a constant table is exactly 0.
    low = np.min(table, initial=np.inf, where=present)
    spread = float(np.max(table, initial=-np.inf, where=present) - low)
    if not spread > 0:
        spread = 1.0
    values = np.where(present, (table - low) / spread, 0.0)
    centre = np.sum(values) / max(np.sum(size), 1.0)
    values = np.where(present, values - centre, 0.0)
    total = np.sum(values, axis=1)
    offset = np.where(present, values - (total / size)[:, None], 0.0)
    within = np.sum(offset**2, axis=1) * size / (size - 1.0)
    sums = np.column_stack([within, size, total, np.sum(values**2, axis=1)])

    def alphas(draws: Array) -> Array:
        observed, count, first, second = (draws @ sums).T
        expected = second - first**2 / count
        return _ratio(observed / count, expected / (count - 1.0), second / (count - 1.0))

    return alphas


def _nominal(table: Array) -> Alphas:
    counts = _value_counts(table)
    size = np.sum(counts, axis=1)
    within = (size**2 - np.sum(counts**2, axis=1)) / (size - 1.0)

    def alphas(draws: Array) -> Array:
        frequency = draws @ counts
        count = np.sum(frequency, axis=1)
        expected = (count**2 - np.sum(frequency**2, axis=1)) / (count - 1.0)
        return _ratio(draws @ within, expected, count)

    return alphas


def _ordinal(table: Array) -> Alphas:
    counts = _value_counts(table)
    size = np.sum(counts, axis=1)

    def alphas(draws: Array) -> Array:
        frequency = draws @ counts
        count = np.sum(frequency, axis=1)
        # The ordinal distance of two values is the distance of their mid-ranks in the resample.
        rank = np.cumsum(frequency, axis=1) - frequency / 2.0 - count[:, None] / 2.0
        first = rank @ counts.T
        second = rank**2 @ counts.T
        within = (second - first**2 / size) * size / (size - 1.0)
        expected = np.sum(frequency * rank**2, axis=1)
        expected -= np.sum(frequency * rank, axis=1) ** 2 / count
        observed = np.sum(draws * within, axis=1)
        return _ratio(observed / count, expected / (count - 1.0), count)

    return alphas


_LEVELS: dict[str, Callable[[Array], Alphas]] = {
    "interval": _interval,
    "nominal": _nominal,
    "ordinal": _ordinal,
}


def _value_counts(table: Array) -> Array:
    """How often each unit got each distinct rating, ascending, (units, values)."""
    unit, rater = np.nonzero(~np.isnan(table))
    values, code = np.unique(table[unit, rater], return_inverse=True)
    cells = np.bincount(unit * values.size + code, minlength=table.shape[0] * values.size)
    return cells.reshape(table.shape[0], values.size).astype(np.float64)


def _ratio(observed: Array, expected: Array, scale: Array) -> Array:
    """Alpha of observed and expected disagreement; NaN where the latter is rounding of `scale`."""
    varied = expected > _ROUNDING * scale
    share = np.divide(observed, expected, out=np.full_like(expected, np.nan), where=varied)
    return 1.0 - share
