"""Loss and margin over the steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from darc.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRAINED, HELD_OUT = "#8a94a3", "#0b6fa4"


@dataclass(frozen=True)
class Curve:
    """Points (step, number) of the pairs trained on and of the held-out ones."""

    name: str
    trained: Sequence[tuple[int, float]]
    held_out: Sequence[tuple[int, float]]


def curves(history: Sequence[dict[str, Any]]) -> list[Curve]:
    """Loss and margin from a trainer's log."""
    return [
        Curve(name, _points(history, key), _points(history, f"eval_{key}"))
        for name, key in (("loss", "loss"), ("margin", "rewards/margins"))
    ]


def draw_curves(found: Sequence[Curve], title: str) -> "Figure":
    """A figure with one plot a curve."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise MissingExtra("drawing a picture", "plot") from None
    figure = Figure(figsize=(9.6, 3.8), dpi=150, layout="constrained")
    for place, curve in enumerate(found, 1):
        axes = figure.add_subplot(1, len(found), place)
        if curve.name == "margin":
            axes.axhline(0.0, color="#dde2e8", lw=1.0)
        if curve.trained:
            steps, numbers = zip(*curve.trained, strict=True)
            axes.plot(steps, numbers, color=TRAINED, lw=1.2, label="trained on")
        if curve.held_out:
            steps, numbers = zip(*curve.held_out, strict=True)
            axes.plot(steps, numbers, color=HELD_OUT, lw=1.6, marker="o", ms=4, label="held out")
        axes.set_xlabel("step")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_title(curve.name, loc="left", fontsize=11)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8)
    figure.suptitle(title, fontsize=11)
    return figure


def _points(history: Sequence[dict[str, Any]], key: str) -> list[tuple[int, float]]:
    return [(int(row["step"]), float(row[key])) for row in history if key in row]
