"""The report of an evaluation as one self-contained page."""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from darc.analysis.evaluate.evaluation import Evaluation
from darc.analysis.evaluate.verdict import Verdict, answer, wins_frame
from darc.analysis.frame import WORDS, Frame, Record
from darc.analysis.report.about_tables import about_tables
from darc.analysis.report.case_pictures import clip_text
from darc.analysis.report.cases import Gallery, galleries
from darc.analysis.report.html_tables import GLOSSARY, TEMPLATES, HtmlTable, html_table
from darc.analysis.report.picture import Picture
from darc.views.chart import inline_svg
from darc.views.dots_html import STYLE
from darc.views.html import environment, render_page

REPORT = "report.html"
MAX_TITLE_LENGTH = 120
# The figures that come first, as many as `MAX_FIRST_FIGURES`, by the start of their names.
FIRST_FIGURES = ("gains", "buckets", "scatter", "frontier", "ridges")
MAX_FIRST_FIGURES = 3
TOPICS: dict[str, dict[str, Any]] = WORDS["topics"]


@dataclass(frozen=True, eq=False)
class DrawnPicture:
    """A picture that was written."""

    picture: Picture
    #: The text of its SVG file.
    svg: str
    #: All its files.
    paths: list[Path]


@dataclass(frozen=True)
class _PageFigure:
    """A figure as the template shows it."""

    name: str
    caption: str
    #: An element of our own making.
    svg: str


@dataclass(frozen=True)
class _Topic:
    """A section with figures and tables."""

    key: str
    title: str
    figures: list[_PageFigure]
    tables: list[HtmlTable]


@dataclass(frozen=True)
class _ListSection:
    """A section that is a list of sentences."""

    key: str
    title: str
    sentences: Sequence[str]


def report_page(
    evaluation: Evaluation,
    summary: Sequence[str],
    pictures: Sequence[DrawnPicture],
    release: str,
    verdicts: Sequence[Verdict] = (),
) -> str:
    """Render the report: the answer, three pictures, cases, tables and warnings.

    Args:
        evaluation: The evaluation.
        summary: What it says, one paragraph each.
        pictures: The figures.
        release: The version of DARC.
        verdicts: The verdicts that the report begins with.

    Returns:
        The page, in which every text is escaped.
    """
    figures = _page_figures(evaluation, pictures)
    first_figures = _take_first_figures(figures)
    topics, absent = _topics(evaluation, figures)
    cases = [gallery for gallery in galleries(evaluation) if gallery.rule != "mean"]
    absent += _missing_parts(evaluation, cases, pictures)
    if not any(gallery.changed for gallery in cases):
        cases = []
    names = ", ".join(ratings.name for ratings in evaluation.inputs)
    script = (TEMPLATES / "report.js").read_text(encoding="utf-8")
    environment(TEMPLATES).filters["clipped"] = clip_text
    return render_page(
        REPORT,
        TEMPLATES,
        part_styles=[STYLE],
        title=f"Evaluation of {names}"[:MAX_TITLE_LENGTH],
        answer=answer(verdicts),
        wins=html_table(wins_frame(verdicts)),
        summary=summary,
        first_figures=first_figures,
        galleries=cases,
        topics=topics,
        lists=_list_sections(evaluation, absent),
        about=[html_table(frame) for frame in about_tables(evaluation, release)],
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def sort_by_gain(frame: Frame) -> Frame:
    """Sort the rules of each subset by their change, the largest first.

    Args:
        frame: Any frame.

    Returns:
        The frame "human" sorted, any other as it is.
    """
    if frame.name != "human":
        return frame
    records = frame.records()
    subsets = list(dict.fromkeys((record["source"], record["subset"]) for record in records))

    def key(pair: tuple[Record, object]) -> tuple[float, ...]:
        record, _ = pair
        subset = subsets.index((record["source"], record["subset"]))
        tradeoff = record["delta_tradeoff"] or 0.0
        mean = record["delta_mean"] or 0.0
        return subset, -tradeoff, -mean

    pairs = sorted(zip(records, frame.rows, strict=True), key=key)
    return replace(frame, rows=tuple(row for _, row in pairs))


def _page_figures(
    evaluation: Evaluation, pictures: Sequence[DrawnPicture]
) -> dict[str, list[_PageFigure]]:
    """The figures by the start of their names."""
    figures: dict[str, list[_PageFigure]] = {}
    for written in pictures:
        picture = written.picture
        caption = picture.caption
        if len(evaluation.inputs) > 1:
            caption = f"{picture.source}: {picture.caption}"
        svg = inline_svg(written.svg, picture.name, caption)
        start = picture.name.split("-")[0]
        figures.setdefault(start, []).append(_PageFigure(picture.name, caption, svg))
    return figures


def _take_first_figures(figures: dict[str, list[_PageFigure]]) -> list[_PageFigure]:
    """Take the figures that come first out of their places."""
    starts = [start for start in FIRST_FIGURES if start in figures]
    return [figures[start].pop(0) for start in starts[:MAX_FIRST_FIGURES]]


def _topics(
    evaluation: Evaluation, figures: dict[str, list[_PageFigure]]
) -> tuple[list[_Topic], list[str]]:
    """The sections that have something to show, and what is said of the others."""
    in_topics = {name for topic in TOPICS.values() for name in topic["frames"]}
    others = [frame.name for frame in evaluation.frames if frame.name not in in_topics]
    sections = TOPICS | {"others": {"title": "Other tables", "frames": others}}
    topics = []
    absent = []
    for key, section in sections.items():
        frames = [evaluation.frame(name) for name in section["frames"]]
        tables = [html_table(sort_by_gain(frame)) for frame in frames if frame is not None]
        section_figures: list[_PageFigure] = []
        for start in section.get("figures", ()):
            section_figures += figures.get(start, [])
        if tables or section_figures:
            topics.append(_Topic(key, section["title"], section_figures, tables))
        elif "missing" in section:
            absent.append(section["missing"])
    return topics, absent


def _missing_parts(
    evaluation: Evaluation, cases: Sequence[Gallery], pictures: Sequence[DrawnPicture]
) -> list[str]:
    """What is said of cases and figures that are missing."""
    sentences = []
    if not any(gallery.changed for gallery in cases):
        sentences.append("No case is shown: no choice differs from Best-of-K's.")
    if cases and not any(ratings.texts for ratings in evaluation.inputs):
        sentences.append("The cases have no texts: none were given.")
    if not pictures:
        sentences.append("There are no figures.")
    return sentences


def _list_sections(evaluation: Evaluation, absent: Sequence[str]) -> list[_ListSection]:
    """Warnings, what is left out, and the glossary, as far as there are any."""
    glossary = [f"{word}: {meaning}." for word, meaning in GLOSSARY.items()]
    sections = [
        _ListSection("warnings", "Warnings", evaluation.warnings),
        _ListSection("absent", "Left out", absent),
        _ListSection("glossary", "Words", glossary),
    ]
    return [section for section in sections if section.sentences]
