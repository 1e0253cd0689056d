"""Draw the pictures of docs/index.md and docs/concepts.md: `python docs/make_pictures.py`."""

from pathlib import Path
from typing import Any

import numpy as np

import darc
from darc.decide.pictures import dot_picture
from darc.decide.statistics.betting import betting_bound
from darc.views import draw_ratings
from darc.views.chart import new_figure, plain_drawing, style_axes
from darc.views.palette import CHOICE, INK, OTHER, PALE

FOLDER = Path(__file__).parent / "images"
RATINGS = {
    "the favourite": [9, 9, 9, 9, 9, 9, 9, 1, 1],
    "the calm one": [7, 7, 7, 7, 8, 7, 7, 7, 7],
}


TOASTS = {
    "the roast": [9, 9, 9, 9, 9, 9, 9, 2, 2, 2],
    "the story": [6, 6, 6, 6, 7, 6, 6, 6, 6, 6],
}


def choice() -> None:
    """What DARC does: two answers, how ten people rated each, and which one is chosen."""
    decision = darc.select(TOASTS, sample="rater", scale=(0, 10))
    others = [darc.select(TOASTS, "mean", sample="rater", scale=(0, 10))]
    picture = dot_picture(decision, others=others, title="Ten people rated two wedding toasts")
    save(draw_ratings(picture), "choice")


def disagreement() -> None:
    """Two answers with nearly the same mean, and how nine people rated each."""
    figure = new_figure(6.4, 2.2)
    axes = figure.add_subplot()
    style_axes(axes, x_label="rating by each of nine people")
    for row, (name, ratings) in enumerate(RATINGS.items()):
        values, counts = np.unique(ratings, return_counts=True)
        color = (OTHER, CHOICE)[row]
        axes.scatter(values, [-row] * len(values), s=60 * counts, color=color, alpha=0.8)
        axes.plot([np.mean(ratings)] * 2, [-row - 0.25, -row + 0.25], color=INK, linewidth=2)
        about = f"mean {np.mean(ratings):.1f}, disagreement {np.std(ratings, ddof=1):.1f}"
        axes.text(0.2, -row + 0.28, f"{name}: {about}", color=color, fontsize=9)
    axes.set(xlim=(0, 10), ylim=(-1.5, 0.6), yticks=[])
    save(figure, "disagreement")


def noise() -> None:
    """The disagreement that few raters show, where all answers are equally controversial."""
    generator = np.random.default_rng(0)
    figure = new_figure(6.4, 2.8)
    axes = figure.add_subplot()
    style_axes(axes, x_label="raters of each answer", y_label="disagreement that shows")
    for place, raters in enumerate((3, 5, 10, 20, 50)):
        shown = generator.normal(0, 1, (200, raters)).std(axis=1, ddof=1)
        spread = generator.uniform(-0.22, 0.22, 200)
        axes.scatter(place + spread, shown, s=7, color=CHOICE, alpha=0.5, linewidths=0)
    axes.axhline(1, color=INK, linewidth=1.2)
    axes.text(
        4.45, 1.5, "line: the true disagreement of every answer", ha="right", fontsize=9, color=INK
    )
    axes.set_xticks(range(5), ["3", "5", "10", "20", "50"])
    save(figure, "noise")


def certificate() -> None:
    """The lower bound that holds for the true mean, by the number of raters."""
    generator = np.random.default_rng(1)
    figure = new_figure(6.4, 2.8)
    axes = figure.add_subplot()
    style_axes(axes, x_label="raters", y_label="rating, of 0 to 10")
    counts = np.array([3, 5, 10, 20, 50, 100, 200, 500, 1000])
    people = np.clip(generator.normal(7, 1.2, 1000), 0, 10)
    means = np.array([people[:n].mean() for n in counts])
    bounds = [betting_bound(people[:n], candidates=4, bounds=(0.0, 10.0)) for n in counts]
    axes.plot(counts, means, color=PALE, label="mean that shows")
    axes.plot(
        counts,
        bounds,
        color=CHOICE,
        marker="o",
        label="lower bound that holds for all of 4 answers (95 %)",
    )
    axes.set_xscale("log")
    axes.set_xticks(counts, [str(n) for n in counts])
    axes.minorticks_off()
    axes.set_ylim(0, 10)
    axes.legend(frameon=False, fontsize=9, loc="lower right")
    save(figure, "certificate")


def save(figure: Any, name: str) -> None:
    """Write the picture beside the others."""
    FOLDER.mkdir(exist_ok=True)
    with plain_drawing():
        figure.savefig(FOLDER / f"{name}.png", metadata={"Software": None})


if __name__ == "__main__":
    choice()
    disagreement()
    noise()
    certificate()
