"""The figures that compare rules."""

from dataclasses import dataclass
from typing import Any

from darc.analysis.evaluate.methods import BASELINE
from darc.analysis.frame import WORDS, Frame
from darc.analysis.report.change_charts import ChangeAxis, draw_changes, read_changes
from darc.analysis.report.frame_parts import (
    choose_methods,
    distinct_cells,
    frame_parts,
    metric_name,
    not_drawn_note,
    numbers,
    tail_name,
)
from darc.analysis.report.picture import Picture, captioned_picture
from darc.views.chart import (
    MAX_SERIES,
    SeriesStyle,
    legend_below,
    new_figure,
    series_styles,
    style_axes,
)
from darc.views.palette import INK, PALE, SERIES

# How many methods are drawn in one chart of lines.
MAX_METHODS = 5
# How high the tallest ridge is, in distances between ridges.
RIDGE_HEIGHT = 1.7
MAX_COLUMNS = 3
# Lower densities, as a share of the largest, are not shown.
VISIBLE_DENSITY = 0.003


def draw_gains(source: str, frame: Frame) -> Picture | None:
    """Draw one row per rule and one panel per metric, all prompts beside the contested ones.

    Args:
        source: The source.
        frame: The rows of the table "human" of this source.

    Returns:
        The picture, None if Best-of-K is the only rule.
    """
    frame = frame.without(method=BASELINE)
    if not len(frame):
        return None
    methods = distinct_cells(frame, "method")
    subsets = frame_parts(frame, "subset")
    styles = series_styles([subset for subset, _ in subsets])
    metrics = ("mean", "tradeoff", tail_name(frame))
    figure = new_figure(8.4, 1.5 + 0.34 * len(methods))
    grid = figure.subplots(1, len(metrics), sharey=True)
    for axes, metric in zip(grid, metrics, strict=True):
        axes.axvline(0, color=PALE, linewidth=1.2)
        for number, (subset, rows) in enumerate(subsets):
            shift = 0.16 * (2 * number - (len(subsets) - 1))
            heights = [methods.index(method) + shift for method in distinct_cells(rows, "method")]
            changes = read_changes(rows, metric)
            style = styles[subset]
            axes.hlines(heights, changes.low, changes.high, color=style.color, linewidth=1.8)
            axes.plot(
                changes.middle,
                heights,
                linestyle="none",
                markersize=5.5,
                label=subset,
                marker=style.marker,
                color=style.color,
                markerfacecolor=style.color if number == 0 else "white",
            )
        style_axes(axes, metric_name(metric), "change against Best-of-K")
        axes.grid(visible=False, axis="y")
        axes.locator_params(axis="x", nbins=4)
    grid[0].set_yticks(range(len(methods)), methods, color=INK)
    grid[0].set_ylim(len(methods) - 0.5, -0.5)
    if len(subsets) > 1:
        legend_below(figure, grid[0], 2)
    return captioned_picture("gains", source, figure)


def draw_ridges(source: str, frame: Frame) -> Picture:
    """Draw one ridge per rule with Best-of-K's outline, one panel per scorer.

    The ridges are of the high-variance prompts, or of all prompts if there are none of these.

    Args:
        source: The source.
        frame: The rows of the table "densities" of this source.

    Returns:
        The picture.
    """
    subset = distinct_cells(frame, "subset")[-1]
    frame = frame.where(subset=subset)
    scorers = frame_parts(frame, "scorer")
    methods = distinct_cells(frame, "method")
    columns = min(MAX_COLUMNS, len(scorers))
    rows = -(-len(scorers) // columns)
    width = 8.2 if columns == 1 else 1.4 + 3.9 * columns
    figure = new_figure(width, (1.3 + 0.36 * len(methods)) * rows)
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False).ravel()
    for axes, (scorer, scorer_rows) in zip(grid, scorers, strict=False):
        _draw_ridge_panel(axes, scorer_rows, methods)
        style_axes(axes, scorer, "held-out score")
        axes.grid(visible=False, axis="y")
    for axes in grid[len(scorers) :]:
        axes.set_visible(False)
    return captioned_picture("ridges", source, figure, subset=WORDS["subsets"][subset])


@dataclass(frozen=True)
class _Density:
    """The density of one method's samples."""

    x: list[float]
    heights: list[float]
    #: The mean and the standard deviation of the samples, or nothing.
    label: str = ""


def _draw_ridge_panel(axes: Any, frame: Frame, methods: list[str]) -> None:
    densities = {}
    for method in methods:
        rows = frame.where(method=method)
        label = ""
        if len(rows):
            mean = numbers(rows, "mean")[0]
            sigma = numbers(rows, "sigma")[0]
            label = f"\u03bc {mean:.2f}  \u03c3 {sigma:.2f}"
        densities[method] = _Density(numbers(rows, "x"), numbers(rows, "density"), label)
    highest = max((max(d.heights) for d in densities.values() if d.heights), default=1.0) or 1.0
    baseline = densities.get(BASELINE, _Density([], []))
    for number, (method, density) in enumerate(densities.items()):
        floor = len(methods) - 1 - number
        # Lower ridges cover higher ones.
        layer = 2 * number + 2
        color = INK if method == BASELINE else SERIES[0]
        ridge = _ridge(density, floor, highest)
        axes.fill_between(
            density.x, floor, ridge, color=color, alpha=0.22, linewidth=0, zorder=layer
        )
        axes.plot(density.x, ridge, color=color, linewidth=1.3, zorder=layer + 1)
        if method != BASELINE:
            axes.plot(
                baseline.x,
                _ridge(baseline, floor, highest),
                color=INK,
                linewidth=1.0,
                linestyle=(0, (4, 2)),
                zorder=layer + 1,
            )
        axes.axhline(floor, color=PALE, linewidth=0.6, zorder=layer)
        axes.text(
            1.01,
            floor + 0.05,
            density.label,
            transform=axes.get_yaxis_transform(),
            color=color,
            fontsize=8.5,
            va="bottom",
            clip_on=False,
        )
    visible = [
        x
        for density in densities.values()
        for x, height in zip(density.x, density.heights, strict=True)
        if height > VISIBLE_DENSITY * highest
    ]
    if visible and min(visible) < max(visible):
        axes.set_xlim(min(visible), max(visible))
    names = ["Best-of-K" if method == BASELINE else method for method in methods]
    axes.set_yticks(range(len(methods)), reversed(names))
    axes.set_ylim(-0.15, len(methods) - 1 + RIDGE_HEIGHT + 0.1)


def _ridge(density: _Density, floor: int, highest: float) -> list[float]:
    """The heights of a density above its floor."""
    return [floor + RIDGE_HEIGHT * height / highest for height in density.heights]


def draw_buckets(source: str, by: str, frame: Frame) -> Picture:
    """Draw the changes of tradeoff and CVaR by bucket of one measure.

    Args:
        source: The source.
        by: Whose disagreement the buckets are by.
        frame: The rows of the table "buckets" of this source and measure.

    Returns:
        The picture.
    """
    methods = distinct_cells(frame, "method")
    series = {method: frame.where(method=method) for method in choose_methods(methods, MAX_METHODS)}
    axis = ChangeAxis("bucket", "fifth of the prompts by disagreement", 0.13, 5)
    figure = draw_changes(frame, series, axis)
    name = "buckets-people" if by == "people" else "buckets"
    note = not_drawn_note(list(series), methods)
    return captioned_picture(name, source, figure, by=by, left_out=note)


def draw_ablation(source: str, knob: str, judge: str, frame: Frame) -> Picture:
    """Draw tradeoff and CVaR, of all prompts and the contested, as one knob moves.

    Args:
        source: The source.
        knob: The knob that moves.
        judge: Who judges.
        frame: The rows of the table "ablations" of this source, knob and judge.

    Returns:
        The picture.
    """
    series = {
        f"{method}, {subset}": rows
        for method, subset, rows in frame_parts(frame, "method", "subset")
    }
    label = WORDS["knobs"].get(knob, knob)
    figure = draw_changes(frame, series, ChangeAxis("setting", label, 0.3 / len(series), 2))
    return captioned_picture(f"ablation-{knob}", source, figure, across=label, by=judge)


def draw_frontier(source: str, frame: Frame) -> Picture:
    """Draw risk and reward, one line per knob and one panel per subset; Best-of-K is the star.

    Args:
        source: The source.
        frame: The rows of the table "frontier" of this source.

    Returns:
        The picture.
    """
    subsets = frame_parts(frame, "subset")
    moved = frame.without(method=BASELINE)
    knobs = list(dict.fromkeys(zip(moved.column("method"), moved.column("knob"), strict=True)))
    lines = {}
    for method, knob in knobs[: MAX_SERIES - 1]:
        knob_name = "lambda" if knob == "lam" else knob
        lines[f"{method}, {knob_name}"] = {"method": method, "knob": knob}
    styles = series_styles(list(lines))
    figure = new_figure(4.2 * max(len(subsets), 1.7), 4.7)
    panels = figure.subplots(1, len(subsets), squeeze=False)[0]
    for axes, (subset, rows) in zip(panels, subsets, strict=True):
        for name, cells in lines.items():
            _draw_frontier_line(axes, rows.where(**cells), name, styles[name])
        baseline = rows.where(method=BASELINE)
        axes.plot(
            numbers(baseline, "risk"),
            numbers(baseline, "reward"),
            linestyle="none",
            label="Best-of-K",
            marker="*",
            markersize=15,
            color=INK,
            markeredgecolor="white",
        )
        style_axes(axes, subset, "risk (held-out sigma)")
        axes.margins(0.08)
    panels[0].set_ylabel("reward (held-out mean)", fontsize=9.5)
    legend_below(figure, panels[0], 4)
    return captioned_picture("frontier", source, figure)


def _draw_frontier_line(axes: Any, rows: Frame, name: str, style: SeriesStyle) -> None:
    """Draw one knob's line, with an open marker at its smallest setting."""
    risk = numbers(rows, "risk")
    reward = numbers(rows, "reward")
    axes.plot(risk, reward, label=name, **style.line)
    axes.plot(
        risk[:1],
        reward[:1],
        color=style.color,
        linestyle="none",
        marker=style.marker,
        markersize=7,
        markerfacecolor="white",
    )


def draw_calibration(source: str, frame: Frame) -> Picture:
    """Draw how often bounds held against how often they promise to.

    Args:
        source: The source.
        frame: The rows of the table "calibration" of this source.

    Returns:
        The picture.
    """
    methods = distinct_cells(frame, "method")
    drawn_methods = choose_methods(methods, MAX_METHODS)
    if BASELINE in methods:
        drawn_methods.insert(0, BASELINE)
    series = {}
    for method in drawn_methods:
        name = "Best-of-K" if method == BASELINE else method
        series[name] = frame.where(method=method)
    figure = new_figure(7.2, 4.4)
    axes: Any = figure.add_subplot()
    promised = numbers(frame, "nominal")
    ends = [min(promised), max(promised)]
    axes.plot(ends, ends, color=PALE, linewidth=1.4, label="as promised")
    for name, style in series_styles(list(series)).items():
        rows = series[name]
        axes.plot(numbers(rows, "nominal"), numbers(rows, "observed"), label=name, **style.line)
    style_axes(axes, "", "promised share (1 - delta)", "share of choices at or above the bound")
    axes.legend(
        loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False, fontsize=9, handlelength=3.6
    )
    note = not_drawn_note(drawn_methods, methods)
    return captioned_picture("calibration", source, figure, left_out=note)
