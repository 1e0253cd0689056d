"""The sigma-value plane as a picture."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.errors import InputError, MissingExtra
from darc.views.palette import BAND, CHOICE, INK, LABEL, OTHER, PALE
from darc.views.plane import Plane, Point

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")


def draw_plane(data: Plane) -> "Figure":
    """A figure of the plane: candidates, frontier, feasible set and choices; readable in grey."""
    figure_class = _figure_class()
    if not data.points:
        raise InputError("no candidate has a sigma", "give at least two samples a candidate")
    figure = figure_class(figsize=(7.2, 4.8), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    _scale(axes, data)
    if data.floor is not None:
        axes.axhspan(data.floor, axes.get_ylim()[1], color=BAND, zorder=0, label="within epsilon")
    if data.frontier:
        end = (axes.get_xlim()[1], data.frontier[-1][1])
        sigmas, values = zip(*data.frontier, end, strict=True)
        axes.step(sigmas, values, where="post", color=PALE, lw=1.4, zorder=1, label="frontier")
    known = [p for p in data.points if not p.bounded]
    _dots(axes, [p for p in data.points if p.bounded], PALE, PALE, "ruled out early (bound)", "v")
    _dots(axes, [p for p in known if not p.feasible], "white", PALE, "not feasible")
    _dots(axes, [p for p in known if p.feasible], INK, INK, "feasible")
    figure.draw_without_rendering()
    _names(axes, data)
    axes.set_xlabel("disagreement (sigma)")
    axes.set_ylabel("entropic value")
    axes.set_title(data.title, loc="left", fontsize=11, color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#eef1f4", zorder=0)
    axes.set_axisbelow(True)
    axes.legend(loc="best", frameon=False, fontsize=8)
    return figure


def save_figure(figure: "Figure", path: Path) -> None:
    """Write a figure as PNG, SVG or PDF, by the file's ending."""
    check_picture(path)
    figure.savefig(path, metadata={"Software": None} if path.suffix == ".png" else None)


def check_picture(path: Path) -> None:
    """Raise an `InputError` unless the file's ending names a picture format."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            f"{path} does not end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}",
            "choose a picture's name by its format",
        )
    _figure_class()


def _figure_class() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("drawing a picture", "plot") from None
    return Figure


def _scale(axes: Any, data: Plane) -> None:
    sigmas, values = [p.sigma for p in data.points], [p.value for p in data.points]
    wide = (max(sigmas) - min(sigmas)) or 1.0
    tall = (max(values) - min(values)) or 1.0
    axes.set_xlim(min(sigmas) - 0.16 * wide, max(sigmas) + 0.18 * wide)
    axes.set_ylim(min(values) - 0.12 * tall, max(values) + 0.18 * tall)


def _dots(
    axes: Any, points: list[Point], face: str, edge: str, label: str, marker: str = "o"
) -> None:
    if points:
        axes.scatter(
            [p.sigma for p in points],
            [p.value for p in points],
            s=34,
            marker=marker,
            facecolor=face,
            edgecolor=edge,
            linewidth=1.2,
            zorder=3,
            label=label,
        )


def _names(axes: Any, data: Plane) -> None:
    """The candidates' names: the chosen ones ringed, the others where there is room."""
    placed = [axes.transData.transform((p.sigma, p.value)) for p in data.points]
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in placed]
    for point, spot in sorted(
        zip(data.points, placed, strict=True), key=lambda p: not p[0].chosen_by
    ):
        name = point.name if len(point.name) <= 18 else f"{point.name[:17]}…"
        if point.chosen_by:
            color, marker = (CHOICE, "o") if data.rule in point.chosen_by else (OTHER, "s")
            axes.scatter(
                point.sigma,
                point.value,
                s=190,
                facecolor="none",
                edgecolor=color,
                linewidth=2.2,
                marker=marker,
                zorder=4,
            )
            name = f"{', '.join(point.chosen_by)}: {name}"
            box, offset = _room(axes, spot, name, 8.5, taken, ((0, 17), (0, -17)))
            style = {"fontsize": 8.5, "color": color, "weight": "bold"}
        else:
            sides = ((0, 9), (0, -9), (_half(name, 7) + 9, 0), (-_half(name, 7) - 9, 0))
            box, offset = _room(axes, spot, name, 7, taken, sides)
            style = {"fontsize": 7, "color": LABEL}
        taken.append(box)
        axes.annotate(
            name,
            (point.sigma, point.value),
            offset,
            textcoords="offset points",
            ha="center",
            va="center",
            **style,
        )


def _half(text: str, size: float) -> float:
    """About half the width of a text, in points."""
    return 0.29 * size * len(text)


def _room(
    axes: Any,
    spot: Any,
    text: str,
    size: float,
    taken: list[tuple[float, float, float, float]],
    offsets: tuple[tuple[float, float], ...],
) -> tuple[tuple[float, float, float, float], tuple[float, float]]:
    """The first offset (in points) whose box covers nothing taken, or the first of all."""
    scale = axes.figure.dpi / 72
    half, tall = _half(text, size) * scale, 0.6 * size * scale
    boxes = []
    for right, up in offsets:
        x, y = spot[0] + right * scale, spot[1] + up * scale
        boxes.append((x - half, y - tall, x + half, y + tall))
    for box, offset in zip(boxes, offsets, strict=True):
        if not any(_overlap(box, other) for other in taken):
            return box, offset
    return boxes[0], offsets[0]


def _overlap(
    one: tuple[float, float, float, float], other: tuple[float, float, float, float]
) -> bool:
    across = one[0] < other[2] and other[0] < one[2]
    return across and one[1] < other[3] and other[1] < one[3]
