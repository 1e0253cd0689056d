"""An evaluation as a folder: tables, figures and one self-contained page."""

import base64
import hashlib
import platform
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from darc.errors import MissingExtra
from darc.evaluation.cases import clipped_text, galleries, shown_gallery
from darc.evaluation.contest import Report
from darc.evaluation.evaluate import Evaluation
from darc.evaluation.figures import draw_figures
from darc.evaluation.frame import WORDS, Cell, Frame, Record, shown, table, write_frames
from darc.evaluation.pictures import Picture
from darc.evaluation.verdict import Verdict, answer, wins_frame
from darc.files import atomic_writer
from darc.views.chart import inline_svg, write_picture
from darc.views.html import environment, render

TEMPLATES = Path(__file__).parent / "templates"
FIGURES, REPORT = "figures", "report.html"
OPEN_ROWS, LONG, CLIP = 30, 48, 300
# Of main, what the table of changes has not are averages that follow from it.
KEPT_IN_FILES = ("densities", "main", "points")
COUNTS = ("prompts", "win", "tie", "loss", "length", "prompts kept", "total", "per prompt", "n")
FIRST = ("gains", "buckets", "scatter", "frontier", "ridges")
PACKAGES = ("numpy", "scipy", "matplotlib")
GLOSSARY: dict[str, str] = WORDS["glossary"]
TOPICS: dict[str, dict[str, Any]] = WORDS["topics"]


def _about(result: Evaluation, release: str) -> list[Frame]:
    """The sources with their sizes and splits, the settings, and the versions of packages."""
    contests = {contest.source.name: contest for contest in result.contests}
    sources = []
    for source in result.sources:
        contest = contests.get(source.name)
        row: Record = {"name": source.name, "samples_by": source.kind}
        row |= zip(("prompts", "scorers", "candidates", "samples"), source.shape, strict=True)
        row |= {"generator": source.generator or "-", "rewrites": source.family or "-"}
        row["split"] = WORDS["splits"][contest.split] if contest else "not split"
        row["splits"] = len(contest.kept) if contest else 0
        row["prompts_kept"] = float(np.mean(contest.kept.sum(axis=1))) if contest else 0.0
        sources.append(row)
    versions = {"darc": release, "python": platform.python_version()}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    settings = [{"setting": name, "value": _text(value)} for name, value in result.settings]
    packages = [{"package": name, "version": number} for name, number in versions.items()]
    return [
        table("sources", sources),
        table("settings", settings),
        table("versions", packages),
    ]


def _text(value: object) -> str:
    if value is None:
        return "median"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "all"
    return f"{value:g}" if isinstance(value, float) else str(value)


def by_gain(frame: Frame) -> Frame:
    """The frame with the rules of each subset by their change, the largest first; others as is."""
    names = [name for name in ("delta_tradeoff", "delta_mean") if name in frame.columns]
    if frame.name != "human" or not names:
        return frame
    heads = list(dict.fromkeys(zip(frame.column("source"), frame.column("subset"), strict=True)))

    def key(row: tuple[Cell, ...]) -> tuple[float, ...]:
        cells = dict(zip(frame.columns, row, strict=True))
        changes = [cells[name] for name in names]
        known = [-each if isinstance(each, float) and each == each else 0.0 for each in changes]
        return (heads.index((cells["source"], cells["subset"])), *known)

    return replace(frame, rows=tuple(sorted(frame.rows, key=key)))


def _groups(frame: Frame) -> list[tuple[str, list[int]]]:
    """Columns that share a cell, with their name: a value or change stands with its interval.

    A column without a filled cell, or that names one source for all rows, is left out.
    """
    names = list(frame.columns)
    groups: list[tuple[str, list[int]]] = []
    used: set[int] = set()
    for place, name in enumerate(names):
        cells = {row[place] for row in frame.rows}
        one = name in ("source", "length_unit") and len(cells) == 1
        if place in used or one or all(shown(cell) in ("-", "") for cell in cells):
            continue
        what = name.removeprefix("delta_")
        said = "value" if name == "value" else "change" if name == "delta" else f"{what} change"
        ends = ["low", "high"] if name == "value" else [f"low_{what}", f"high_{what}"]
        if (name == "value" or name.startswith("delta")) and set(ends) <= set(names):
            places = [place, *map(names.index, ends)]
            used |= set(places)
            groups.append((f"{said} [95 %]", places))
        else:
            groups.append((name.replace("_", " "), [place]))
    return groups


Drawn = tuple[Picture, str]  # a picture and its SVG text


def write_evaluation(
    result: Evaluation,
    said: Sequence[str],
    folder: Path,
    release: str,
    figures: bool = True,
    report: Report | None = None,
    found: Sequence[Verdict] = (),
) -> list[Path]:
    """Write each table as CSV, Markdown and LaTeX, each figure as PNG and SVG, and report.html.

    `said` is the report's summary, `found` the verdicts that it begins with, `release` DARC's
    version; `report(done, total)` counts figures. Without matplotlib the figures are left out,
    with a warning.
    """
    paths = write_frames(result.frames, folder)
    drawn: list[Drawn] = []
    if figures:
        try:
            pictures = draw_figures(result.frames)
            for done, picture in enumerate(pictures, 1):
                written, svg = write_picture(picture.figure, folder / FIGURES, picture.name)
                paths += written
                drawn.append((picture, svg))
                if report is not None:
                    report(done, len(pictures))
        except MissingExtra as problem:
            result.warnings.append(f"figures are left out: {problem}")
    with atomic_writer(folder / REPORT) as file:
        file.write(report_page(result, said, drawn, release, found))
    return [*paths, folder / REPORT]


def report_page(
    result: Evaluation,
    said: Sequence[str],
    drawn: Sequence[Drawn],
    release: str,
    found: Sequence[Verdict] = (),
) -> str:
    """The page: the answer, three pictures, cases, tables, warnings; every text is escaped."""
    several = len(result.sources) > 1
    figures = [_figure(each, several) for each in drawn]
    starts = [each["start"] for each in figures]
    first = [figures[starts.index(start)] for start in FIRST if start in starts][:3]
    rest = [each for each in figures if each not in first]
    topics, absent = [], []
    known = {name for topic in TOPICS.values() for name in topic["frames"]}
    others = [frame.name for frame in result.frames if frame.name not in known]
    for key, topic in (TOPICS | {"others": {"title": "Other tables", "frames": others}}).items():
        frames = [frame for name in topic["frames"] if (frame := result.frame(name)) is not None]
        starts = topic.get("figures", ())
        own = [each for start in starts for each in rest if each["start"] == start]
        if frames or own:
            tables = [_shown_frame(by_gain(frame)) for frame in frames]
            topics.append({"key": key, "title": topic["title"], "frames": tables, "figures": own})
        elif "missing" in topic:
            absent.append(topic["missing"])
    cases = [each for each in galleries(result) if each.rule != "mean"]
    changed = any(each.changed for each in cases)
    if not changed:
        absent.append("No case is shown: no choice differs from Best-of-K's.")
    if cases and not any(source.texts for source in result.sources):
        absent.append("The cases have no texts: none were given.")
    if not drawn:
        absent.append("There are no figures.")
    lists = [
        ("warnings", "Warnings", result.warnings),
        ("absent", "Left out", absent),
        ("glossary", "Words", [f"{word}: {words}." for word, words in GLOSSARY.items()]),
    ]
    script = (TEMPLATES / "report.js").read_text(encoding="utf-8")
    environment(TEMPLATES).filters["clipped"] = clipped_text
    return render(
        REPORT,
        TEMPLATES,
        title=f"Evaluation of {', '.join(source.name for source in result.sources)}"[:120],
        answer=answer(found),
        wins=_shown_frame(wins_frame(found)),
        said=said,
        first=first,
        galleries=[shown_gallery(each) for each in cases] if changed else [],
        topics=topics,
        lists=[each for each in lists if each[2]],
        about=[_shown_frame(frame) for frame in _about(result, release)],
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def frame_table(frame: Frame) -> str:
    """A table in a box that scrolls by itself; what excludes 0 is bold."""
    macros: Any = environment(TEMPLATES).get_template("frames.html").module
    return str(macros.table(_shown_frame(frame), frame.title))


def _shown_frame(frame: Frame) -> dict[str, Any]:
    """A frame as the templates want it: groups of columns, cells as texts with a class."""
    groups = _groups(frame)
    kinds = ["" if all(map(frame.numeric, places)) else "left" for _, places in groups]
    pairs = list(zip(groups, kinds, strict=True))
    columns = []
    for (name, _), kind in pairs:
        words = [f"{word}: {said}" for word, said in GLOSSARY.items() if word in name.lower()]
        columns.append({"name": name, "numeric": not kind, "words": "; ".join(words)})
    return {
        "name": frame.name,
        "title": frame.title,
        "note": frame.note,
        "size": len(frame),
        "in_files": frame.name in KEPT_IN_FILES,
        "folded": len(frame) > OPEN_ROWS,
        "columns": columns,
        "rows": [
            [_cell([row[at] for at in places], kind, name) for (name, places), kind in pairs]
            for row in frame.rows
        ],
    }


def _cell(cells: Sequence[Cell], kind: str, name: str) -> tuple[str, str]:
    """A cell's text and class."""
    first, *ends = cells
    text = shown(first)
    if isinstance(first, float) and text != "-":
        if name in COUNTS:
            text = f"{first:.1f}".removesuffix(".0")
        elif ends:
            text = _signed(first, name)
    if not ends and len(text) > LONG:
        kind = f"{kind} words".strip()
        text = text if len(text) <= CLIP else f"{text[:CLIP]}…"
    known = [each for each in ends if isinstance(each, float) and each == each]
    if len(known) == 2:
        text += f" [{_signed(known[0], name)}, {_signed(known[1], name)}]"
        if not name.startswith("value") and (known[0] > 0 or known[1] < 0):
            kind = f"{kind} sure".strip()
    return text, kind


def _signed(number: float, name: str) -> str:
    return f"{round(number, 9) + 0.0:{'' if name.startswith('value') else '+'}.3f}"


def _figure(drawn: Drawn, several: bool) -> dict[str, str]:
    picture, text = drawn
    caption = f"{picture.source}: {picture.caption}" if several else picture.caption
    svg = inline_svg(text, picture.name, caption)
    start = picture.name.split("-")[0]
    return {"name": picture.name, "start": start, "caption": caption, "svg": svg}
