"""Where the held-out samples of each rule's choices lie."""

from typing import Any

from darc.evaluation.figures.picture import Picture, numbers, values
from darc.evaluation.frame import Frame
from darc.evaluation.methods import BASELINE
from darc.views.chart import new_figure, quiet
from darc.views.palette import INK, PALE, SERIES

OVERLAP = 1.7
COLUMNS = 3
VISIBLE = 0.003


def draw_ridges(densities: Frame) -> list[Picture]:
    """One picture a source: a ridge a rule with Best-of-K's outline, a panel a scorer."""
    return [
        _picture(source, densities.where(source=source)) for source in values(densities, "source")
    ]


def _picture(source: str, frame: Frame) -> Picture:
    scorers, methods = values(frame, "scorer"), values(frame, "method")
    across = min(COLUMNS, len(scorers))
    down = -(-len(scorers) // across)
    width = 7.2 if across == 1 else 1.4 + 2.9 * across
    figure = new_figure(width, (1.3 + 0.36 * len(methods)) * down)
    grid = figure.subplots(down, across, sharey=True, squeeze=False)
    for place, axes in enumerate(grid.ravel()):
        if place >= len(scorers):
            axes.set_visible(False)
            continue
        _panel(axes, frame.where(scorer=scorers[place]), methods)
        quiet(axes, scorers[place], "held-out score")
        axes.grid(visible=False, axis="y")
    caption = (
        "Densities of the held-out samples of what each rule chose, over all splits; "
        "the dashed line on each is Best-of-K's."
    )
    return Picture("ridges", caption, source, figure)


def _panel(axes: Any, frame: Frame, methods: list[str]) -> None:
    curves = {}
    for method in methods:
        rows = frame.where(method=method)
        curves[method] = (numbers(rows, "x"), numbers(rows, "density"))
    top = max((max(y) for _, y in curves.values() if y), default=1.0) or 1.0
    base = curves.get(BASELINE)
    for place, (method, (x, y)) in enumerate(curves.items()):
        floor = len(methods) - 1 - place
        heights = [floor + OVERLAP * each / top for each in y]
        layer = 2 * place + 2
        color = INK if method == BASELINE else SERIES[0]
        axes.fill_between(x, floor, heights, color=color, alpha=0.22, linewidth=0, zorder=layer)
        axes.plot(x, heights, color=color, linewidth=1.3, zorder=layer + 1)
        if base is not None and method != BASELINE:
            outline = [floor + OVERLAP * each / top for each in base[1]]
            axes.plot(
                base[0], outline, color=INK, linewidth=1.0, linestyle=(0, (4, 2)), zorder=layer + 1
            )
        axes.axhline(floor, color=PALE, linewidth=0.6, zorder=layer)
    far = [
        x for xs, ys in curves.values() for x, y in zip(xs, ys, strict=True) if y > VISIBLE * top
    ]
    if far and min(far) < max(far):
        axes.set_xlim(min(far), max(far))
    axes.set_yticks(range(len(methods)), reversed(methods))
    axes.set_ylim(-0.15, len(methods) - 1 + OVERLAP + 0.1)
