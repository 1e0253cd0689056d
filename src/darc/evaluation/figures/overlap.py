"""How much of the most contested share the proxy finds."""

from darc.evaluation.figures.picture import Picture, numbers, values
from darc.evaluation.frame import Frame
from darc.views.chart import looks, new_figure, quiet
from darc.views.palette import PALE


def draw_overlap(overlap: Frame) -> list[Picture]:
    """One picture a proxy: a line for each file of ratings and kind of items, and for chance."""
    pictures = []
    for source in values(overlap, "source"):
        frame = overlap.where(source=source)
        series = list(dict.fromkeys(zip(*map(frame.column, ("ratings", "items")), strict=True)))[:7]
        styles = looks([f"{ratings}, {items}" for ratings, items in series])
        figure = new_figure(6.2, 4.2)
        axes = figure.add_subplot()
        for ratings, items in series:
            name = f"{ratings}, {items}"
            rows = frame.where(ratings=ratings, items=items)
            share = numbers(rows, "share")
            axes.plot(share, numbers(rows, "overlap"), label=name, **styles[name].line)
        rows = frame.where(ratings=series[0][0], items=series[0][1])
        axes.plot(
            numbers(rows, "share"),
            numbers(rows, "by_chance"),
            color=PALE,
            linestyle="--",
            linewidth=1.4,
            label="by chance",
        )
        quiet(axes, "", "top share q by sigma", "share of the proxy's top q in people's")
        axes.set_ylim(0, None)
        axes.legend(loc="upper left", frameon=False, fontsize=9, handlelength=3.6)
        caption = "How much of the most contested share by the proxy is also people's."
        pictures.append(Picture("overlap", caption, source, figure))
    return pictures
