"""The grids of parameters that `darc tune` tries for a rule."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Knob = float | str
#: Settings of a rule's parameters, by the name of the parameter, the mildest first.
Variants = list[dict[str, Knob]]
#: A function of the data's scale and of the size, "coarse" or "fine".
Grid = Callable[["Scale", str], Variants]

#: How many values of beta a grid has, apart from 0.
BETAS = {"coarse": 8, "fine": 45}
#: How many values of another parameter a grid has, apart from 0.
STRENGTHS = {"coarse": 9, "fine": 66}
# Grids with fewer values than this are rounded to two digits, others to three.
_FEW_VALUES = 20


@dataclass(frozen=True)
class Scale:
    """What the values of a grid are scaled by.

    Units and spreads are rounded to 1, 2 or 5 times a power of ten, so that they hardly depend on
    the data.
    """

    #: The typical deviation of a prompt's samples, in the units that the rules see.
    unit: float
    #: The largest number of candidates of a prompt.
    candidates: int
    #: The typical deviation of each side input within a prompt, by its name.
    spreads: tuple[tuple[str, float], ...] = ()

    def spread(self, name: str) -> float:
        """The spread of a side input, 1 where it is not known."""
        return dict(self.spreads).get(name, 1.0)


def steps(low: float, high: float, count: int, unit: float = 1.0) -> list[float]:
    """List 0 and then `count` numbers from low to high in equal ratios.

    Args:
        low: The smallest number but 0, in units.
        high: The largest number, in units.
        count: How many numbers to list besides 0.
        unit: The unit. The numbers are rounded to few digits.
    """
    digits = 1 if count < _FEW_VALUES else 2
    values = [0.0]
    for step in np.geomspace(low, high, count):
        rounded = float(f"{step:.{digits}e}")
        values.append(float(f"{rounded * unit:.5g}"))
    return values


def knob(name: str, low: float, high: float, power: int = 0, per: str = "") -> Grid:
    """Make the grid of one parameter: 0, and then numbers from low to high in equal ratios.

    Args:
        name: The name of the parameter.
        low: The smallest number but 0.
        high: The largest number.
        power: The numbers are multiplied by the unit of the samples to this power.
        per: The numbers are divided by the spread of this side input, if one is named.

    Returns:
        A grid for `rule(..., grid=...)`.
    """

    def variants(scale: Scale, size: str) -> Variants:
        unit = scale.unit**power
        if per:
            unit = unit / scale.spread(per)
        return [{name: value} for value in steps(low, high, STRENGTHS[size], unit)]

    return variants


def no_knobs(scale: Scale, size: str) -> Variants:
    """The grid of a rule without parameters; one that depends on beta is tried at every beta."""
    return [{}]
