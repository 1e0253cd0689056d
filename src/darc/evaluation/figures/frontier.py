"""Risk and reward of every setting of every knob."""

from darc.evaluation.figures.picture import Picture, numbers, values
from darc.evaluation.frame import Frame
from darc.evaluation.methods import BASELINE
from darc.views.chart import MOST_SERIES, legend_below, looks, new_figure, quiet
from darc.views.palette import INK


def draw_frontier(frontier: Frame) -> list[Picture]:
    """One picture a source: a line a knob, a panel a subset; Best-of-K is the star."""
    return [
        _picture(source, frontier.where(source=source)) for source in values(frontier, "source")
    ]


def _picture(source: str, frame: Frame) -> Picture:
    subsets = values(frame, "subset")
    pairs = dict.fromkeys(
        (str(row["method"]), str(row["knob"]))
        for row in frame.records()
        if row["method"] != BASELINE
    )
    knobs = list(pairs)[: MOST_SERIES - 1]
    names = {(m, k): f"{m}, {'lambda' if k == 'lam' else k}" for m, k in knobs}
    styles = looks(list(names.values()))
    figure = new_figure(4.2 * max(len(subsets), 1.7), 4.7)
    panels = figure.subplots(1, len(subsets), squeeze=False)[0]
    for axes, subset in zip(panels, subsets, strict=True):
        rows = frame.where(subset=subset)
        for method, knob in knobs:
            name = names[method, knob]
            look = styles[name]
            line = rows.where(method=method, knob=knob)
            risk, reward = numbers(line, "risk"), numbers(line, "reward")
            axes.plot(risk, reward, label=name, **look.line)
            axes.plot(
                risk[:1],
                reward[:1],
                marker=look.marker,
                markersize=7,
                markerfacecolor="white",
                color=look.color,
                linestyle="none",
            )
        base = rows.where(method=BASELINE)
        axes.plot(
            numbers(base, "risk"),
            numbers(base, "reward"),
            marker="*",
            markersize=15,
            color=INK,
            markeredgecolor="white",
            linestyle="none",
            label="Best-of-K",
        )
        quiet(axes, subset, "risk (held-out sigma)")
        axes.margins(0.08)
    panels[0].set_ylabel("reward (held-out mean)", fontsize=9.5)
    legend_below(figure, panels[0], 4)
    caption = (
        "Risk and reward as each knob moves; up and left is better. The open marker is a knob's "
        "smallest setting."
    )
    return Picture("frontier", caption, source, figure)
