"""What an experiment on simulated people gives: rows, a table, notes and charts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.typing import Array

# Called with how many steps are done, and of how many.
Progress = Callable[[int, int | None], None]
# Tidy rows: one mapping per measurement, all with the same keys.
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Curve:
    """One line of a chart."""

    x: Sequence[float]
    y: Sequence[float]
    #: Half-widths of the intervals of y, None for no intervals.
    half_widths: Sequence[float] | None = None


@dataclass(frozen=True)
class Chart:
    """One chart with curves by name."""

    title: str
    x_label: str
    y_label: str
    curves: Mapping[str, Curve]
    logarithmic: bool = False
    #: Where a horizontal line is drawn, None for no line.
    level: float | None = None


@dataclass(frozen=True)
class Findings:
    """An experiment's outcome."""

    rows: Rows
    #: The rows for reading.
    header: Sequence[str]
    table: Sequence[Sequence[object]]
    #: What was found, in sentences.
    notes: Sequence[str]
    charts: Sequence[Chart]


def ignore_progress(done: int, total: int | None) -> None:
    """Report progress to nobody."""


def mean_and_half_width(numbers: Array) -> tuple[float, float]:
    """The mean, and the half-width of its 95 % interval by the normal approximation."""
    if len(numbers) == 0:
        return float("nan"), float("nan")
    deviation = 0.0
    if len(numbers) > 1:
        deviation = float(numbers.std(ddof=1))
    return float(numbers.mean()), 1.96 * deviation / float(np.sqrt(len(numbers)))


def chosen_values(values: Array, index: NDArray[np.int64]) -> Array:
    """The values (P, K) of one candidate per prompt, (P,)."""
    return np.asarray(values[np.arange(len(index)), index])


def group_rows(rows: Rows, column: str) -> dict[Any, Rows]:
    """The rows by the cells of a column, in order of appearance."""
    groups: dict[Any, Rows] = {}
    for row in rows:
        groups.setdefault(row[column], []).append(row)
    return groups


def curves_by(
    rows: Rows, column: str, x: str, y: str, half_width: str = "", name: str = "{}"
) -> dict[str, Curve]:
    """Make a curve of each group of rows.

    Args:
        rows: The rows.
        column: The column by which rows are grouped.
        x: The column of the places along the axis.
        y: The column of the heights.
        half_width: The column of the half-widths, empty for none.
        name: The name of a curve, in which {} is the cell of the group.

    Returns:
        The curves by name.
    """
    curves = {}
    for cell, group in group_rows(rows, column).items():
        half_widths = None
        if half_width:
            half_widths = [row[half_width] for row in group]
        curve = Curve([row[x] for row in group], [row[y] for row in group], half_widths)
        curves[name.format(cell)] = curve
    return curves
