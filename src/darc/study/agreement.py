"""How far the annotators agree, before and after exclusion, and where they do not."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.core.agreement import alpha_interval, krippendorff_alpha

RESAMPLES = 1000
# With fewer items that two people rated, alpha and its interval say nothing.
UNITS = 5


@dataclass(frozen=True)
class Rating:
    """A rating of an item: who, of which unit, what (pairs: 0 first, 1 second, 0.5 tie), valid."""

    rater: str
    unit: int
    answer: float
    valid: bool


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha with its bootstrap interval; NaN where it cannot be told.

    Behind it are `ratings`, and `units` that have two of them or more.
    """

    alpha: float
    low: float
    high: float
    ratings: int
    units: int

    @property
    def words(self) -> str:
        """Alpha and its interval, or why there is none."""
        if self.units < UNITS:
            return f"not yet ({self.units} of {UNITS} items rated twice)"
        if self.alpha != self.alpha:
            return "undefined: all ratings are the same"
        if self.high - self.low < 1e-9:
            return f"{self.alpha:.2f}"
        return f"{self.alpha:.2f} ({self.low:.2f} to {self.high:.2f})"


def agreement(ratings: Sequence[Rating], pairwise: bool, seed: int = 0) -> tuple[Alpha, Alpha]:
    """Alpha of all ratings, and of the valid ones; interval scale, or nominal for winners."""
    level = "nominal" if pairwise else "interval"
    return (
        _alpha(ratings, level, seed),
        _alpha([rating for rating in ratings if rating.valid], level, seed),
    )


def disagreement(ratings: Sequence[Rating], pairwise: bool) -> dict[int, float]:
    """By unit, of the valid ratings: the deviation (ddof 1), or the share against the majority."""
    by_unit: dict[int, list[float]] = {}
    for rating in ratings:
        if rating.valid:
            by_unit.setdefault(rating.unit, []).append(rating.answer)
    if pairwise:
        return {
            unit: 1 - max(found.count(each) for each in found) / len(found)
            for unit, found in by_unit.items()
        }
    return {
        unit: float(np.std(found, ddof=1)) if len(found) > 1 else float("nan")
        for unit, found in by_unit.items()
    }


def _alpha(ratings: Sequence[Rating], level: str, seed: int) -> Alpha:
    raters = {name: place for place, name in enumerate(dict.fromkeys(r.rater for r in ratings))}
    places = {unit: place for place, unit in enumerate(dict.fromkeys(r.unit for r in ratings))}
    table = np.full((len(places), max(1, len(raters))), np.nan)
    for rating in ratings:
        table[places[rating.unit], raters[rating.rater]] = rating.answer
    pairable = int(np.sum(np.sum(~np.isnan(table), axis=1) > 1))
    if pairable < UNITS:
        nothing = float("nan")
        return Alpha(nothing, nothing, nothing, len(ratings), pairable)
    low, high = alpha_interval(table, level, resamples=RESAMPLES, seed=seed)
    return Alpha(krippendorff_alpha(table, level), low, high, len(ratings), pairable)
