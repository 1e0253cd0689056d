"""The figures that compare a proxy's sigma with people's."""

from typing import Any

from darc.analysis.frame import Frame
from darc.analysis.report.frame_parts import frame_parts, numbers
from darc.analysis.report.picture import Picture, captioned_picture
from darc.views.chart import MAX_SERIES, new_figure, series_styles, style_axes
from darc.views.palette import PALE, SERIES

# From this number of candidates on, dots are smaller and paler.
MANY_CANDIDATES = 400


def draw_scatter(source: str, frame: Frame) -> Picture:
    """Draw one dot per candidate and one panel per file of ratings.

    Args:
        source: The source.
        frame: The rows of the table "points" of this source.

    Returns:
        The picture.
    """
    ratings = frame_parts(frame, "ratings")
    width = 6.2 if len(ratings) == 1 else 4.2 * len(ratings)
    figure = new_figure(width, 4.6)
    panels = figure.subplots(1, len(ratings), squeeze=False)[0]
    for axes, (name, rows) in zip(panels, ratings, strict=True):
        many = len(rows) >= MANY_CANDIDATES
        # Whether a candidate is Best-of-K's choice may be unknown ("").
        for is_best_of_k in ("", "no", "yes"):
            _draw_dots(axes, rows.where(best_of_k=is_best_of_k), is_best_of_k == "yes", many)
        style_axes(axes, name, "the proxy's sigma", "people's sigma")
    return captioned_picture("scatter", source, figure, size=len(frame))


def _draw_dots(axes: Any, rows: Frame, best_of_k: bool, many: bool) -> None:
    """Draw candidates; Best-of-K's choices are larger triangles."""
    size = 3.0 if many else 4.5
    opacity = 0.55
    if best_of_k:
        size += 1
    elif many:
        opacity = 0.3
    axes.plot(
        numbers(rows, "sigma_proxy"),
        numbers(rows, "sigma_human"),
        linestyle="none",
        marker="^" if best_of_k else "o",
        markersize=size,
        markerfacecolor=SERIES[1] if best_of_k else SERIES[0],
        markeredgecolor="none",
        alpha=opacity,
    )


def draw_overlap(source: str, frame: Frame) -> Picture:
    """Draw one line per file of ratings and kind of items, and one for chance.

    Args:
        source: The source.
        frame: The rows of the table "overlap" of this source.

    Returns:
        The picture.
    """
    series = {
        f"{ratings}, {items}": rows
        for ratings, items, rows in frame_parts(frame, "ratings", "items")
    }
    names = list(series)[: MAX_SERIES - 1]
    figure = new_figure(6.2, 4.2)
    axes: Any = figure.add_subplot()
    for name, style in series_styles(names).items():
        rows = series[name]
        axes.plot(numbers(rows, "share"), numbers(rows, "overlap"), label=name, **style.line)
    first = next(iter(series.values()))
    axes.plot(
        numbers(first, "share"),
        numbers(first, "by_chance"),
        color=PALE,
        linestyle="--",
        linewidth=1.4,
        label="by chance",
    )
    style_axes(axes, "", "top share q by sigma", "share of the proxy's top q in people's")
    axes.set_ylim(0, None)
    axes.legend(loc="upper left", frameon=False, fontsize=9, handlelength=3.6)
    return captioned_picture("overlap", source, figure)
