"""The charts of an experiment as a picture."""

from typing import TYPE_CHECKING, Any

from darc.analysis.experiments.findings import Chart, Findings
from darc.views.chart import new_figure, style_axes
from darc.views.palette import PALE, SERIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Of different lengths, so that more curves than colours still differ.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h", "p")
DASHES = ("-", "--", "-.", ":")


def draw_findings(findings: Findings) -> "Figure":
    """Draw the charts side by side; curves differ by colour, marker and dashes.

    Args:
        findings: What an experiment found.

    Returns:
        The figure.

    Raises:
        MissingExtra: If matplotlib is not installed.
    """
    count = len(findings.charts)
    figure = new_figure(1.0 + 5.0 * count, 5.2)
    grid = figure.subplots(1, count, squeeze=False)[0]
    for axes, chart in zip(grid, findings.charts, strict=True):
        _draw_chart(axes, chart)
    return figure


def _draw_chart(axes: Any, chart: Chart) -> None:
    if chart.level is not None:
        axes.axhline(chart.level, color=PALE, lw=1.0, zorder=1)
    for number, (name, curve) in enumerate(chart.curves.items()):
        axes.errorbar(
            curve.x,
            curve.y,
            curve.half_widths,
            color=SERIES[number % len(SERIES)],
            marker=MARKERS[number % len(MARKERS)],
            linestyle=DASHES[number % len(DASHES)],
            lw=1.5,
            markersize=4.5,
            capsize=2.5,
            label=name,
        )
    if chart.logarithmic:
        axes.set_xscale("log", base=2)
    ticks = next(iter(chart.curves.values())).x
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    style_axes(axes, chart.title, chart.x_label, chart.y_label)
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.14),
        ncols=min(4, max(2, len(chart.curves) // 2)),
        frameon=False,
        fontsize=8,
        handlelength=3.0,
    )
