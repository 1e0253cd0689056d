"""A tuning as a picture: every rule's held-out gain, and the parameters of one rule."""

from typing import TYPE_CHECKING, Any

import numpy as np

from darc.analysis.tune.advice import Advice
from darc.analysis.tune.grid import BEST_OF_K
from darc.analysis.tune.surface import Surface, surface_of
from darc.analysis.tune.tuning import Tuned, TunedRule
from darc.decide.method import Method
from darc.typing import Array
from darc.views.chart import new_figure, style_axes
from darc.views.palette import CHOICE, INK, LABEL, PALE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STAR = {"marker": "*", "facecolor": "white"}
_MAX_TICKS = 11


def draw_tuned(advice: Advice) -> "Figure":
    """Draw held-out gains with a star at what is recommended, and one rule's parameters.

    That rule is the recommended one, or else the best that has parameters, whose setting gets no
    star.
    """
    tuned = advice.tuned
    assert tuned is not None
    with_knobs = [row for row in tuned.rows if row.setting.parameters]
    if not with_knobs:
        figure = new_figure(6.0, 5.2)
        _draw_gains(figure.add_subplot(1, 1, 1), tuned, advice.setting)
    else:
        row = _row_to_show(with_knobs, advice.setting)
        is_recommended = row.rule == advice.setting.rule.name
        figure = new_figure(12.4, 5.2)
        _draw_gains(figure.add_subplot(1, 2, 1), tuned, advice.setting)
        axes = figure.add_subplot(1, 2, 2)
        _draw_surface(figure, axes, surface_of(row), tuned.objective.words, is_recommended)
    figure.legend(loc="outside lower center", ncols=5, frameon=False, fontsize=8)
    return figure


def _row_to_show(rows: list[TunedRule], recommended: Method) -> TunedRule:
    """The row of the recommended rule, or else the first."""
    for row in rows:
        if row.rule == recommended.rule.name:
            return row
    return rows[0]


def _draw_gains(axes: Any, tuned: Tuned, recommended: Method) -> None:
    """Gains on prompts held out with their intervals, the best on top."""
    baseline = BEST_OF_K.rule.name
    gains = [(row.rule, row.gain, row.low, row.high) for row in tuned.rows]
    gains.append((baseline, 0.0, 0.0, 0.0))
    gains.sort(key=lambda rule_gain: rule_gain[1])
    labels = []
    for height, (rule, gain, low, high) in enumerate(gains):
        color = PALE
        look: dict[str, Any] = {"s": 34, "marker": "o", "facecolor": INK}
        if rule == recommended.rule.name:
            color = CHOICE
            look = {**_STAR, "s": 210, "label": f"recommended: {recommended.text}"}
        axes.plot([low, high], [height, height], color=color, lw=2.0, zorder=2)
        axes.scatter(gain, height, edgecolor=INK, linewidth=1.2, zorder=3, **look)
        labels.append("Best-of-K" if rule == baseline else rule)
    axes.axvline(0.0, color=LABEL, lw=1.2, ls="--")
    axes.set_yticks(range(len(gains)), labels)
    title = f"{tuned.name}: prompts that had no part in the choice"
    style_axes(axes, title, f"gain over Best-of-K in {tuned.objective.words}, 95 %")


def _draw_surface(
    figure: "Figure", axes: Any, surface: Surface, unit: str, is_recommended: bool
) -> None:
    """A heat map, or a line for one parameter, with the choice and Best-of-K's level.

    Args:
        figure: The figure, for the color bar.
        axes: Where to draw.
        surface: The gains.
        unit: What the gain is of.
        is_recommended: Whether the rule's setting is a star.
    """
    title = f"{surface.rule}: the prompts it was chosen on"
    if surface.upwards is None:
        style_axes(axes, title, surface.knob, f"gain in {unit}")
        axes.plot(surface.gain, color=INK, marker="o", ms=3, lw=1.4)
        axes.axhline(0.0, color=LABEL, lw=1.2, ls="--", label="Best-of-K")
    else:
        style_axes(axes, title, surface.knob, "beta")
        _draw_heat_map(figure, axes, surface.gain, unit)
        _set_ticks(axes.yaxis, surface.upwards)
    chosen = surface.place(surface.chosen)
    if chosen is not None:
        look: dict[str, Any] = {**_STAR, "s": 230}
        if not is_recommended:
            label = f"best of its rule, not recommended: {surface.chosen.text}"
            look = {"s": 90, "marker": "D", "facecolor": "white", "label": label}
        x, y = _point(surface, chosen)
        axes.scatter(x, y, edgecolor=INK, linewidth=1.4, zorder=4, **look)
    places = dict.fromkeys(surface.place(method) for method in surface.by_fold)
    others = [place for place in places if place is not None and place != chosen]
    if others:
        points = [_point(surface, place) for place in others]
        ring = {"facecolor": "white", "edgecolor": CHOICE, "linewidth": 1.6}
        label = "chosen without one fold"
        axes.scatter(*zip(*points, strict=True), s=60, zorder=3, label=label, **ring)
    _set_ticks(axes.xaxis, surface.across)


def _draw_heat_map(figure: "Figure", axes: Any, gain: Array, unit: str) -> None:
    """Gains (Y, X) as colors that are legible in grey, with a line at Best-of-K's level."""
    axes.grid(visible=False)
    lowest = np.nanmin(gain)
    highest = np.nanmax(gain)
    axes.imshow(
        gain,
        origin="lower",
        aspect="auto",
        cmap="cividis",
        vmin=min(0.0, lowest),
        vmax=max(0.0, highest),
    )
    bar = figure.colorbar(axes.images[0], ax=axes, label=f"gain in {unit}")
    for color, bar_width, contour_width in (("white", 4, 3.0), (INK, 1.6, 1.2)):
        bar.ax.axhline(0.0, color=color, lw=bar_width, clip_on=False)
        if lowest < 0 < highest:
            axes.contour(gain, levels=[0.0], colors=color, linewidths=contour_width)
    axes.plot([], [], color=INK, lw=1.4, label="Best-of-K's level")


def _point(surface: Surface, place: tuple[int, int]) -> tuple[float, float]:
    """Where a place of a surface is drawn."""
    x, y = place
    if surface.upwards is None:
        return x, float(surface.gain[x])
    return x, y


def _set_ticks(axis: Any, values: Array) -> None:
    """At most eleven ticks, labelled by the parameter's values."""
    step = -(-len(values) // _MAX_TICKS)
    places = list(range(0, len(values), step))
    axis.set_ticks(places, [f"{values[place]:.3g}" for place in places])
