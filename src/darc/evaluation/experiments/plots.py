"""The lines of an experiment as a picture."""

from typing import TYPE_CHECKING, Any

from darc.errors import InputError, MissingExtra
from darc.evaluation.experiments.result import Panel, Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLORS = ("#0b6fa4", "#c2571a", "#1f2933", "#2f8f6b", "#a3559b", "#b08a00", "#8a94a3")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h", "p")
DASHES = ("-", "--", "-.", ":")


def draw_result(result: Result) -> "Figure":
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


def _panel(axes: Any, panel: Panel) -> None:
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
