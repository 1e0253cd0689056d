"""What an experiment gives, and its lines as a picture."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from darc.errors import InputError, MissingExtra
from darc.typing import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
class Plot:
    """One plot of some lines; `level` draws a horizontal line."""

    title: str
    across: str
    up: str
    lines: Sequence[Line]
    logarithmic: bool = False
    level: float | None = None


@dataclass(frozen=True)
class Findings:
    """An experiment's outcome.

    `rows` are tidy: one mapping a measurement, all with the same keys. `header` and `table` are
    the same for reading, `notes` say in sentences what was found, `panels` are what to draw.
    """

    name: str
    rows: Sequence[Mapping[str, object]]
    header: Sequence[str]
    table: Sequence[Sequence[object]]
    notes: Sequence[str] = ()
    panels: Sequence[Plot] = field(default_factory=tuple)


def average(numbers: Array) -> tuple[float, float]:
    """The mean, and the half-width of its 95 % interval by the normal approximation."""
    if len(numbers) == 0:
        return float("nan"), float("nan")
    spread = float(numbers.std(ddof=1)) if len(numbers) > 1 else 0.0
    return float(numbers.mean()), 1.96 * spread / float(np.sqrt(len(numbers)))


def of(array: Array, index: NDArray[np.int64]) -> Array:
    """The entries of (P, K) at one candidate a prompt, (P,)."""
    return np.asarray(array[np.arange(len(index)), index])


COLORS = ("#0b6fa4", "#c2571a", "#1f2933", "#2f8f6b", "#a3559b", "#b08a00", "#8a94a3")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h", "p")
DASHES = ("-", "--", "-.", ":")


def draw_result(result: Findings) -> "Figure":
    """A figure with one plot a panel; lines differ by colour, marker and dashes."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("drawing a picture", "plot") from None
    count = len(result.panels)
    if not count:
        raise InputError(f"the experiment {result.name!r} has no picture", "leave --plot out")
    figure = Figure(figsize=(1.0 + 5.0 * count, 5.2), dpi=150, layout="constrained")
    for place, panel in enumerate(result.panels):
        _panel(figure.add_subplot(1, count, place + 1), panel)
    return figure


def _panel(axes: Any, panel: Plot) -> None:
    if panel.level is not None:
        axes.axhline(panel.level, color="#8a94a3", lw=1.0, zorder=1)
    for place, line in enumerate(panel.lines):
        axes.errorbar(
            line.x,
            line.y,
            yerr=line.half,
            color=COLORS[place % len(COLORS)],
            marker=MARKERS[place % len(MARKERS)],
            linestyle=DASHES[place % len(DASHES)],
            lw=1.5,
            markersize=4.5,
            capsize=2.5,
            label=line.name,
            zorder=2,
        )
    if panel.logarithmic:
        axes.set_xscale("log", base=2)
    places = list(panel.lines[0].x)
    axes.set_xticks(places, [f"{x:g}" for x in places])
    axes.set_xticks([], minor=True)
    axes.set_title(panel.title, loc="left", fontsize=11)
    axes.set_xlabel(panel.across)
    axes.set_ylabel(panel.up)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#eef1f4", zorder=0)
    axes.set_axisbelow(True)
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.14),
        ncols=min(4, max(2, len(panel.lines) // 2)),
        frameon=False,
        fontsize=8,
        handlelength=3.0,
    )
