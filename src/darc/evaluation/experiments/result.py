"""What an experiment gives: tidy rows, a table of them, sentences, and lines to draw."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from darc.typing import Array

Report = Callable[[int, int | None], None]


def silent(done: int, total: int | None) -> None:
    """Report no progress."""


@dataclass(frozen=True)
class Line:
    """A named line through points, with half-widths of their intervals where they have any."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    half: Sequence[float] | None = None


@dataclass(frozen=True)
class Panel:
    """One plot of some lines; `level` draws a horizontal line."""

    title: str
    across: str
    up: str
    lines: Sequence[Line]
    logarithmic: bool = False
    level: float | None = None


@dataclass(frozen=True)
class Result:
    """An experiment's outcome.

    `rows` are tidy: one mapping a measurement, all with the same keys. `header` and `table` are
    the same for reading, `notes` say in sentences what was found, `panels` are what to draw.
    """

    name: str
    rows: Sequence[Mapping[str, object]]
    header: Sequence[str]
    table: Sequence[Sequence[object]]
    notes: Sequence[str] = ()
    panels: Sequence[Panel] = field(default_factory=tuple)


def average(numbers: Array) -> tuple[float, float]:
    """The mean, and the half-width of its 95 % interval by the normal approximation."""
    if len(numbers) == 0:
        return float("nan"), float("nan")
    spread = float(numbers.std(ddof=1)) if len(numbers) > 1 else 0.0
    return float(numbers.mean()), 1.96 * spread / float(np.sqrt(len(numbers)))


def of(array: Array, index: NDArray[np.int64]) -> Array:
    """The entries of (P, K) at one candidate a prompt, (P,)."""
    return np.asarray(array[np.arange(len(index)), index])
