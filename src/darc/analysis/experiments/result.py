"""What an experiment gives, and its lines as a picture."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from darc.typing import Array
from darc.views.chart import new_figure, style_axes
from darc.views.palette import PALE, SERIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Report = Callable[[int, int | None], None]
Rows = list[dict[str, Any]]
# Places across and up, and half-widths of the intervals where there are any.
Line = tuple[Sequence[float], Sequence[float], Sequence[float] | None]

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h", "p")
DASHES = ("-", "--", "-.", ":")


@dataclass(frozen=True)
class Plot:
    """One plot of some lines by name; `level` draws a horizontal line."""

    title: str
    across: str
    up: str
    lines: Mapping[str, Line]
    logarithmic: bool = False
    level: float | None = None


@dataclass(frozen=True)
class Findings:
    """An experiment's outcome.

    `rows` are tidy: one mapping a measurement, all with the same keys. `header` and `table` are
    the same for reading, `notes` say in sentences what was found, `panels` are what to draw.
    """

    rows: Rows
    header: Sequence[str]
    table: Sequence[Sequence[object]]
    notes: Sequence[str]
    panels: Sequence[Plot]


def average(numbers: Array) -> tuple[float, float]:
    """The mean, and the half-width of its 95 % interval by the normal approximation."""
    if len(numbers) == 0:
        return float("nan"), float("nan")
    spread = float(numbers.std(ddof=1)) if len(numbers) > 1 else 0.0
    return float(numbers.mean()), 1.96 * spread / float(np.sqrt(len(numbers)))


def of(array: Array, index: NDArray[np.int64]) -> Array:
    """The entries of (P, K) at one candidate a prompt, (P,)."""
    return np.asarray(array[np.arange(len(index)), index])


def groups(rows: Rows, name: str) -> dict[Any, Rows]:
    """The rows by what they say under this name, in order of appearance."""
    found: dict[Any, Rows] = {}
    for row in rows:
        found.setdefault(row[name], []).append(row)
    return found


def lines(rows: Rows, by: str, x: str, y: str, half: str = "", name: str = "{}") -> dict[str, Line]:
    """A line through two columns for each group of rows, with the half-widths of a third."""
    return {
        name.format(key): (
            [row[x] for row in own],
            [row[y] for row in own],
            [row[half] for row in own] if half else None,
        )
        for key, own in groups(rows, by).items()
    }


def draw_result(result: Findings) -> "Figure":
    """A figure with one plot a panel; lines differ by colour, marker and dashes."""
    count = len(result.panels)
    figure = new_figure(1.0 + 5.0 * count, 5.2)
    for axes, panel in zip(figure.subplots(1, count, squeeze=False)[0], result.panels, strict=True):
        if panel.level is not None:
            axes.axhline(panel.level, color=PALE, lw=1.0, zorder=1)
        for place, (name, (x, y, half)) in enumerate(panel.lines.items()):
            axes.errorbar(
                *(x, y, half),
                color=SERIES[place % len(SERIES)],
                marker=MARKERS[place % len(MARKERS)],
                linestyle=DASHES[place % len(DASHES)],
                lw=1.5,
                markersize=4.5,
                capsize=2.5,
                label=name,
            )
        if panel.logarithmic:
            axes.set_xscale("log", base=2)
        places, *_ = next(iter(panel.lines.values()))
        axes.set_xticks(places, [f"{x:g}" for x in places])
        axes.set_xticks([], minor=True)
        style_axes(axes, panel.title, panel.across, panel.up)
        columns = min(4, max(2, len(panel.lines) // 2))
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.14), "ncols": columns}
        axes.legend(**below, frameon=False, fontsize=8, handlelength=3.0)
    return figure
