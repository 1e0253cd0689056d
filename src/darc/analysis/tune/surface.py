"""What a tuning found as a picture: every rule's held-out gain, and one rule's knobs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.analysis.tune.advice import Advice
from darc.analysis.tune.grid import BEST_OF_K
from darc.analysis.tune.tuning import TunedRule
from darc.decide.method import Method
from darc.typing import Array
from darc.views.chart import new_figure, style_axes
from darc.views.palette import CHOICE, INK, LABEL, PALE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STAR = {"marker": "*", "facecolor": "white"}


@dataclass(frozen=True, eq=False)
class Surface:
    """Gains over Best-of-K on all prompts: a line (X,), or a plane (Y, X) with beta upwards."""

    rule: str
    knob: str
    across: Array
    upwards: Array | None
    gain: Array
    chosen: Method
    by_fold: tuple[Method, ...]

    def place(self, setting: Method) -> tuple[int, int] | None:
        """Where a setting is, (x, y), or None: a fold may have chosen another kind or scale."""
        if not _alike(setting, self.chosen):
            return None
        x = np.flatnonzero(self.across == setting.parameters[self.knob]).tolist()
        y = [0]
        if self.upwards is not None:
            y = np.flatnonzero(self.upwards == setting.beta).tolist()
        return (x[0], y[0]) if x and y else None


def surface_of(row: TunedRule) -> Surface:
    """The `Surface` of a rule through its chosen setting, by the first number among its knobs.

    Of a rule with several kinds of settings (tau and quantile, c and lam) it is the kind chosen.
    """
    chosen = row.setting
    knob = next(name for name, value in chosen.parameters.items() if not isinstance(value, str))
    flat = knob == "beta" or "beta" not in chosen.parameters
    kept: dict[tuple[Any, Any], float] = {
        (None if flat else setting.beta, setting.parameters[knob]): gain
        for setting, gain in row.surface
        if _alike(setting, chosen)
    }
    upwards, across = (sorted({*values}) for values in zip(*kept, strict=True))
    gains = np.array([[kept[y, x] for x in across] for y in upwards])
    ends = np.array(across), None if flat else np.array(upwards)
    return Surface(row.rule, knob, *ends, gains[0] if flat else gains, chosen, row.by_fold)


def _alike(one: Method, other: Method) -> bool:
    """Whether two settings differ in the numbers of the same knobs only."""
    return one.parameters.keys() == other.parameters.keys() and all(
        other.parameters[key] == value
        for key, value in one.parameters.items()
        if isinstance(value, str)
    )


def draw_tuned(advice: Advice) -> "Figure":
    """Held-out gains with a star at what is recommended, and the knobs of one rule beside them.

    That rule is the recommended one, or else the best that has knobs, whose setting gets no star.
    """
    assert advice.tuned is not None
    rows, unit = advice.tuned.rows, advice.tuned.objective.words
    with_knobs = [row for row in rows if row.setting.parameters]
    shown = next((row for row in with_knobs if row.rule == advice.setting.rule.name), None)
    row = shown or next(iter(with_knobs), None)
    figure = new_figure(12.4 if row else 6.0, 5.2)
    _gains(figure.add_subplot(1, 2 if row else 1, 1), advice)
    if row is not None:
        axes = figure.add_subplot(1, 2, 2)
        _surface(figure, axes, surface_of(row), unit, recommended=shown is not None)
    figure.legend(loc="outside lower center", ncols=5, frameon=False, fontsize=8)
    return figure


def _gains(axes: Any, advice: Advice) -> None:
    """Gains on prompts held out with their intervals, the best on top."""
    assert advice.tuned is not None
    found = [(row.rule, row.gain, row.low, row.high) for row in advice.tuned.rows]
    found.append((BEST_OF_K.rule.name, 0.0, 0.0, 0.0))
    found.sort(key=lambda each: each[1])
    for place, (rule, gain, low, high) in enumerate(found):
        star = rule == advice.setting.rule.name
        axes.plot([low, high], [place, place], color=CHOICE if star else PALE, lw=2.0, zorder=2)
        look: dict[str, Any] = {"s": 34, "marker": "o", "facecolor": INK}
        if star:
            look = {**_STAR, "s": 210, "label": f"recommended: {advice.setting.text}"}
        axes.scatter(gain, place, edgecolor=INK, linewidth=1.2, zorder=3, **look)
    axes.axvline(0.0, color=LABEL, lw=1.2, ls="--")
    names = ["Best-of-K" if rule == BEST_OF_K.rule.name else rule for rule, *_ in found]
    axes.set_yticks(range(len(found)), names)
    title = f"{advice.tuned.name}: prompts that had no part in the choice"
    style_axes(axes, title, f"gain over Best-of-K in {advice.tuned.objective.words}, 95 %")


def _surface(figure: "Figure", axes: Any, surface: Surface, unit: str, recommended: bool) -> None:
    """A heat map, or a line for one knob, with the choice and Best-of-K's level; legible in grey.

    The rule's setting is a star if it is recommended; rings are those chosen without one fold.
    `unit` says what the gain is of.
    """
    gain = surface.gain
    chosen, others = surface.place(surface.chosen), map(surface.place, surface.by_fold)
    spots: list[Any] = [at for at in dict.fromkeys([chosen, *others]) if at is not None]
    up = f"gain in {unit}" if surface.upwards is None else "beta"
    style_axes(axes, f"{surface.rule}: the prompts it was chosen on", surface.knob, up)
    if surface.upwards is None:
        axes.plot(gain, color=INK, marker="o", ms=3, lw=1.4)
        axes.axhline(0.0, color=LABEL, lw=1.2, ls="--", label="Best-of-K")
        spots = [(x, gain[x]) for x, _ in spots]
    else:
        axes.grid(visible=False)
        low, high = min(0.0, np.nanmin(gain)), max(0.0, np.nanmax(gain))
        axes.imshow(gain, origin="lower", aspect="auto", cmap="cividis", vmin=low, vmax=high)
        bar = figure.colorbar(axes.images[0], ax=axes, label=f"gain in {unit}")
        for color, wide, thin in (("white", 4, 3.0), (INK, 1.6, 1.2)):
            bar.ax.axhline(0.0, color=color, lw=wide, clip_on=False)
            if np.nanmin(gain) < 0 < np.nanmax(gain):
                axes.contour(gain, levels=[0.0], colors=color, linewidths=thin)
        axes.plot([], [], color=INK, lw=1.4, label="Best-of-K's level")
        _ticks(axes.yaxis, surface.upwards)
    if chosen is not None:
        look = {**_STAR, "s": 230}
        if not recommended:
            label = f"best of its rule, not recommended: {surface.chosen.text}"
            look = {"s": 90, "marker": "D", "facecolor": "white", "label": label}
        axes.scatter(*spots.pop(0), edgecolor=INK, linewidth=1.4, zorder=4, **look)
    if spots:
        ring = {"facecolor": "white", "edgecolor": CHOICE, "linewidth": 1.6}
        label = "chosen without one fold"
        axes.scatter(*zip(*spots, strict=True), s=60, zorder=3, label=label, **ring)
    _ticks(axes.xaxis, surface.across)


def _ticks(axis: Any, values: Array) -> None:
    """At most eleven ticks, labelled by the knob's values."""
    step = -(-len(values) // 11)
    places = list(range(0, len(values), step))
    axis.set_ticks(places, [f"{values[place]:.3g}" for place in places])
