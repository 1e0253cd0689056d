"""The figures of an evaluation, a file each: tidy frames in, pictures out."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from darc.evaluation.figures.ablations import draw_ablations
from darc.evaluation.figures.buckets import draw_buckets
from darc.evaluation.figures.calibration import draw_calibration
from darc.evaluation.figures.frontier import draw_frontier
from darc.evaluation.figures.gains import draw_gains
from darc.evaluation.figures.overlap import draw_overlap
from darc.evaluation.figures.picture import Picture
from darc.evaluation.figures.ridges import draw_ridges
from darc.evaluation.figures.scatter import draw_scatter
from darc.evaluation.frame import Frame

__all__ = ["FIGURES", "Picture", "draw_figures"]

FIGURES: dict[str, Callable[[Frame], list[Picture]]] = {
    "human": draw_gains,
    "densities": draw_ridges,
    "buckets": draw_buckets,
    "points": draw_scatter,
    "overlap": draw_overlap,
    "ablations": draw_ablations,
    "frontier": draw_frontier,
    "calibration": draw_calibration,
}


def draw_figures(frames: Sequence[Frame]) -> list[Picture]:
    """The pictures of all frames that have one; of several sources each has its own, by name."""
    drawn = [picture for frame in frames for picture in _drawn(frame)]
    sources = list(dict.fromkeys(picture.source for picture in drawn))
    if len(sources) < 2:
        return drawn
    slugs = {source: f"{place}-{_slug(source)}" for place, source in enumerate(sources, 1)}
    return [replace(each, name=f"{each.name}-{slugs[each.source]}") for each in drawn]


def _drawn(frame: Frame) -> list[Picture]:
    draw = FIGURES.get(frame.name)
    return draw(frame) if draw is not None and len(frame) else []


def _slug(text: str) -> str:
    """A text as part of a file's name and of an element's id."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40] or "source"
