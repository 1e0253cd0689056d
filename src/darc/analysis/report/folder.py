"""An evaluation as a folder: tables, figures and the report."""

from collections.abc import Sequence
from pathlib import Path

from darc.analysis.evaluate.evaluation import Evaluation, Report
from darc.analysis.evaluate.verdict import Verdict
from darc.analysis.frame import write_frames
from darc.analysis.report.figures import draw_figures
from darc.analysis.report.page import REPORT, DrawnPicture, report_page
from darc.errors import MissingExtra
from darc.files import atomic_writer
from darc.views.chart import write_picture

FIGURES = "figures"


def write_evaluation(
    evaluation: Evaluation,
    summary: Sequence[str],
    folder: Path,
    release: str,
    figures: bool = True,
    report: Report | None = None,
    verdicts: Sequence[Verdict] = (),
) -> list[Path]:
    """Write each table as CSV, Markdown and LaTeX, each figure as PNG and SVG, and report.html.

    Without matplotlib the figures are left out, with a warning in the evaluation.

    Args:
        evaluation: The evaluation.
        summary: What it says, one paragraph each.
        folder: Where to write, made if it does not exist.
        release: The version of DARC.
        figures: Whether to draw figures.
        report: Called with how many figures are drawn, and of how many.
        verdicts: The verdicts that the report begins with.

    Returns:
        The files.

    Raises:
        InputError: If the folder cannot be written.
    """
    paths = write_frames(evaluation.frames, folder)
    pictures: list[DrawnPicture] = []
    if figures:
        try:
            pictures = _write_figures(evaluation, folder / FIGURES, report)
        except MissingExtra as problem:
            evaluation.warnings.append(f"figures are left out: {problem}")
    for picture in pictures:
        paths += picture.paths
    page_path = folder / REPORT
    with atomic_writer(page_path) as file:
        file.write(report_page(evaluation, summary, pictures, release, verdicts))
    return [*paths, page_path]


def _write_figures(
    evaluation: Evaluation, folder: Path, report: Report | None
) -> list[DrawnPicture]:
    pictures = draw_figures(evaluation.frames)
    written = []
    for done, picture in enumerate(pictures, 1):
        paths, svg = write_picture(picture.figure, folder, picture.name)
        written.append(DrawnPicture(picture, svg, paths))
        if report is not None:
            report(done, len(pictures))
    return written
