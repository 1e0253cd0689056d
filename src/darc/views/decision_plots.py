"""The sigma-value plane of one decision."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.decide.decision import Decision
from darc.errors import InputError
from darc.views.chart import new_figure, quiet
from darc.views.palette import BAND, CHOICE, INK, LABEL, OTHER, PALE
from darc.views.text_table import shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Point:
    """One candidate in the plane; `chosen_by` names the rules that chose it."""

    name: str
    sigma: float
    value: float
    feasible: bool
    on_frontier: bool
    chosen_by: tuple[str, ...]


@dataclass(frozen=True)
class Plane:
    """Candidates by sigma and value, and what the deciding rule made of them.

    `floor` is the value below which nothing was feasible, None where the rule has none.
    """

    title: str
    rule: str
    points: tuple[Point, ...]
    floor: float | None

    @property
    def frontier(self) -> list[tuple[float, float]]:
        """(sigma, value) of the candidates that no other beats in both, by rising sigma."""
        return sorted((point.sigma, point.value) for point in self.points if point.on_frontier)


def plane(decision: Decision, others: Sequence[Decision] = (), title: str = "") -> Plane:
    """The plane of a decision, with the choices of other rules on the same pool marked too.

    Candidates that were ruled out early have no place in it: only bounds of them are known.
    """
    sigma, value = decision.statistics.sigma, decision.statistics.value
    usable = ~np.isnan(sigma) & ~np.isnan(value) & decision.pools.present[0]
    if decision.bounded is not None:
        usable &= ~decision.bounded
    best: list[int] = []
    for k in np.lexsort((-value, sigma)).tolist():
        if usable[k] and not (best and value[k] <= value[best[-1]]):
            best.append(k)
    points = tuple(
        Point(
            decision.labels.candidate(k),
            float(sigma[k]),
            float(value[k]),
            bool(decision.feasible[k]),
            k in best,
            tuple(dict.fromkeys(d.rule.name for d in (decision, *others) if d.index == k)),
        )
        for k in np.flatnonzero(usable).tolist()
    )
    floor = None
    if decision.rule.name == "epsilon":
        top = np.nanmax(np.where(decision.pools.eligible[0], value, np.nan))
        floor = float(top) - float(decision.rule.parameters["epsilon"])
    return Plane(title, decision.rule.name, points, floor)


def draw_plane(data: Plane, width: float = 7.2) -> "Figure":
    """A figure of the plane: candidates, frontier, feasible set and choices; readable in grey."""
    if not data.points:
        raise InputError("no candidate has a sigma", "give at least two samples a candidate")
    figure = new_figure(width, width / 1.5)
    axes: Any = figure.add_subplot()
    sigmas, values = [p.sigma for p in data.points], [p.value for p in data.points]
    wide, tall = (max(each) - min(each) or 1.0 for each in (sigmas, values))
    axes.set_xlim(min(sigmas) - 0.16 * wide, max(sigmas) + 0.18 * wide)
    axes.set_ylim(min(values) - 0.12 * tall, max(values) + 0.18 * tall)
    if data.floor is not None:
        axes.axhspan(data.floor, axes.get_ylim()[1], color=BAND, zorder=0, label="within epsilon")
    if data.frontier:
        end = (axes.get_xlim()[1], data.frontier[-1][1])
        line = zip(*data.frontier, end, strict=True)
        axes.step(*line, where="post", color=PALE, lw=1.4, zorder=1, label="frontier")
    kinds = (
        ([p for p in data.points if not p.feasible], "white", PALE, "not feasible"),
        ([p for p in data.points if p.feasible], INK, INK, "feasible"),
    )
    for points, face, edge, label in kinds:
        if points:
            places = [p.sigma for p in points], [p.value for p in points]
            look = {"marker": "o", "facecolor": face, "edgecolor": edge, "label": label}
            axes.scatter(*places, s=34, linewidth=1.2, zorder=3, **look)
    figure.draw_without_rendering()
    _names(axes, data)
    quiet(axes, data.title, "disagreement (sigma)", "entropic value")
    left, right = axes.get_xlim()
    axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick <= right])
    axes.set_xlim(left, right)
    axes.legend(loc="best", frameon=False, fontsize=8)
    return figure


def _names(axes: Any, data: Plane) -> None:
    """The candidates' names: the chosen ones ringed, the others where there is room."""
    from matplotlib.transforms import Bbox

    dots = [axes.transData.transform((p.sigma, p.value)) for p in data.points]
    taken = [Bbox.from_bounds(x - 5, y - 5, 10, 10) for x, y in dots]
    # The numbers of the axis.
    taken.append(Bbox.from_extents(0, 0, axes.bbox.x0, axes.figure.bbox.y1))
    scale = axes.figure.dpi / 72
    pairs = sorted(zip(data.points, dots, strict=True), key=lambda pair: not pair[0].chosen_by)
    for point, (x, y) in pairs:
        name = shortened(point.name, 18)
        place = point.sigma, point.value
        size, style = 7.0, {"color": LABEL}
        if point.chosen_by:
            color, marker = (CHOICE, "o") if data.rule in point.chosen_by else (OTHER, "s")
            look = {"facecolor": "none", "edgecolor": color, "marker": marker}
            axes.scatter(*place, s=190, linewidth=2.2, zorder=4, **look)
            name = f"{', '.join(point.chosen_by)}: {name}"
            size, style = 8.5, {"color": color, "weight": "bold"}
        half, tall = 0.29 * size * len(name), 0.6 * size
        sides = [(0.0, 9.0), (0.0, -9.0), (half + 9, 0.0), (-half - 9, 0.0), (0, 18.0), (0, -18.0)]
        if point.chosen_by:
            sides = [(0.0, 17.0), (0.0, -17.0)]
        boxes = [
            Bbox.from_extents(
                *(x + (right - half) * scale, y + (up - tall) * scale),
                *(x + (right + half) * scale, y + (up + tall) * scale),
            )
            for right, up in sides
        ]
        free = next((n for n, box in enumerate(boxes) if not box.count_overlaps(taken)), 0)
        taken.append(boxes[free])
        where = {"textcoords": "offset points", "ha": "center", "va": "center"}
        axes.annotate(name, place, sides[free], fontsize=size, **where, **style)
