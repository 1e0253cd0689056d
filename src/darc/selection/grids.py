"""The settings of a rule that tuning tries, declared with the rule, on the scale of the data."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Knob = float | str
Variants = list[dict[str, Knob]]
Grid = Callable[["Scale", str], Variants]

BETAS, STRENGTHS = {"coarse": 8, "fine": 45}, {"coarse": 9, "fine": 66}


@dataclass(frozen=True)
class Scale:
    """What the grids are scaled by.

    `unit` is the typical deviation of a prompt's samples in the units the rules see, `candidates`
    the largest K, `spreads` the typical deviation of each side input within a prompt. Units and
    spreads are rounded to 1, 2 or 5 times a power of ten, so that they hardly depend on the data.
    """

    unit: float
    candidates: int
    spreads: tuple[tuple[str, float], ...] = ()

    def spread(self, name: str) -> float:
        """The spread of a side input, 1 where it is not known."""
        return dict(self.spreads).get(name, 1.0)


def steps(low: float, high: float, count: int, unit: float = 1.0) -> list[float]:
    """0 and `count` numbers from low to high in equal ratios, times the unit, in few digits."""
    digits = 1 if count < 20 else 2
    found = (float(f"{step:.{digits}e}") for step in np.geomspace(low, high, count))
    return [0.0, *(float(f"{step * unit:.5g}") for step in found)]


def knob(name: str, low: float, high: float, power: int = 0, per: str = "") -> Grid:
    """A grid of one parameter: 0, then low to high in equal ratios, the mildest first.

    They are times the samples' unit to this power, and over the spread of the side input `per`.
    """

    def variants(scale: Scale, size: str) -> Variants:
        unit = scale.unit**power / (scale.spread(per) if per else 1.0)
        return [{name: v} for v in steps(low, high, STRENGTHS[size], unit)]

    return variants


def no_knobs(scale: Scale, size: str) -> Variants:
    """The rule as it is, or under every beta where it depends on beta."""
    return [{}]
