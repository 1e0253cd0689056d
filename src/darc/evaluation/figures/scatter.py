"""The proxy's sigma of each candidate against people's."""

from darc.evaluation.figures.picture import Picture, numbers, values
from darc.evaluation.frame import Frame
from darc.views.chart import COLORS, new_figure, quiet

MANY = 400


def draw_scatter(points: Frame) -> list[Picture]:
    """One picture a proxy, a dot a candidate."""
    pictures = []
    for source in values(points, "source"):
        frame = points.where(source=source)
        figure = new_figure(6.2, 4.8)
        axes = figure.add_subplot()
        axes.plot(
            numbers(frame, "sigma_proxy"),
            numbers(frame, "sigma_human"),
            linestyle="none",
            marker="o",
            markersize=4.5 if len(frame) < MANY else 3.0,
            markerfacecolor=COLORS[0],
            markeredgecolor="none",
            alpha=0.55 if len(frame) < MANY else 0.3,
        )
        quiet(axes, "", "the proxy's sigma", "people's sigma")
        caption = f"The two sigmas of {len(frame)} candidates, a dot each."
        pictures.append(Picture("scatter", caption, source, figure))
    return pictures
