"""How often the held-out mean keeps the promise of the lower confidence bound."""

from darc.evaluation.figures.picture import Picture, few, left_out, numbers, values
from darc.evaluation.frame import Frame
from darc.evaluation.methods import BASELINE
from darc.views.chart import looks, new_figure, quiet
from darc.views.palette import PALE


def draw_calibration(calibration: Frame) -> list[Picture]:
    """One picture a source: what was observed against what was promised."""
    return [
        _picture(source, calibration.where(source=source))
        for source in values(calibration, "source")
    ]


def _picture(source: str, frame: Frame) -> Picture:
    every = values(frame, "method")
    methods = [*(m for m in every if m == BASELINE), *few(every, 5)]
    styles = looks(methods)
    figure = new_figure(7.2, 4.4)
    axes = figure.add_subplot()
    ends = [min(numbers(frame, "nominal")), max(numbers(frame, "nominal"))]
    axes.plot(ends, ends, color=PALE, linewidth=1.4, label="as promised")
    for method in methods:
        rows = frame.where(method=method)
        axes.plot(
            numbers(rows, "nominal"),
            numbers(rows, "observed"),
            label="Best-of-K" if method == BASELINE else method,
            **styles[method].line,
        )
    quiet(axes, "", "promised share (1 - delta)", "share of choices at or above the bound")
    axes.legend(
        loc="center left",
        bbox_to_anchor=(1.02, 0.5),
        frameon=False,
        fontsize=9,
        handlelength=3.6,
    )
    caption = (
        "How often the held-out mean is at least the lower confidence bound of the half that "
        f"selected; below the grey line the bound promises too much.{left_out(methods, every)}"
    )
    return Picture("calibration", caption, source, figure)
