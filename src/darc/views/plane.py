"""The plane of one decision: candidates by disagreement (sigma) and value."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from darc.errors import InputError
from darc.views.chart import new_figure, style_axes
from darc.views.palette import BAND, CHOICE, INK, LABEL, OTHER, PALE
from darc.views.text_table import shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

MAX_NAME_LENGTH = 18
# Sizes in points.
_NAME_SIZE = 7.0
_CHOICE_NAME_SIZE = 8.5


@dataclass(frozen=True)
class Point:
    """One candidate in the plane.

    Attributes:
        name: What the candidate is called.
        sigma: Its disagreement.
        value: Its entropic value.
        feasible: Whether the deciding rule may choose it.
        on_frontier: Whether no other candidate has a lower sigma and a higher value.
        chosen_by: The names of the rules that chose it.
    """

    name: str
    sigma: float
    value: float
    feasible: bool
    on_frontier: bool
    chosen_by: tuple[str, ...]


@dataclass(frozen=True)
class Plane:
    """Candidates by sigma and value.

    Attributes:
        title: The title of the picture.
        rule: The name of the rule that decides.
        points: The candidates.
        floor: The value below which no candidate is feasible, None if the rule has no such limit.
    """

    title: str
    rule: str
    points: tuple[Point, ...]
    floor: float | None

    @property
    def frontier(self) -> list[tuple[float, float]]:
        """(sigma, value) of the candidates on the frontier, by rising sigma."""
        return sorted((point.sigma, point.value) for point in self.points if point.on_frontier)


def draw_plane(plane: Plane, width: float = 7.2) -> "Figure":
    """Draw candidates, frontier, feasible set and choices; legible in grey.

    Args:
        plane: What to draw.
        width: The width of the figure in inches.

    Returns:
        The figure.

    Raises:
        InputError: If no candidate has a sigma.
        MissingExtra: If matplotlib is not installed.
    """
    if not plane.points:
        raise InputError("no candidate has a sigma", "give at least two samples per candidate")
    figure = new_figure(width, width / 1.5)
    axes: Any = figure.add_subplot()
    _set_limits(axes, plane.points)
    if plane.floor is not None:
        top = axes.get_ylim()[1]
        axes.axhspan(plane.floor, top, color=BAND, zorder=0, label="within epsilon")
    if plane.frontier:
        _draw_frontier(axes, plane.frontier)
    feasible = [point for point in plane.points if point.feasible]
    others = [point for point in plane.points if not point.feasible]
    _draw_points(axes, others, face="white", edge=PALE, label="not feasible")
    _draw_points(axes, feasible, face=INK, edge=INK, label="feasible")
    # Names are placed by where the points are on the figure, which drawing finds out.
    figure.draw_without_rendering()
    _draw_names(axes, plane)
    style_axes(axes, plane.title, "disagreement (sigma)", "entropic value")
    left, right = axes.get_xlim()
    axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick <= right])
    axes.set_xlim(left, right)
    axes.legend(loc="best", frameon=False, fontsize=8)
    return figure


def _set_limits(axes: Any, points: Sequence[Point]) -> None:
    """Leave room for names around the points."""
    sigmas = [point.sigma for point in points]
    values = [point.value for point in points]
    sigma_span = max(sigmas) - min(sigmas) or 1.0
    value_span = max(values) - min(values) or 1.0
    axes.set_xlim(min(sigmas) - 0.16 * sigma_span, max(sigmas) + 0.18 * sigma_span)
    axes.set_ylim(min(values) - 0.12 * value_span, max(values) + 0.18 * value_span)


def _draw_frontier(axes: Any, frontier: Sequence[tuple[float, float]]) -> None:
    sigmas = [sigma for sigma, _ in frontier]
    values = [value for _, value in frontier]
    # The frontier goes on to the right edge.
    sigmas.append(axes.get_xlim()[1])
    values.append(values[-1])
    axes.step(sigmas, values, where="post", color=PALE, lw=1.4, zorder=1, label="frontier")


def _draw_points(axes: Any, points: Sequence[Point], face: str, edge: str, label: str) -> None:
    if not points:
        return
    axes.scatter(
        [point.sigma for point in points],
        [point.value for point in points],
        s=34,
        linewidth=1.2,
        zorder=3,
        marker="o",
        facecolor=face,
        edgecolor=edge,
        label=label,
    )


def _draw_names(axes: Any, plane: Plane) -> None:
    """Write the candidates' names, those of choices first, where there is room."""
    from matplotlib.transforms import Bbox

    pixels = [axes.transData.transform((point.sigma, point.value)) for point in plane.points]
    occupied = [Bbox.from_bounds(x - 5, y - 5, 10, 10) for x, y in pixels]
    numbers_of_the_axis = Bbox.from_extents(0, 0, axes.bbox.x0, axes.figure.bbox.y1)
    occupied.append(numbers_of_the_axis)
    placed = zip(plane.points, pixels, strict=True)
    for point, (x, y) in sorted(placed, key=lambda pair: not pair[0].chosen_by):
        if point.chosen_by:
            label = _choice_label(axes, plane, point)
        else:
            label = _name_label(point)
        boxes = [label.box(x, y, offset, axes.figure.dpi / 72) for offset in label.offsets]
        # The first place is used if none is free.
        free = (place for place, box in enumerate(boxes) if not box.count_overlaps(occupied))
        place = next(free, 0)
        occupied.append(boxes[place])
        axes.annotate(
            label.text,
            (point.sigma, point.value),
            label.offsets[place],
            fontsize=label.size,
            textcoords="offset points",
            ha="center",
            va="center",
            **label.style,
        )


@dataclass(frozen=True)
class _Label:
    """The name of a point, and where it may stand: offsets of its centre in points."""

    text: str
    size: float
    style: dict[str, str]
    offsets: tuple[tuple[float, float], ...]

    @property
    def half_width(self) -> float:
        """About half of its width in points."""
        return _half_width(self.text, self.size)

    def box(self, x: float, y: float, offset: tuple[float, float], scale: float) -> "Bbox":
        """What it covers at an offset from a point at (x, y), in pixels; `scale` is per point."""
        from matplotlib.transforms import Bbox

        right, up = offset
        half_height = 0.6 * self.size
        return Bbox.from_extents(
            x + (right - self.half_width) * scale,
            y + (up - half_height) * scale,
            x + (right + self.half_width) * scale,
            y + (up + half_height) * scale,
        )


def _half_width(text: str, size: float) -> float:
    return 0.29 * size * len(text)


def _name_label(point: Point) -> _Label:
    """The name of a candidate that no rule chose: above, below or beside its point."""
    text = shorten(point.name, MAX_NAME_LENGTH)
    beside = _half_width(text, _NAME_SIZE) + 9
    offsets = ((0.0, 9.0), (0.0, -9.0), (beside, 0.0), (-beside, 0.0), (0.0, 18.0), (0.0, -18.0))
    return _Label(text, _NAME_SIZE, {"color": LABEL}, offsets)


def _choice_label(axes: Any, plane: Plane, point: Point) -> _Label:
    """The name of a chosen candidate, which is ringed: above or below its ring."""
    color = OTHER
    marker = "s"
    if plane.rule in point.chosen_by:
        color = CHOICE
        marker = "o"
    axes.scatter(
        point.sigma,
        point.value,
        s=190,
        linewidth=2.2,
        zorder=4,
        facecolor="none",
        edgecolor=color,
        marker=marker,
    )
    text = f"{', '.join(point.chosen_by)}: {shorten(point.name, MAX_NAME_LENGTH)}"
    style = {"color": color, "weight": "bold"}
    return _Label(text, _CHOICE_NAME_SIZE, style, ((0.0, 17.0), (0.0, -17.0)))
