"""The objective over a rule's main knobs as a picture."""

from typing import TYPE_CHECKING, Any

import numpy as np

from darc.errors import MissingExtra
from darc.evaluation.tuning.surface import Array, Surface
from darc.views.plane_plot import CHOICE, INK, LABEL

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_surface(surface: Surface, title: str, unit: str) -> "Figure":
    """A heat map, or a line for one knob, with the choice and Best-of-K's level; legible in grey.

    `unit` says what the gain is of.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("drawing a picture", "plot") from None
    figure = Figure(figsize=(7.2, 5.0), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    if surface.upwards is None:
        _line(axes, surface)
        axes.set_ylabel(f"gain in {unit}")
    else:
        _map(axes, surface)
        bar = figure.colorbar(axes.images[0], ax=axes, label=f"gain in {unit}")
        bar.ax.axhline(0.0, color="white", lw=4, clip_on=False)
        bar.ax.axhline(0.0, color=INK, lw=1.6, clip_on=False)
    _ticks(axes.xaxis, surface.across)
    axes.set_xlabel(surface.knob)
    axes.set_title(title, loc="left", fontsize=10, color=INK)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return figure


def _map(axes: Any, surface: Surface) -> None:
    assert surface.upwards is not None
    low, high = min(0.0, np.nanmin(surface.gain)), max(0.0, np.nanmax(surface.gain))
    axes.imshow(surface.gain, origin="lower", aspect="auto", cmap="cividis", vmin=low, vmax=high)
    if np.nanmin(surface.gain) < 0 < np.nanmax(surface.gain):
        axes.contour(surface.gain, levels=[0.0], colors="white", linewidths=3.0)
        axes.contour(surface.gain, levels=[0.0], colors=INK, linewidths=1.2)
    axes.plot([], [], color=INK, lw=1.4, label="Best-of-K's level")
    _marks(axes, surface, surface.others, surface.place(surface.chosen))
    axes.set_ylabel("beta")
    _ticks(axes.yaxis, surface.upwards)


def _line(axes: Any, surface: Surface) -> None:
    axes.plot(surface.gain, color=INK, marker="o", ms=3, lw=1.4)
    axes.axhline(0.0, color=LABEL, lw=1.2, ls="--", label="Best-of-K")
    others = [(x, surface.gain[x]) for x, _ in surface.others]
    chosen = surface.place(surface.chosen)
    _marks(axes, surface, others, None if chosen is None else (chosen[0], surface.gain[chosen[0]]))
    axes.spines[["top", "right"]].set_visible(False)


def _marks(
    axes: Any,
    surface: Surface,
    others: list[tuple[int, Any]],
    chosen: tuple[int, Any] | None,
) -> None:
    """A star for the chosen setting, rings for those that were chosen without one fold."""
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
            s=230,
            marker="*",
            facecolor="white",
            edgecolor=INK,
            linewidth=1.4,
            zorder=4,
            label=f"chosen: {surface.chosen.text.partition(':')[2]}",
        )


def _ticks(axis: Any, values: Array) -> None:
    """At most eleven ticks, labelled by the knob's values."""
    step = -(-len(values) // 11)
    places = list(range(0, len(values), step))
    axis.set_ticks(places, [f"{values[place]:.2g}" for place in places])
