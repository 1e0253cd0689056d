"""Pictures of one decision: the sigma-value plane, and how people rated each answer."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.errors import InputError
from darc.selection.decision import Decision
from darc.typing import Array
from darc.views.chart import new_figure, quiet
from darc.views.palette import BAND, CHOICE, INK, LABEL, OTHER, PALE, PALE_OTHER
from darc.views.text_table import shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST, WIDE, BINS = 8, 46, 40
# The lowest part of the scale, whose ratings are drawn as those of people who are unhappy.
UNHAPPY = 0.3
# The lowest and the highest rating, and the upper end of those that count as unhappy.
Scale = tuple[float, float, float]


@dataclass(frozen=True)
class Point:
    """One candidate in the plane; `chosen_by` names the rules that chose it.

    A `bounded` one was ruled out early: its value lies lower, and its sigma higher, than shown.
    """

    name: str
    sigma: float
    value: float
    feasible: bool
    on_frontier: bool
    bounded: bool
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
    """The plane of a decision, with the choices of other rules on the same pool marked too."""
    sigma, value = decision.statistics.sigma, decision.statistics.value
    usable = ~np.isnan(sigma) & ~np.isnan(value) & decision.pools.present[0]
    bounded = np.zeros_like(usable) if decision.bounded is None else decision.bounded
    best: list[int] = []
    for k in np.lexsort((-value, sigma)).tolist():
        if usable[k] and not bounded[k] and not (best and value[k] <= value[best[-1]]):
            best.append(k)
    points = tuple(
        Point(
            decision.labels.candidate(k),
            float(sigma[k]),
            float(value[k]),
            bool(decision.feasible[k]),
            k in best,
            bool(bounded[k]),
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
    known = [p for p in data.points if not p.bounded]
    kinds = (
        ([p for p in data.points if p.bounded], PALE, PALE, "ruled out early (bound)", "v"),
        ([p for p in known if not p.feasible], "white", PALE, "not feasible", "o"),
        ([p for p in known if p.feasible], INK, INK, "feasible", "o"),
    )
    for points, face, edge, label, marker in kinds:
        if points:
            places = [p.sigma for p in points], [p.value for p in points]
            look = {"marker": marker, "facecolor": face, "edgecolor": edge, "label": label}
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


def draw_ratings(
    decisions: Sequence[Decision], title: str, texts: Mapping[str, str] | None = None
) -> "Figure":
    """A strip of ratings for each answer to one prompt, the largest mean on top; readable in grey.

    The last decision is the choice that matters, the others stand beside it. At most `MOST` answers
    are shown, the chosen ones among them. One scorer only.
    """
    last = decisions[-1]
    samples = last.pools.samples[0, 0]
    low, high, edge = _scale(samples)
    mean = np.where(last.pools.present[0], last.statistics.mean, np.nan)
    order = [k for k in np.argsort(-mean, kind="stable").tolist() if mean[k] == mean[k]]
    taken = {each.index for each in decisions}
    kept = sorted(order, key=lambda k: k not in taken)[: max(MOST, len(taken))]
    shown = [k for k in order if k in kept]
    figure = new_figure(9.6, 1.5 + 0.82 * len(shown))
    axes = figure.add_subplot()
    for place, k in enumerate(reversed(shown)):
        rules = [each.rule.name for each in decisions if each.index == k]
        takers = ["Best-of-K" if rule == "mean" else rule for rule in rules]
        own = samples[k][~np.isnan(samples[k])]
        _row(axes, place, own, (low, high, edge), takers, last.index == k)
        _label(axes, place, last.labels.candidate(k), texts or {})
    axes.set_yticks([])
    axes.set_ylim(-0.55, len(shown) - 0.4)
    wide = (high - low) or 1.0
    axes.set_xlim(low - 0.04 * wide, high + 0.44 * wide)
    axes.set_xticks([tick for tick in axes.get_xticks() if low - 1e-9 <= tick <= high + 1e-9])
    axes.spines["bottom"].set_bounds(low, high)
    part = f"in the lowest {UNHAPPY:.0%} of the scale"
    text = f"ratings, one dot a {last.labels.sample} (open: {part}; line: the mean)"
    axes.set_xlabel(text, fontsize=8.5, color=LABEL)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_title(textwrap.shorten(title, 100), loc="left", fontsize=11, color=INK)
    return figure


def unhappy(decision: Decision, index: int) -> str:
    """How many rate a candidate in the lowest part of the scale, such as "4 of 20 rate it 1 to 3".

    Nothing for several scorers.
    """
    samples = decision.pools.samples[0]
    if len(samples) > 1:
        return ""
    own = samples[0, index][~np.isnan(samples[0, index])]
    below = own[own <= _scale(samples[0])[2]]
    if not below.size:
        return f"nobody rates it below {own.min():g}"
    span = f"{below.min():g}" + (f" to {below.max():g}" if below.min() < below.max() else "")
    return f"{below.size} of {own.size} rate it {span}"


def _scale(samples: Array) -> Scale:
    low, high = float(np.nanmin(samples)), float(np.nanmax(samples))
    return low, high, low + UNHAPPY * ((high - low) or 1.0)


def _label(axes: Any, place: int, name: str, texts: Mapping[str, str]) -> None:
    """An answer's name on the left, above its first lines where the text is known."""
    lines = textwrap.wrap(texts.get(name, ""), WIDE, max_lines=4, placeholder=" ...")
    style = {"transform": axes.get_yaxis_transform(), "ha": "right", "color": INK}
    top = place + 0.36 if lines else place
    axes.text(-0.02, top, textwrap.shorten(name, WIDE), fontsize=8.5, weight="bold",
              va="top" if lines else "center", **style)  # fmt: skip
    axes.text(-0.02, top - 0.19, "\n".join(lines), fontsize=7.5, va="top", **style)


def _row(
    axes: Any, place: int, own: Array, scale: Scale, takers: Sequence[str], chosen: bool
) -> None:
    """One answer: stacked dots, the mean, who is unhappy and who takes it."""
    low, high, edge = scale
    color = CHOICE if chosen else OTHER if takers else INK
    if takers:
        axes.axhspan(place - 0.46, place + 0.46, color=BAND if chosen else PALE_OTHER, zorder=0)
    wide = (high - low) or 1.0
    seats = np.round((own - low) / wide * BINS) / BINS * wide + low
    seats = np.sort(own if len(np.unique(own)) <= BINS else seats)
    level = np.arange(seats.size) - np.searchsorted(seats, seats)
    step = min(0.13, 0.62 / (1 + level.max()))
    for mine, face, edges in ((seats <= edge, "white", OTHER), (seats > edge, color, color)):
        look = {"facecolor": face, "edgecolor": edges, "s": min(26.0, 900 * step**1.5 + 4)}
        axes.scatter(seats[mine], place - 0.32 + step * level[mine], lw=1.3, zorder=3, **look)
    mean = float(own.mean())
    axes.plot([mean, mean], [place - 0.44, place + 0.42], color=INK, lw=1.4, zorder=2)
    below = int((own <= edge).sum())
    said = f"mean {mean:.2f}, {f'{below} of {len(own)} unhappy' if below else 'nobody unhappy'}"
    right = high + 0.06 * wide
    axes.text(right, place - (0.16 if takers else 0.0), said, fontsize=8, color=LABEL, va="center")
    if takers:
        verb = "takes" if len(takers) == 1 else "take"
        axes.text(right, place + 0.16, f"{' and '.join(takers)} {verb} this", fontsize=9,
                  color=color, weight="bold", va="center")  # fmt: skip
