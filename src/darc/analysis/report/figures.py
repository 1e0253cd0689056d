"""The figures of an evaluation: tidy frames in, pictures out."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from darc.analysis.frame import Frame
from darc.analysis.report.frame_parts import frame_parts
from darc.analysis.report.picture import Picture
from darc.analysis.report.proxy_figures import draw_overlap, draw_scatter
from darc.analysis.report.rule_figures import (
    draw_ablation,
    draw_buckets,
    draw_calibration,
    draw_frontier,
    draw_gains,
    draw_ridges,
)
from darc.views.chart import plain_drawing

MAX_SLUG_LENGTH = 40


@dataclass(frozen=True)
class FigureKind:
    """How the figures of a frame are drawn."""

    #: Each different combination of cells in these columns has a figure of its own.
    columns: tuple[str, ...]
    #: Called with the cells of these columns and the rows that have them.
    draw: Callable[..., Picture | None]


# By the name of a frame.
FIGURES = {
    "human": FigureKind(("source",), draw_gains),
    "densities": FigureKind(("source",), draw_ridges),
    "buckets": FigureKind(("source", "by"), draw_buckets),
    "points": FigureKind(("source",), draw_scatter),
    "overlap": FigureKind(("source",), draw_overlap),
    "ablations": FigureKind(("source", "knob", "judged_by"), draw_ablation),
    "frontier": FigureKind(("source",), draw_frontier),
    "calibration": FigureKind(("source",), draw_calibration),
}


def draw_figures(frames: Sequence[Frame]) -> list[Picture]:
    """Draw all frames that have a figure; each source has its own.

    Args:
        frames: The frames of an evaluation.

    Returns:
        The pictures, with different names.

    Raises:
        MissingExtra: If matplotlib is not installed.
    """
    pictures = []
    with plain_drawing():
        for frame in frames:
            if frame.name not in FIGURES:
                continue
            kind = FIGURES[frame.name]
            for part in frame_parts(frame, *kind.columns):
                picture = kind.draw(*part)
                if picture is not None:
                    pictures.append(picture)
    return _with_unique_names(pictures)


def _with_unique_names(pictures: Sequence[Picture]) -> list[Picture]:
    """The pictures with names that tell judges and, if there are several, sources apart."""
    sources = list(dict.fromkeys(picture.source for picture in pictures))
    endings = {source: _source_ending(source, place) for place, source in enumerate(sources, 1)}
    times: Counter[tuple[str, str]] = Counter()
    renamed = []
    for picture in pictures:
        times[picture.name, picture.source] += 1
        number = times[picture.name, picture.source]
        name = picture.name
        if number > 1:
            name += f"-judge{number}"
        if len(sources) > 1:
            name += endings[picture.source]
        renamed.append(replace(picture, name=name))
    return renamed


def _source_ending(source: str, place: int) -> str:
    """What tells a source from others in the names of files and of elements."""
    slug = re.sub(r"[^a-z0-9]+", "-", source.lower()).strip("-")[:MAX_SLUG_LENGTH]
    return f"-{place}-{slug or 'source'}"
