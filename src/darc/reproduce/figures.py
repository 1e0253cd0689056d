"""The paper's figures, drawn from the evaluated numbers of an experiment."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from darc.analysis.evaluate.methods import BASELINE
from darc.analysis.frame import Frame
from darc.analysis.report.figures import draw_figures
from darc.analysis.report.picture import Picture
from darc.reproduce.experiment import BASE, Experiment
from darc.reproduce.results import Results, judged, method_text
from darc.views.chart import write_picture


@dataclass(frozen=True)
class FigureSource:
    """Where the numbers of a figure are: a frame, and whose rows of it."""

    frame: str
    #: The sources whose rows are drawn, the first that has any.
    sources: tuple[str, ...]


#: By the name of the figure.
FIGURES: dict[str, FigureSource] = {
    "ridge": FigureSource("densities", (judged(), BASE)),
    "buckets": FigureSource("buckets", (judged(), BASE)),
    "overlap": FigureSource("overlap", (BASE,)),
    "scatter": FigureSource("points", (BASE,)),
    "ablations": FigureSource("ablations", (BASE,)),
}
# The frames whose methods are those of the paper's tables.
_LABELLED_FRAMES = ("densities", "buckets")
# The names of files that are not called like the pictures.
_FILE_NAMES = {"ridges": "ridge"}


@dataclass(frozen=True)
class WrittenFigure:
    """A figure that was written."""

    name: str
    caption: str
    svg: str
    paths: tuple[Path, ...]


def write_figures(results: Results, names: Sequence[str], folder: Path) -> list[WrittenFigure]:
    """Draw figures of the cell that people rated, or of the first one.

    Args:
        results: The evaluated numbers.
        names: The names of the figures.
        folder: Where to write them.

    Returns:
        What was written. A figure without numbers is left out.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    cell = results.experiment.rated_cell
    written = []
    for name in names:
        for picture in _pictures(results, cell, FIGURES[name]):
            file_name = _FILE_NAMES.get(picture.name, picture.name)
            paths, svg = write_picture(picture.figure, folder, file_name)
            written.append(WrittenFigure(file_name, picture.caption, svg, tuple(paths)))
    return written


def _pictures(results: Results, cell: tuple[str, str], figure: FigureSource) -> list[Picture]:
    frame = results.frame(cell, figure.frame)
    if frame is None:
        return []
    for source in figure.sources:
        rows = _labelled(results.experiment, frame.where(source=source))
        if len(rows):
            return draw_figures([rows])
    return []


def _labelled(experiment: Experiment, frame: Frame) -> Frame:
    """The rows of the paper's methods, called as in the paper.

    Best-of-K keeps its name, by which figures know what to compare with, and so do the rules of
    ablations, whose parameters are others than those of the tables.
    """
    if frame.name not in _LABELLED_FRAMES:
        return frame
    labels = {
        method_text(method.rule): method.label
        for method in experiment.methods_of("human")
        if method.source == BASE
    }
    labels[BASELINE] = BASELINE
    rows = [
        {**record, "method": labels[record["method"]]}
        for record in frame.records()
        if record["method"] in labels
    ]
    return Frame.of(frame.name, frame.title, rows, frame.note)
