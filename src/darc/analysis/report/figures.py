"""The figures of an evaluation: tidy frames in, pictures out."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from darc.analysis.evaluate.methods import BASELINE
from darc.analysis.frame import WORDS, Frame
from darc.analysis.report.pictures import (
    PARTS,
    Picture,
    few,
    left_out,
    metric_name,
    numbers,
    parts,
    picture,
    tail_name,
    values,
)
from darc.views.chart import (
    MAX_SERIES,
    legend_below,
    new_figure,
    plain_drawing,
    series_styles,
    style_axes,
)
from darc.views.palette import INK, PALE, SERIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_gains(source: str, frame: Frame) -> Picture | None:
    """A row a rule, a panel a metric, all prompts beside the contested; none for Best-of-K."""
    frame = frame.without(method=BASELINE)
    if not len(frame):
        return None
    methods, subsets = values(frame, "method"), parts(frame, "subset")
    styles = series_styles([subset for subset, _ in subsets])
    metrics = ("mean", "tradeoff", tail_name(frame))
    figure = new_figure(8.4, 1.5 + 0.34 * len(methods))
    grid = figure.subplots(1, len(metrics), sharey=True)
    for axes, metric in zip(grid, metrics, strict=True):
        axes.axvline(0, color=PALE, linewidth=1.2)
        for place, (subset, rows) in enumerate(subsets):
            look = styles[subset]
            shift = 0.16 * (2 * place - (len(subsets) - 1))
            heights = [methods.index(method) + shift for method in values(rows, "method")]
            middle, low, high = (numbers(rows, f"{part}_{metric}") for part in PARTS)
            axes.hlines(heights, low, high, color=look.color, linewidth=1.8)
            inside = look.color if place == 0 else "white"
            style = {"marker": look.marker, "color": look.color, "markerfacecolor": inside}
            axes.plot(middle, heights, linestyle="none", markersize=5.5, label=subset, **style)
        style_axes(axes, metric_name(metric), "change against Best-of-K")
        axes.grid(visible=False, axis="y")
        axes.locator_params(axis="x", nbins=4)
    grid[0].set_yticks(range(len(methods)), methods, color=INK)
    grid[0].set_ylim(len(methods) - 0.5, -0.5)
    if len(subsets) > 1:
        legend_below(figure, grid[0], 2)
    return picture("gains", source, figure)


OVERLAP = 1.7
COLUMNS = 3
VISIBLE = 0.003


def draw_ridges(source: str, frame: Frame) -> Picture:
    """A ridge a rule with Best-of-K's outline, a panel a scorer."""
    scorers, methods = parts(frame, "scorer"), values(frame, "method")
    across = min(COLUMNS, len(scorers))
    down = -(-len(scorers) // across)
    width = 7.2 if across == 1 else 1.4 + 2.9 * across
    figure = new_figure(width, (1.3 + 0.36 * len(methods)) * down)
    grid = figure.subplots(down, across, sharey=True, squeeze=False).ravel()
    for axes, (scorer, rows) in zip(grid, scorers, strict=False):
        _panel(axes, rows, methods)
        style_axes(axes, scorer, "held-out score")
        axes.grid(visible=False, axis="y")
    for axes in grid[len(scorers) :]:
        axes.set_visible(False)
    return picture("ridges", source, figure)


def _panel(axes: Any, frame: Frame, methods: list[str]) -> None:
    own = {method: frame.where(method=method) for method in methods}
    curves = {m: (numbers(rows, "x"), numbers(rows, "density")) for m, rows in own.items()}
    top = max((max(y) for _, y in curves.values() if y), default=1.0) or 1.0
    base = curves.get(BASELINE, ([], []))
    for place, (method, (x, y)) in enumerate(curves.items()):
        floor, layer = len(methods) - 1 - place, 2 * place + 2
        color = INK if method == BASELINE else SERIES[0]
        heights, outline = ([floor + OVERLAP * z / top for z in each] for each in (y, base[1]))
        axes.fill_between(x, floor, heights, color=color, alpha=0.22, linewidth=0, zorder=layer)
        axes.plot(x, heights, color=color, linewidth=1.3, zorder=layer + 1)
        if method != BASELINE:
            dashed = {"color": INK, "linewidth": 1.0, "linestyle": (0, (4, 2))}
            axes.plot(base[0], outline, zorder=layer + 1, **dashed)
        axes.axhline(floor, color=PALE, linewidth=0.6, zorder=layer)
    far = [x for xy in curves.values() for x, y in zip(*xy, strict=True) if y > VISIBLE * top]
    if far and min(far) < max(far):
        axes.set_xlim(min(far), max(far))
    axes.set_yticks(range(len(methods)), reversed(methods))
    axes.set_ylim(-0.15, len(methods) - 1 + OVERLAP + 0.1)


def draw_buckets(source: str, by: str, frame: Frame) -> Picture:
    """Tradeoff and CVaR by bucket of one measure, with 95 % intervals."""
    every = values(frame, "method")
    series = {method: frame.where(method=method) for method in few(every, 5)}
    figure = _changes(frame, series, "bucket", "fifth of the prompts by disagreement", 0.13, 5)
    name = "buckets-people" if by == "people" else "buckets"
    return picture(name, source, figure, by=by, left_out=left_out(list(series), every))


def _changes(
    frame: Frame, series: dict[str, Frame], column: str, across: str, step: float, legend: int
) -> "Figure":
    """Changes of tradeoff and CVaR with their intervals, by the cells of a column, a line a series.

    The lines are `step` apart, and the legend has so many columns.
    """
    ticks: list[Any] = list(dict.fromkeys(frame.column(column)))
    if not isinstance(ticks[0], str):
        ticks.sort()
    styles = series_styles(list(series))
    figure = new_figure(8.4, 4.1)
    panels = figure.subplots(1, 2)
    for axes, metric in zip(panels, ("tradeoff", tail_name(frame)), strict=True):
        axes.axhline(0, color=PALE, linewidth=1.2)
        for place, (label, rows) in enumerate(series.items()):
            shift = step * (place - (len(series) - 1) / 2)
            x = [ticks.index(cell) + shift for cell in rows.column(column)]
            middle, low, high = (numbers(rows, f"{part}_{metric}") for part in PARTS)
            axes.vlines(x, low, high, color=styles[label].color, linewidth=1.2, alpha=0.8)
            axes.plot(x, middle, label=label, **styles[label].line)
        style_axes(axes, metric_name(metric), across)
        shown = [each if isinstance(each, str) else f"{each:g}" for each in ticks]
        axes.set_xticks(range(len(ticks)), shown)
    panels[0].set_ylabel("change against Best-of-K", fontsize=9.5)
    legend_below(figure, panels[0], legend)
    return figure


def _lines(axes: Any, series: dict[str, Frame], x: str, y: str) -> None:
    """A line through two columns of each frame, by name."""
    for name, look in series_styles(list(series)).items():
        axes.plot(numbers(series[name], x), numbers(series[name], y), label=name, **look.line)


MANY = 400


def draw_scatter(source: str, frame: Frame) -> Picture:
    """A panel a file of ratings, a dot a candidate."""
    ratings = parts(frame, "ratings")
    figure = new_figure(6.2 if len(ratings) == 1 else 4.2 * len(ratings), 4.6)
    panels = figure.subplots(1, len(ratings), squeeze=False)[0]
    for axes, (name, every) in zip(panels, ratings, strict=True):
        many = len(every) >= MANY
        for chosen, marker, color in (("", "o", 0), ("no", "o", 0), ("yes", "^", 1)):
            rows = every.where(best_of_k=chosen)
            axes.plot(
                numbers(rows, "sigma_proxy"),
                numbers(rows, "sigma_human"),
                linestyle="none",
                marker=marker,
                markersize=(3.0 if many else 4.5) + color,
                markerfacecolor=SERIES[color],
                markeredgecolor="none",
                alpha=0.3 if many and not color else 0.55,
            )
        style_axes(axes, name, "the proxy's sigma", "people's sigma")
    return picture("scatter", source, figure, size=len(frame))


def draw_overlap(source: str, frame: Frame) -> Picture:
    """A line for each file of ratings and kind of items, and for chance."""
    series = {
        f"{ratings}, {items}": own for ratings, items, own in parts(frame, "ratings", "items")
    }
    figure = new_figure(6.2, 4.2)
    axes: Any = figure.add_subplot()
    shown = dict(list(series.items())[: MAX_SERIES - 1])
    _lines(axes, shown, "share", "overlap")
    rows = next(iter(series.values()))
    chance = {"color": PALE, "linestyle": "--", "linewidth": 1.4, "label": "by chance"}
    axes.plot(numbers(rows, "share"), numbers(rows, "by_chance"), **chance)
    style_axes(axes, "", "top share q by sigma", "share of the proxy's top q in people's")
    axes.set_ylim(0, None)
    axes.legend(loc="upper left", frameon=False, fontsize=9, handlelength=3.6)
    return picture("overlap", source, figure)


def draw_ablation(source: str, knob: str, by: str, frame: Frame) -> Picture:
    """Tradeoff and CVaR, of all prompts and the contested, as one knob moves under one judge."""
    series = {f"{m}, {subset}": own for m, subset, own in parts(frame, "method", "subset")}
    across = WORDS["knobs"].get(knob, knob)
    figure = _changes(frame, series, "setting", across, 0.3 / len(series), 2)
    return picture(f"ablation-{knob}", source, figure, across=across, by=by)


def draw_frontier(source: str, frame: Frame) -> Picture:
    """A line a knob, a panel a subset; Best-of-K is the star."""
    subsets = parts(frame, "subset")
    moved = frame.without(method=BASELINE)
    knobs = dict.fromkeys(zip(moved.column("method"), moved.column("knob"), strict=True))
    names = {
        f"{m}, {'lambda' if k == 'lam' else k}": {"method": m, "knob": k}
        for m, k in list(knobs)[: MAX_SERIES - 1]
    }
    figure = new_figure(4.2 * max(len(subsets), 1.7), 4.7)
    panels = figure.subplots(1, len(subsets), squeeze=False)[0]
    for axes, (subset, rows) in zip(panels, subsets, strict=True):
        for name, look in series_styles(list(names)).items():
            line = rows.where(**names[name])
            risk, reward = numbers(line, "risk"), numbers(line, "reward")
            axes.plot(risk, reward, label=name, **look.line)
            first = {"marker": look.marker, "markersize": 7, "markerfacecolor": "white"}
            axes.plot(risk[:1], reward[:1], color=look.color, linestyle="none", **first)
        base = rows.where(method=BASELINE)
        star = {"marker": "*", "markersize": 15, "color": INK, "markeredgecolor": "white"}
        place = numbers(base, "risk"), numbers(base, "reward")
        axes.plot(*place, linestyle="none", label="Best-of-K", **star)
        style_axes(axes, subset, "risk (held-out sigma)")
        axes.margins(0.08)
    panels[0].set_ylabel("reward (held-out mean)", fontsize=9.5)
    legend_below(figure, panels[0], 4)
    return picture("frontier", source, figure)


def draw_calibration(source: str, frame: Frame) -> Picture:
    """What was observed against what was promised."""
    every = values(frame, "method")
    methods = [*(m for m in every if m == BASELINE), *few(every, 5)]
    figure = new_figure(7.2, 4.4)
    axes: Any = figure.add_subplot()
    ends = [min(numbers(frame, "nominal")), max(numbers(frame, "nominal"))]
    axes.plot(ends, ends, color=PALE, linewidth=1.4, label="as promised")
    shown = {"Best-of-K" if m == BASELINE else m: frame.where(method=m) for m in methods}
    _lines(axes, shown, "nominal", "observed")
    style_axes(axes, "", "promised share (1 - delta)", "share of choices at or above the bound")
    beside = {"loc": "center left", "bbox_to_anchor": (1.02, 0.5)}
    axes.legend(**beside, frameon=False, fontsize=9, handlelength=3.6)
    return picture("calibration", source, figure, left_out=left_out(methods, every))


# By the name of a frame, what its figures are of and how one is drawn.
FIGURES: dict[str, tuple[tuple[str, ...], Callable[..., Picture | None]]] = {
    "human": (("source",), draw_gains),
    "densities": (("source",), draw_ridges),
    "buckets": (("source", "by"), draw_buckets),
    "points": (("source",), draw_scatter),
    "overlap": (("source",), draw_overlap),
    "ablations": (("source", "knob", "judged_by"), draw_ablation),
    "frontier": (("source",), draw_frontier),
    "calibration": (("source",), draw_calibration),
}


def draw_figures(frames: Sequence[Frame]) -> list[Picture]:
    """The pictures of all frames that have one; of several sources each has its own, by name."""
    drawn: list[Picture] = []
    with plain_drawing():
        for frame in (each for each in frames if each.name in FIGURES):
            columns, draw = FIGURES[frame.name]
            drawn += filter(None, (draw(*part) for part in parts(frame, *columns)))
    slugs: dict[str, str] = {}  # what a source is in the names of files and of elements
    for place, source in enumerate(dict.fromkeys(each.source for each in drawn), 1):
        words = re.sub(r"[^a-z0-9]+", "-", source.lower()).strip("-")[:40] or "source"
        slugs[source] = f"-{place}-{words}"
    times, named = Counter[tuple[str, str]](), []
    for each in drawn:
        times[each.name, each.source] += 1
        number = times[each.name, each.source]
        name = each.name if number == 1 else f"{each.name}-judge{number}"
        named.append(replace(each, name=name + slugs[each.source] * (len(slugs) > 1)))
    return named
