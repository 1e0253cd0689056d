"""Charts of changes against Best-of-K with their intervals."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from darc.analysis.frame import Frame
from darc.analysis.report.frame_parts import metric_name, numbers, tail_name
from darc.views.chart import SeriesStyle, legend_below, new_figure, series_styles, style_axes
from darc.views.palette import PALE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Changes:
    """The changes of one metric in the rows of a frame, and the ends of their intervals."""

    middle: list[float]
    low: list[float]
    high: list[float]


def read_changes(frame: Frame, metric: str) -> Changes:
    """Read the changes of a metric from a frame."""
    return Changes(
        middle=numbers(frame, f"delta_{metric}"),
        low=numbers(frame, f"low_{metric}"),
        high=numbers(frame, f"high_{metric}"),
    )


@dataclass(frozen=True)
class ChangeAxis:
    """What lies along the axis of a chart of changes."""

    #: The column whose cells are the ticks.
    column: str
    label: str
    #: How far the lines of two series are apart, in ticks.
    step: float
    legend_columns: int


def draw_changes(frame: Frame, series: Mapping[str, Frame], axis: ChangeAxis) -> "Figure":
    """Draw the changes of tradeoff and CVaR with their intervals, one line per series.

    Args:
        frame: The rows of all series.
        series: The rows of each series, by name.
        axis: What lies along the axis.

    Returns:
        The figure.
    """
    ticks: list[Any] = list(dict.fromkeys(frame.column(axis.column)))
    if not isinstance(ticks[0], str):
        ticks.sort()
    tick_labels = [tick if isinstance(tick, str) else f"{tick:g}" for tick in ticks]
    styles = series_styles(list(series))
    figure = new_figure(8.4, 4.1)
    panels = figure.subplots(1, 2)
    for axes, metric in zip(panels, ("tradeoff", tail_name(frame)), strict=True):
        axes.axhline(0, color=PALE, linewidth=1.2)
        for number, (name, rows) in enumerate(series.items()):
            shift = axis.step * (number - (len(series) - 1) / 2)
            x = [ticks.index(cell) + shift for cell in rows.column(axis.column)]
            _draw_series(axes, x, read_changes(rows, metric), name, styles[name])
        style_axes(axes, metric_name(metric), axis.label)
        axes.set_xticks(range(len(ticks)), tick_labels)
    panels[0].set_ylabel("change against Best-of-K", fontsize=9.5)
    legend_below(figure, panels[0], axis.legend_columns)
    return figure


def _draw_series(
    axes: Any, x: list[float], changes: Changes, name: str, style: SeriesStyle
) -> None:
    axes.vlines(x, changes.low, changes.high, color=style.color, linewidth=1.2, alpha=0.8)
    axes.plot(x, changes.middle, label=name, **style.line)
