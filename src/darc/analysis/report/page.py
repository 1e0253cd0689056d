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

from darc.analysis.evaluate.evaluation import Evaluation, Report
from darc.analysis.evaluate.verdict import Verdict, answer, wins_frame
from darc.analysis.frame import WORDS, Cell, Frame, Record, cell_text, table, write_frames
from darc.analysis.report.cases import clipped_text, galleries
from darc.analysis.report.figures import draw_figures
from darc.analysis.report.picture import Picture
from darc.errors import MissingExtra
from darc.files import atomic_writer
from darc.views.chart import inline_svg, write_picture
from darc.views.dots_html import STYLE
from darc.views.html import environment, render_page

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
    contests = {contest.ratings.name: contest for contest in result.contests}
    sources = []
    for source in result.inputs:
        contest = contests.get(source.name)
        row: Record = {"name": source.name, "samples_by": source.kind}
        row |= zip(("prompts", "scorers", "candidates", "samples"), source.shape, strict=True)
        row |= {"generator": source.generator or "-", "rewrites": source.family or "-"}
        row |= {"split": "not split", "splits": 0, "prompts_kept": 0.0}
        if contest:
            row |= {"split": WORDS["splits"][contest.split], "splits": len(contest.usable)}
            row["prompts_kept"] = float(np.mean(contest.usable.sum(axis=1)))
        sources.append(row)
    versions = {"darc": release, "python": platform.python_version()}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    settings = []
    for name, value in result.settings:
        text = f"{value:g}" if isinstance(value, float) else str(value)
        if value is None or isinstance(value, tuple):
            text = "median" if value is None else ", ".join(map(str, value)) or "all"
        settings.append({"setting": name, "value": text})
    packages = [{"package": name, "version": number} for name, number in versions.items()]
    return [table("sources", sources), table("settings", settings), table("versions", packages)]


def by_gain(frame: Frame) -> Frame:
    """The frame with the rules of each subset by their change, the largest first; others as is."""
    if frame.name != "human":
        return frame
    heads = list(dict.fromkeys(zip(frame.column("source"), frame.column("subset"), strict=True)))

    def key(pair: tuple[Record, object]) -> tuple[float, ...]:
        row, _ = pair
        gains = (-(row[name] or 0.0) for name in ("delta_tradeoff", "delta_mean"))
        return (heads.index((row["source"], row["subset"])), *gains)

    pairs = sorted(zip(frame.records(), frame.rows, strict=True), key=key)
    return replace(frame, rows=tuple(row for _, row in pairs))


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
        if place in used or one or all(cell_text(cell) in ("-", "") for cell in cells):
            continue
        what = name.removeprefix("delta_")
        said = name if name == "value" else "change" if name == "delta" else f"{what} change"
        ends = ["low", "high"] if name == "value" else [f"low_{what}", f"high_{what}"]
        group = (name.replace("_", " "), [place])
        if (name == "value" or name.startswith("delta")) and set(ends) <= set(names):
            group = (f"{said} [95 %]", [place, *map(names.index, ends)])
            used |= set(group[1])
        groups.append(group)
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
    figures: dict[str, list[dict[str, str]]] = {}
    for picture, text in drawn:
        several = len(result.inputs) > 1
        caption = f"{picture.source}: {picture.caption}" if several else picture.caption
        svg = inline_svg(text, picture.name, caption)
        shown_figure = {"name": picture.name, "caption": caption, "svg": svg}
        figures.setdefault(picture.name.split("-")[0], []).append(shown_figure)
    first = [figures[start].pop(0) for start in [s for s in FIRST if s in figures][:3]]
    topics, absent = [], []
    known = {name for topic in TOPICS.values() for name in topic["frames"]}
    others = [frame.name for frame in result.frames if frame.name not in known]
    for key, topic in (TOPICS | {"others": {"title": "Other tables", "frames": others}}).items():
        frames = [frame for name in topic["frames"] if (frame := result.frame(name)) is not None]
        own = [each for start in topic.get("figures", ()) for each in figures.get(start, ())]
        if frames or own:
            tables = [_shown_frame(by_gain(frame)) for frame in frames]
            topics.append({"key": key, "title": topic["title"], "frames": tables, "figures": own})
        elif "missing" in topic:
            absent.append(topic["missing"])
    cases = [each for each in galleries(result) if each.rule != "mean"]
    changed = any(each.changed for each in cases)
    if not changed:
        absent.append("No case is shown: no choice differs from Best-of-K's.")
    if cases and not any(source.texts for source in result.inputs):
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
    return render_page(
        REPORT,
        TEMPLATES,
        part_styles=[STYLE],
        title=f"Evaluation of {', '.join(source.name for source in result.inputs)}"[:120],
        answer=answer(found),
        wins=_shown_frame(wins_frame(found)),
        said=said,
        first=first,
        galleries=cases if changed else [],
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
    columns, groups = [], []
    for name, places in _groups(frame):
        numeric = all(map(frame.numeric, places))
        words = [f"{word}: {said}" for word, said in GLOSSARY.items() if word in name.lower()]
        columns.append({"name": name, "numeric": numeric, "words": "; ".join(words)})
        groups.append((name, places, [] if numeric else ["left"]))
    return {
        "name": frame.name,
        "title": frame.title,
        "note": frame.note,
        "size": len(frame),
        "in_files": frame.name in KEPT_IN_FILES,
        "folded": len(frame) > OPEN_ROWS,
        "columns": columns,
        "rows": [
            [_cell(name, [row[at] for at in places], kinds) for name, places, kinds in groups]
            for row in frame.rows
        ],
    }


def _cell(name: str, cells: Sequence[Cell], kinds: list[str]) -> tuple[str, str]:
    """The text and the classes of a cell, which is a number with its interval or one thing."""
    first, *ends = cells
    value, text = name.startswith("value"), cell_text(first)

    def signed(number: float) -> str:
        return f"{round(number, 9) + 0.0:{'' if value else '+'}.3f}"

    if isinstance(first, float) and text != "-":
        if name in COUNTS:
            text = f"{first:.1f}".removesuffix(".0")
        elif ends:
            text = signed(first)
    if not ends and len(text) > LONG:
        kinds = [*kinds, "words"]
        text = text if len(text) <= CLIP else f"{text[:CLIP]}…"
    known = [each for each in ends if isinstance(each, float) and each == each]
    if len(known) == 2:
        low, high = known
        text += f" [{signed(low)}, {signed(high)}]"
        if not value and (low > 0 or high < 0):
            kinds = [*kinds, "sure"]
    return text, " ".join(kinds)
