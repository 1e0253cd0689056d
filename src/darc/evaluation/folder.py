"""An evaluation as a folder: tables, figures and the report."""

from collections.abc import Sequence
from pathlib import Path

from darc.errors import MissingExtra
from darc.evaluation.evaluate import Evaluation
from darc.evaluation.figures import draw_figures
from darc.evaluation.frame import write_frames
from darc.evaluation.report import Drawn, report_page
from darc.evaluation.study import Report
from darc.tables import atomic_writer
from darc.views.chart import write_picture

FIGURES, REPORT = "figures", "report.html"


def write_evaluation(
    result: Evaluation,
    said: Sequence[str],
    folder: Path,
    release: str,
    figures: bool = True,
    report: Report | None = None,
) -> list[Path]:
    """Write each table as CSV, Markdown and LaTeX, each figure as PNG and SVG, and report.html.

    `said` is the report's summary, `release` DARC's version; `report(done, total)` counts figures.
    Without matplotlib the figures are left out, with a warning.
    """
    paths = write_frames(result.frames, folder)
    drawn: list[Drawn] = []
    if figures:
        try:
            drawn, more = _figures(result, folder / FIGURES, report)
            paths += more
        except MissingExtra as problem:
            result.warnings.append(f"figures are left out: {problem}")
    with atomic_writer(folder / REPORT) as file:
        file.write(report_page(result, said, drawn, release))
    return [*paths, folder / REPORT]


def _figures(
    result: Evaluation, folder: Path, report: Report | None
) -> tuple[list[Drawn], list[Path]]:
    pictures = draw_figures(result.frames)
    drawn, paths = [], []
    for done, picture in enumerate(pictures, 1):
        written, svg = write_picture(picture.figure, folder, picture.name)
        paths += written
        drawn.append(Drawn(picture, svg))
        if report is not None:
            report(done, len(pictures))
    return drawn, paths
