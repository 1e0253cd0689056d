"""The proxy's sigma of each candidate against people's."""

from darc.evaluation.figures.picture import Picture, numbers, values
from darc.evaluation.frame import Frame
from darc.views.chart import new_figure, quiet
from darc.views.palette import SERIES

MANY = 400


def draw_scatter(points: Frame) -> list[Picture]:
    """One picture a proxy, a panel a file of ratings, a dot a candidate."""
    return [_picture(source, points.where(source=source)) for source in values(points, "source")]


def _picture(source: str, frame: Frame) -> Picture:
    ratings = values(frame, "ratings")
    figure = new_figure(6.2 if len(ratings) == 1 else 4.2 * len(ratings), 4.6)
    for axes, name in zip(figure.subplots(1, len(ratings), squeeze=False)[0], ratings, strict=True):
        every = frame.where(ratings=name)
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
        quiet(axes, name, "the proxy's sigma", "people's sigma")
    caption = (
        f"The two sigmas of {len(frame)} candidates, a dot each; Best-of-K's choices are triangles."
    )
    return Picture("scatter", caption, source, figure)
