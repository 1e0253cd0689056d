"""The learning curves of a training run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from darc.errors import extra_needed
from darc.views.palette import CHOICE, GRID, PALE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The titles of the two plots, and the trainer's names of what they show.
_PLOTS = {"loss": "loss", "margin": "rewards/margins"}
# How the curves are drawn, by what the trainer puts before the name of a measure.
_STYLES: dict[str, dict[str, Any]] = {
    "": {"color": PALE, "lw": 1.2, "label": "trained on"},
    "eval_": {"color": CHOICE, "lw": 1.6, "marker": "o", "ms": 4, "label": "held out"},
}


def draw_curves(history: Sequence[dict[str, Any]], title: str) -> "Figure":
    """Draw loss and margin by step, of the pairs trained on and held out.

    Args:
        history: The trainer's log.
        title: The title of the picture.

    Returns:
        The figure.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    with extra_needed("drawing a picture", "plot"):
        from matplotlib.figure import Figure
    figure = Figure(figsize=(9.6, 3.8), dpi=150, layout="constrained")
    for axes, (name, measure) in zip(figure.subplots(1, 2), _PLOTS.items(), strict=True):
        axes.set_title(name, loc="left", fontsize=11)
        if name == "margin":
            axes.axhline(0.0, color=GRID, lw=1.0)
        _draw_measure(axes, history, measure)
    figure.suptitle(title, fontsize=11)
    return figure


def _draw_measure(axes: Any, history: Sequence[dict[str, Any]], measure: str) -> None:
    from matplotlib.ticker import MaxNLocator

    for prefix, style in _STYLES.items():
        rows = [row for row in history if prefix + measure in row]
        if rows:
            steps = [row["step"] for row in rows]
            values = [row[prefix + measure] for row in rows]
            axes.plot(steps, values, **style)
    axes.set_xlabel("step")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
