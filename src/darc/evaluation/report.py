"""An evaluation as a folder: tables, figures and one self-contained page."""

import base64
import hashlib
import platform
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from darc.errors import MissingExtra
from darc.evaluation.cases import clipped_text, galleries, shown_gallery
from darc.evaluation.contest import Report
from darc.evaluation.evaluate import Evaluation
from darc.evaluation.figures import draw_figures
from darc.evaluation.frame import Cell, Frame, shown, write_frames
from darc.evaluation.pictures import Picture
from darc.evaluation.verdict import Verdict, answer, wins_frame
from darc.tables import atomic_writer
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
HOW = {
    "rater": "raters split into halves",
    "sample": "each candidate's samples split into halves",
    "rewrite": "rewrites split by number into halves",
}
GLOSSARY = {
    "Best-of-K": "the rule mean: take the candidate with the largest average rating",
    "reward": "the average rating of what a rule took, by raters who did not select",
    "mean": "the same as reward",
    "risk": "the same as sigma",
    "sigma": "how far those raters disagree, as a standard deviation",
    "tradeoff": "reward less twice the risk, or the weight given",
    "cvar": "the average reward of the worst prompts, of a tenth of them for CVaR 10 %",
    "change": "against Best-of-K on the same prompts, with a 95 % interval, bold if it excludes 0",
    "high-variance": "the fifth of the prompts on whose Best-of-K answer raters disagree most",
}


@dataclass(frozen=True)
class Topic:
    """A section: the frames and figures (by the start of their names) it has, and why not."""

    key: str
    title: str
    frames: tuple[str, ...]
    figures: tuple[str, ...] = ()
    missing: str = ""


TOPICS = (
    Topic("rules", "Rules compared", ("human", "main", "flags", "densities"), ("gains", "ridges")),
    Topic("buckets", "Gains by disagreement", ("buckets",), ("buckets",)),
    Topic(
        "proxy",
        "The proxy and people",
        ("validity", "overlap", "points", "mismatches", "errors"),
        ("scatter", "overlap"),
        "proxy and people are not compared: that takes a run folder and ratings of its candidates",
    ),
    Topic(
        "scorers",
        "Scorer by scorer",
        ("scorers", "held_out_scorers"),
        (),
        "scorers are not compared: there is one",
    ),
    Topic("pool", "Disagreement in the raw pool", ("pool",)),
    Topic("forms", "Absolute and pairwise judgements", ("scalarisation",)),
    Topic(
        "families",
        "Rewrite families",
        ("families", "family_agreement"),
        (),
        "rewrite families are not compared: that takes run folders of several",
    ),
    Topic(
        "knobs",
        "As one setting changes",
        ("ablations", "frontier"),
        ("ablation", "frontier"),
        "no knob was moved",
    ),
    Topic("lambda", "Sensitivity to lambda", ("sensitivity",)),
    Topic("calibration", "Calibration of the bound", ("calibration",), ("calibration",)),
    Topic("cost", "Cost", ("calls", "tokens", "cost", "latency", "decision_cost")),
)


def source_frame(result: Evaluation) -> Frame:
    """One row a source: its size and how it was split."""
    contests = {contest.source.name: contest for contest in result.contests}
    rows = []
    for source in result.sources:
        prompts, scorers, candidates, samples = source.shape
        contest = contests.get(source.name)
        how = HOW.get(contest.split, contest.split) if contest else "not split"
        times = len(contest.kept) if contest else 0
        kept = float(np.mean(contest.kept.sum(axis=1))) if contest else 0.0
        rows.append(
            {
                "name": source.name,
                "samples_by": source.kind,
                "prompts": prompts,
                "scorers": scorers,
                "candidates": candidates,
                "samples": samples,
                "generator": source.generator or "-",
                "rewrites": source.family or "-",
                "split": how,
                "splits": times,
                "prompts_kept": kept,
            }
        )
    return Frame.of("sources", "Sources and splits", rows)


def settings_frame(result: Evaluation) -> Frame:
    """The settings by name."""
    found = dict(result.settings).items()
    rows = [{"setting": name, "value": _text(value)} for name, value in found]
    return Frame.of("settings", "Settings", rows)


def version_frame(release: str) -> Frame:
    """The versions of what the numbers hang on."""
    found = {"darc": release, "python": platform.python_version()}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    rows = [{"package": name, "version": number} for name, number in found.items()]
    return Frame.of("versions", "Versions", rows)


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
    heads = [frame.columns.index(name) for name in ("source", "subset")]
    order = {tuple(row[place] for place in heads): at for at, row in enumerate(frame.rows[::-1])}

    def key(row: tuple[Cell, ...]) -> tuple[float, ...]:
        changes = [row[frame.columns.index(name)] for name in names]
        known = [-each if isinstance(each, float) and each == each else 0.0 for each in changes]
        return (-order[tuple(row[place] for place in heads)], *known)

    return replace(frame, rows=tuple(sorted(frame.rows, key=key)))


def _groups(frame: Frame) -> list[tuple[str, list[int]]]:
    """Columns that share a cell, with their name: (delta, low, high) go together."""
    names = list(frame.columns)
    groups: list[tuple[str, list[int]]] = []
    used: set[int] = set()
    for place, name in enumerate(names):
        if place in used or _idle(frame, place):
            continue
        part = _ends_of(name)
        if part is not None and all(end in names for end in part):
            places = [place, *(names.index(end) for end in part)]
            used |= set(places)
            what = name.removeprefix("delta_")
            said = "change [95 %]" if name == "delta" else f"{what} change [95 %]"
            groups.append(("value [95 %]" if name == "value" else said, places))
        else:
            groups.append((name.replace("_", " "), [place]))
    return groups


def _ends_of(name: str) -> tuple[str, str] | None:
    """The columns of the interval that belongs to a column."""
    if name == "value":
        return "low", "high"
    if name == "delta":
        return "low_delta", "high_delta"
    if name.startswith("delta_"):
        what = name.removeprefix("delta_")
        return f"low_{what}", f"high_{what}"
    return None


def _idle(frame: Frame, place: int) -> bool:
    """Whether a column says nothing: no cell filled, or one source for all rows."""
    cells = {row[place] for row in frame.rows}
    if frame.columns[place] in ("source", "length_unit") and len(cells) == 1:
        return True
    return all(shown(cell) in ("-", "") for cell in cells)


def _numeric(frame: Frame, places: Sequence[int]) -> bool:
    return all(
        cell is None or isinstance(cell, int | float)
        for row in frame.rows
        for cell in (row[place] for place in places)
    )


@dataclass(frozen=True, eq=False)
class Drawn:
    """A picture and its SVG text."""

    picture: Picture
    svg: str


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
                drawn.append(Drawn(picture, svg))
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
    for topic in [*TOPICS, *_rest(result.frames)]:
        frames = [frame for name in topic.frames if (frame := result.frame(name)) is not None]
        own = [each for start in topic.figures for each in rest if each["start"] == start]
        if frames or own:
            tables = [_shown_frame(by_gain(frame)) for frame in frames]
            topics.append(
                {"key": topic.key, "title": topic.title, "frames": tables, "figures": own}
            )
        elif topic.missing:
            absent.append(topic.missing)
    cases = [each for each in galleries(result) if each.rule != "mean"]
    changed = any(each.changed for each in cases)
    if not changed:
        absent.append("no case is shown: no choice differs from Best-of-K's")
    if cases and not any(source.texts for source in result.sources):
        absent.append("the cases have no texts: none were given")
    if not drawn:
        absent.append("there are no figures")
    lists = [
        ("warnings", "Warnings", result.warnings),
        ("absent", "Left out", [f"{each[0].upper()}{each[1:]}." for each in absent]),
        ("glossary", "Words", [f"{word}: {words}." for word, words in GLOSSARY.items()]),
    ]
    about = (source_frame(result), settings_frame(result), version_frame(release))
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
        about=[_shown_frame(frame) for frame in about],
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def frame_table(frame: Frame) -> str:
    """A table in a box that scrolls by itself; what excludes 0 is bold."""
    return str(_macros().table(_shown_frame(frame), frame.title))


def _macros() -> Any:
    return environment(TEMPLATES).get_template("frames.html").module


def _shown_frame(frame: Frame) -> dict[str, Any]:
    """A frame as the templates want it: groups of columns, cells as texts with a class."""
    groups = _groups(frame)
    kinds = ["" if _numeric(frame, places) else "left" for _, places in groups]
    pairs = list(zip(groups, kinds, strict=True))
    return {
        "name": frame.name,
        "title": frame.title,
        "note": frame.note,
        "size": len(frame),
        "in_files": frame.name in KEPT_IN_FILES,
        "folded": len(frame) > OPEN_ROWS,
        "columns": [
            {"name": name, "numeric": not kind, "words": _meaning(name)}
            for (name, _), kind in pairs
        ],
        "rows": [
            [_cell([row[at] for at in places], kind, name) for (name, places), kind in pairs]
            for row in frame.rows
        ],
    }


def _meaning(column: str) -> str:
    """What the glossary says of the words in a column's name."""
    name = column.lower()
    found = [f"{word}: {said}" for word, said in GLOSSARY.items() if word in name]
    return "; ".join(found)


def _cell(cells: Sequence[Cell], kind: str, name: str) -> tuple[str, str]:
    """A cell's text and class."""
    text = shown(cells[0])
    if name in COUNTS and isinstance(cells[0], float) and text != "-":
        text = f"{cells[0]:.1f}".removesuffix(".0")
    if len(cells) == 3:
        low, high = cells[1], cells[2]
        signed = "" if name.startswith("value") else "+"
        if isinstance(cells[0], float) and text != "-":
            text = _signed(cells[0], signed)
        if isinstance(low, float) and isinstance(high, float) and shown(low) != "-":
            text += f" [{_signed(low, signed)}, {_signed(high, signed)}]"
            if signed and (low > 0 or high < 0):
                kind = f"{kind} sure".strip()
    elif len(text) > LONG:
        kind = f"{kind} words".strip()
        text = text if len(text) <= CLIP else f"{text[:CLIP]}…"
    return text, kind


def _signed(number: float, sign: str) -> str:
    return f"{round(number, 9) + 0.0:{sign}.3f}"


def _figure(drawn: Drawn, several: bool) -> dict[str, str]:
    picture = drawn.picture
    caption = f"{picture.source}: {picture.caption}" if several else picture.caption
    svg = inline_svg(drawn.svg, picture.name, caption)
    start = picture.name.split("-")[0]
    return {"name": picture.name, "start": start, "caption": caption, "svg": svg}


def _rest(frames: Sequence[Frame]) -> list[Topic]:
    """A section for the frames that no topic names."""
    known = {name for topic in TOPICS for name in topic.frames}
    others = tuple(frame.name for frame in frames if frame.name not in known)
    return [Topic("others", "Other tables", others)] if others else []
