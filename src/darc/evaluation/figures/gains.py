"""Every rule's difference to Best-of-K, with its interval."""

from darc.evaluation.figures.picture import Picture, metric_name, number, tail_of, values
from darc.evaluation.frame import Frame
from darc.evaluation.methods import BASELINE
from darc.views.chart import looks, new_figure, quiet
from darc.views.palette import INK, PALE


def draw_gains(human: Frame) -> list[Picture]:
    """One picture a source: a row a rule, a panel a metric, all prompts beside the contested."""
    pictures = []
    for source in values(human, "source"):
        frame = human.where(source=source)
        methods = [method for method in values(frame, "method") if method != BASELINE]
        if methods:
            pictures.append(_picture(source, frame, methods))
    return pictures


def _picture(source: str, frame: Frame, methods: list[str]) -> Picture:
    metrics = ("mean", "tradeoff", tail_of(frame))
    subsets = values(frame, "subset")
    styles = looks(subsets)
    figure = new_figure(8.4, 1.5 + 0.34 * len(methods))
    grid = figure.subplots(1, len(metrics), sharey=True)
    for axes, metric in zip(grid, metrics, strict=True):
        axes.axvline(0, color=PALE, linewidth=1.2)
        for place, subset in enumerate(subsets):
            rows = {row["method"]: row for row in frame.where(subset=subset).records()}
            shift = 0.16 * (2 * place - (len(subsets) - 1))
            look = styles[subset]
            found = [
                (y + shift, *(number(rows[m][f"{part}_{metric}"]) for part in PARTS))
                for y, m in enumerate(methods)
                if m in rows and rows[m][f"delta_{metric}"] is not None
            ]
            if not found:
                continue
            heights, deltas, lows, highs = zip(*found, strict=True)
            axes.hlines(heights, lows, highs, color=look.color, linewidth=1.8)
            axes.plot(
                deltas,
                heights,
                linestyle="none",
                marker=look.marker,
                color=look.color,
                markerfacecolor=look.color if place == 0 else "white",
                markersize=5.5,
                label=subset,
            )
        quiet(axes, metric_name(metric), "change against Best-of-K")
        axes.grid(visible=False, axis="y")
        axes.locator_params(axis="x", nbins=4)
    grid[0].set_yticks(range(len(methods)), methods, color=INK)
    grid[0].set_ylim(len(methods) - 0.5, -0.5)
    handles, labels = grid[0].get_legend_handles_labels()
    if len(labels) > 1:
        figure.legend(
            handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=9
        )
    caption = "Differences to Best-of-K on held-out samples, with 95 % intervals."
    return Picture("gains", caption, source, figure)


PARTS = ("delta", "low", "high")
