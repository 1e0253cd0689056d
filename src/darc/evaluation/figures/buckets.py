"""Gains over Best-of-K as people disagree more on its choice."""

from darc.evaluation.figures.picture import (
    Picture,
    few,
    left_out,
    metric_name,
    numbers,
    tail_of,
    values,
)
from darc.evaluation.frame import Frame
from darc.views.chart import legend_below, looks, new_figure, quiet
from darc.views.palette import PALE


def draw_buckets(buckets: Frame) -> list[Picture]:
    """A picture a source and measure: tradeoff and CVaR by bucket, with 95 % intervals."""
    pictures = []
    for source in values(buckets, "source"):
        frame = buckets.where(source=source)
        pictures += [_picture(source, by, frame.where(by=by)) for by in values(frame, "by")]
    return pictures


def _picture(source: str, by: str, frame: Frame) -> Picture:
    names, every = values(frame, "bucket"), values(frame, "method")
    methods = few(every, 5)
    styles = looks(methods)
    figure = new_figure(8.4, 4.3)
    panels = figure.subplots(1, 2)
    for axes, metric in zip(panels, ("tradeoff", tail_of(frame)), strict=True):
        axes.axhline(0, color=PALE, linewidth=1.2)
        for place, method in enumerate(methods):
            rows = frame.where(method=method)
            shift = 0.13 * (place - (len(methods) - 1) / 2)
            x = [names.index(name) + shift for name in map(str, rows.column("bucket"))]
            middle, low, high = (
                numbers(rows, f"{part}_{metric}") for part in ("delta", "low", "high")
            )
            axes.vlines(x, low, high, color=styles[method].color, linewidth=1.2, alpha=0.8)
            axes.plot(x, middle, label=method, **styles[method].line)
        quiet(axes, metric_name(metric), "fifth of the prompts by disagreement", "")
        axes.set_xticks(range(len(names)), names)
    panels[0].set_ylabel("change against Best-of-K", fontsize=9.5)
    legend_below(figure, panels[0], 5)
    caption = (
        f"Gains over Best-of-K by the disagreement on its choice as {by} shows it, least (Q1) to "
        f"most, with 95 % intervals.{left_out(methods, every)}"
    )
    return Picture("buckets-people" if by == "people" else "buckets", caption, source, figure)
