"""What a tuning found as a picture: every rule's held-out gain, and one rule's knobs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.tuning.advice import Advice
from darc.tuning.grid import BEST_OF_K, Setting
from darc.tuning.tune import TunedRule
from darc.typing import Array
from darc.views.chart import new_figure
from darc.views.palette import CHOICE, INK, LABEL, PALE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Surface:
    """Gains over Best-of-K on all prompts: a line (X,), or a plane (Y, X) with beta upwards."""

    rule: str
    knob: str
    across: Array
    upwards: Array | None
    gain: Array
    chosen: Setting
    by_fold: tuple[Setting, ...]

    def place(self, setting: Setting) -> tuple[int, int] | None:
        """Where a setting is, (x, y), or None: a fold may have chosen another kind or scale."""
        if not _alike(setting, self.chosen, self.knob):
            return None
        x = np.flatnonzero(self.across == setting.knobs[self.knob])
        y = np.zeros(1, dtype=np.int64)
        if self.upwards is not None:
            y = np.flatnonzero(self.upwards == setting.beta)
        return (int(x[0]), int(y[0])) if x.size and y.size else None

    @property
    def others(self) -> list[tuple[int, int]]:
        """Where the settings of the folds are that differ from the chosen one."""
        places = (self.place(setting) for setting in self.by_fold)
        found = dict.fromkeys(place for place in places if place is not None)
        return [place for place in found if place != self.place(self.chosen)]


def surface_of(row: TunedRule) -> Surface:
    """The `Surface` of a rule through its chosen setting.

    Of a rule with several kinds of settings (tau and quantile, c and lam) it is the kind chosen.
    """
    knob = _main_knob(row.setting)
    kept = [(setting, gain) for setting, gain in row.surface if _alike(setting, row.setting, knob)]
    across = _values([setting.knobs[knob] for setting, _ in kept])
    betas = [setting.beta for setting, _ in kept if setting.beta is not None]
    if knob == "beta" or not betas:
        line = {setting.knobs[knob]: gain for setting, gain in kept}
        gains = np.array([line[value] for value in across.tolist()])
        return Surface(row.rule, knob, across, None, gains, row.setting, row.by_fold)
    upwards = _values(betas)
    plane = {(setting.beta, setting.knobs[knob]): gain for setting, gain in kept}
    gains = np.array([[plane[y, x] for x in across.tolist()] for y in upwards.tolist()])
    return Surface(row.rule, knob, across, upwards, gains, row.setting, row.by_fold)


def _main_knob(setting: Setting) -> str:
    """The first number among the knobs."""
    return next(name for name, value in setting.knobs.items() if not isinstance(value, str))


def _alike(one: Setting, other: Setting, knob: str) -> bool:
    """Whether two settings differ in the numbers of the same knobs only."""
    if one.knobs.keys() != other.knobs.keys() or knob not in one.knobs:
        return False
    return all(
        other.knobs[key] == value for key, value in one.knobs.items() if isinstance(value, str)
    )


def _values(knobs: Sequence[Any]) -> Array:
    return np.unique(np.array(knobs, dtype=np.float64))


def draw_tuned(advice: Advice) -> "Figure":
    """Held-out gains with a star at what is recommended, and the knobs of one rule beside them.

    That rule is the recommended one, or else the best that has knobs, whose setting gets no star.
    """
    assert advice.tuned is not None
    rows, unit = advice.tuned.rows, advice.tuned.objective.words
    with_knobs = [row for row in rows if row.setting.knobs]
    shown = next((row for row in with_knobs if row.rule == advice.setting.rule), None)
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
    found.append((BEST_OF_K.rule, 0.0, 0.0, 0.0))
    found.sort(key=lambda each: each[1])
    for place, (rule, gain, low, high) in enumerate(found):
        star = rule == advice.setting.rule
        axes.plot([low, high], [place, place], color=CHOICE if star else PALE, lw=2.0, zorder=2)
        axes.scatter(
            gain,
            place,
            s=210 if star else 34,
            marker="*" if star else "o",
            facecolor="white" if star else INK,
            edgecolor=INK,
            linewidth=1.2,
            zorder=3,
            label=f"recommended: {advice.setting.text}" if star else None,
        )
    axes.axvline(0.0, color=LABEL, lw=1.2, ls="--")
    names = ["Best-of-K" if rule == BEST_OF_K.rule else rule for rule, *_ in found]
    axes.set_yticks(range(len(found)), names)
    axes.set_xlabel(f"gain over Best-of-K in {advice.tuned.objective.words}, 95 %")
    title = f"{advice.tuned.name}: prompts that had no part in the choice"
    axes.set_title(title, loc="left", fontsize=10, color=INK)
    axes.spines[["top", "right"]].set_visible(False)


def _surface(figure: "Figure", axes: Any, surface: Surface, unit: str, recommended: bool) -> None:
    """A heat map, or a line for one knob, with the choice and Best-of-K's level; legible in grey.

    `unit` says what the gain is of.
    """
    star = "recommended" if recommended else "best of its rule, not recommended"
    if surface.upwards is None:
        _line(axes, surface, star)
        axes.set_ylabel(f"gain in {unit}")
    else:
        _map(axes, surface, star)
        bar = figure.colorbar(axes.images[0], ax=axes, label=f"gain in {unit}")
        bar.ax.axhline(0.0, color="white", lw=4, clip_on=False)
        bar.ax.axhline(0.0, color=INK, lw=1.6, clip_on=False)
    _ticks(axes.xaxis, surface.across)
    axes.set_xlabel(surface.knob)
    title = f"{surface.rule}: the prompts it was chosen on"
    axes.set_title(title, loc="left", fontsize=10, color=INK)


def _map(axes: Any, surface: Surface, star: str) -> None:
    assert surface.upwards is not None
    low, high = min(0.0, np.nanmin(surface.gain)), max(0.0, np.nanmax(surface.gain))
    axes.imshow(surface.gain, origin="lower", aspect="auto", cmap="cividis", vmin=low, vmax=high)
    if np.nanmin(surface.gain) < 0 < np.nanmax(surface.gain):
        axes.contour(surface.gain, levels=[0.0], colors="white", linewidths=3.0)
        axes.contour(surface.gain, levels=[0.0], colors=INK, linewidths=1.2)
    axes.plot([], [], color=INK, lw=1.4, label="Best-of-K's level")
    _marks(axes, surface, star, surface.others, surface.place(surface.chosen))
    axes.set_ylabel("beta")
    _ticks(axes.yaxis, surface.upwards)


def _line(axes: Any, surface: Surface, star: str) -> None:
    axes.plot(surface.gain, color=INK, marker="o", ms=3, lw=1.4)
    axes.axhline(0.0, color=LABEL, lw=1.2, ls="--", label="Best-of-K")
    others = [(x, surface.gain[x]) for x, _ in surface.others]
    chosen = surface.place(surface.chosen)
    spot = None if chosen is None else (chosen[0], surface.gain[chosen[0]])
    _marks(axes, surface, star, others, spot)
    axes.spines[["top", "right"]].set_visible(False)


def _marks(
    axes: Any,
    surface: Surface,
    star: str,
    others: list[tuple[int, Any]],
    chosen: tuple[int, Any] | None,
) -> None:
    """The rule's setting, a star if it is recommended; rings for those chosen without one fold."""
    if others:
        axes.scatter(
            *zip(*others, strict=True),
            s=60,
            marker="o",
            facecolor="white",
            edgecolor=CHOICE,
            linewidth=1.6,
            zorder=3,
            label="chosen without one fold",
        )
    if chosen is not None:
        axes.scatter(
            *chosen,
            s=230 if star == "recommended" else 90,
            marker="*" if star == "recommended" else "D",
            facecolor="white",
            edgecolor=INK,
            linewidth=1.4,
            zorder=4,
            label=None if star == "recommended" else f"{star}: {surface.chosen.text}",
        )


def _ticks(axis: Any, values: Array) -> None:
    """At most eleven ticks, labelled by the knob's values."""
    step = -(-len(values) // 11)
    places = list(range(0, len(values), step))
    axis.set_ticks(places, [f"{values[place]:.3g}" for place in places])
