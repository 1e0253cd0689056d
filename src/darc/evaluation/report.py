"""An evaluation as a folder: tables, figures and one self-contained page."""

import base64
import hashlib
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from darc.errors import MissingExtra
from darc.evaluation.contest import Contest, Report, halves_of_seeds
from darc.evaluation.evaluate import Evaluation
from darc.evaluation.figures import Picture, draw_figures, few
from darc.evaluation.frame import Cell, Frame, shown, write_frames
from darc.evaluation.split import Halves
from darc.evaluation.verdict import Verdict, measure_name
from darc.tables import atomic_writer
from darc.views.chart import inline_svg, write_picture
from darc.views.html import environment, render
from darc.views.strip import Row, strip

TEMPLATES = Path(__file__).parent / "templates"
FIGURES, REPORT = "figures", "report.html"
OPEN_ROWS, LONG, CLIP, CASE_CLIP, MOST_SCORERS, SHOWN = 30, 48, 300, 700, 4, 3
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


@dataclass(frozen=True, eq=False)
class Pick:
    """A chosen candidate with its selecting and judging samples, a list a scorer."""

    candidate_id: str
    text: str
    select: list[list[float]]
    judge: list[list[float]]


@dataclass(frozen=True, eq=False)
class Case:
    """A prompt on which a rule left Best-of-K; `gain` is what the held-out half says of it."""

    prompt_id: str
    question: str
    base: Pick
    ours: Pick
    gain: float


@dataclass(frozen=True, eq=False)
class Gallery:
    """The largest gains and losses of one rule in one split, and how many changes there were."""

    source: str
    rule: str
    measure: str
    scorers: list[str]
    judges: list[str]
    changed: int
    prompts: int
    gains: list[Case]
    losses: list[Case]


def gallery(contest: Contest, halves: Halves, judges: Sequence[str], shown: int = SHOWN) -> Gallery:
    """The gallery of the contest's first split, whose halves are given; `judges` name its scorers.

    The rule is epsilon, or else the first that was run. Gains are by tradeoff where it is known of
    all changed prompts, otherwise by reward.
    """
    rule = next(iter(few(contest.methods, 1)), contest.methods[0])
    place = contest.methods.index(rule)
    base, ours = contest.choice[0, 0], contest.choice[0, place]
    changed = np.flatnonzero((base >= 0) & (ours >= 0) & (base != ours))
    gain, measure = contest.tradeoff[0, place] - contest.tradeoff[0, 0], "tradeoff"
    if np.isnan(gain[changed]).any():
        gain, measure = contest.reward[0, place] - contest.reward[0, 0], "mean"
    order = changed[np.argsort(-gain[changed], kind="stable")]
    cases = [
        Case(
            contest.source.prompt_ids[p],
            contest.source.questions[p] if contest.source.questions else "",
            _pick(contest, halves, p, int(base[p])),
            _pick(contest, halves, p, int(ours[p])),
            float(gain[p]),
        )
        for p in dict.fromkeys([*order[:shown].tolist(), *order[::-1][:shown].tolist()])
    ]
    return Gallery(
        contest.source.name,
        rule,
        measure,
        list(contest.source.scorers),
        list(judges),
        len(changed),
        int((base >= 0).sum()),
        [case for case in cases if case.gain > 0],
        sorted((case for case in cases if not case.gain > 0), key=lambda case: case.gain),
    )


def _pick(contest: Contest, halves: Halves, prompt: int, candidate: int) -> Pick:
    source = contest.source
    return Pick(
        source.candidate_ids[prompt][candidate],
        source.texts[prompt][candidate] if source.texts else "",
        _known(halves.select[prompt, :, candidate]),
        _known(halves.judge[prompt, :, candidate]),
    )


def _known(samples: np.ndarray) -> list[list[float]]:
    """The samples of each scorer, (M, n), without the missing ones."""
    return [[float(value) for value in row if not np.isnan(value)] for row in samples]


def galleries(result: Evaluation) -> list[Gallery]:
    """The cases of every contest, with the halves of its first split."""
    found = []
    for contest in result.contests:
        half = next(iter(halves_of_seeds(contest.source, contest.settings)))
        found.append(gallery(contest, half, list(contest.source.scorers)))
    for pair, contest in result.pairs:
        found.append(gallery(contest, pair.halves, list(pair.human.scorers)))
    return found


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
        size = (prompts, scorers, candidates, samples)
        made = (source.generator or "-", source.family or "-")
        rows.append((source.name, source.kind, *size, *made, how, times, kept))
    columns = ("name", "samples_by", "prompts", "scorers", "candidates", "samples", "generator")
    more = ("rewrites", "split", "splits", "prompts_kept")
    return Frame.of("sources", "Sources and splits", (*columns, *more), rows)


def settings_frame(result: Evaluation) -> Frame:
    """The settings by name."""
    rows = [(name, _text(value)) for name, value in asdict(result.settings).items()]
    return Frame.of("settings", "Settings", ("setting", "value"), rows)


def version_frame(release: str) -> Frame:
    """The versions of what the numbers hang on."""
    rows = [("darc", release), ("python", platform.python_version())]
    for name in PACKAGES:
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return Frame.of("versions", "Versions", ("package", "version"), rows)


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
    environment(TEMPLATES).filters["clipped"] = _clipped
    return render(
        REPORT,
        TEMPLATES,
        title=f"Evaluation of {', '.join(source.name for source in result.sources)}"[:120],
        answer=answer(found),
        wins=_shown_frame(_wins(found)),
        said=said,
        first=first,
        galleries=[_shown_gallery(each) for each in cases] if changed else [],
        topics=topics,
        lists=[each for each in lists if each[2]],
        about=[_shown_frame(frame) for frame in about],
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def answer(found: Sequence[Verdict]) -> str:
    """Whether any rule beats Best-of-K, in a sentence; empty where nothing can be said."""
    if not found:
        return ""
    wins = [(v, m, a) for v in found for m in (0, 1) for a in v.better(m)]
    if not wins:
        return "No rule beats Best-of-K beyond noise."
    verdict, measure, at = wins[0]
    others = len({v.methods[a] for v, _, a in wins}) - 1
    more = "" if not others else f" ({others} other{'s' * (others > 1)} too)"
    return (
        f"Yes: {verdict.methods[at]}{more} beats Best-of-K beyond noise, by "
        f"{verdict.delta[measure, at]:+.3f} in {measure_name(verdict.measures[measure])} on "
        f"{_for_whom(verdict)}."
    )


def _for_whom(verdict: Verdict) -> str:
    subset = {"overall": "all", "high-variance": "the most contested"}
    return f"{subset.get(verdict.subset, verdict.subset)} {verdict.prompts} prompts"


def _wins(found: Sequence[Verdict]) -> Frame:
    """For whom Best-of-K is beaten, by how much: a row a verdict and measure."""
    rows: list[tuple[object, ...]] = []
    for verdict in found:
        for measure, name in enumerate(verdict.measures):
            better = verdict.better(measure)
            gains = np.where(np.isnan(verdict.delta[measure]), -np.inf, verdict.delta[measure])
            at = better[0] if better else 1 + int(gains[1:].argmax())
            delta, margin = verdict.delta[measure, at], verdict.margin[measure, at]
            sure = "yes" if better else "no"
            head = (verdict.source, _for_whom(verdict), measure_name(name), sure)
            span = (delta, delta - margin, delta + margin)
            rows.append((*head, verdict.methods[at], *span, verdict.mean[at], len(better)))
    columns = ("source", "on", "in", "beaten", "best rule", "delta", "low_delta", "high_delta")
    return Frame.of("wins", "", (*columns, "mean change", "rules that beat it"), rows)


def frame_table(frame: Frame) -> str:
    """A table in a box that scrolls by itself; what excludes 0 is bold."""
    return str(_macros().table(_shown_frame(frame), frame.title))


def frame_section(frame: Frame) -> str:
    """A frame's title, note and table; a long table is folded, the longest stay in files."""
    return str(_macros().section(_shown_frame(frame)))


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


def _shown_gallery(gallery: Gallery) -> dict[str, Any]:
    """A gallery as the template wants it, the largest gain and the largest loss first."""
    gains, losses = gallery.gains, gallery.losses
    cases = [*gains[:1], *losses[:1], *gains[1:], *losses[1:]]
    sides = [
        [
            ("Best-of-K", case.base, _strips(gallery, case, case.base)),
            (gallery.rule, case.ours, _strips(gallery, case, case.ours)),
        ]
        for case in cases
    ]
    return {
        **vars(gallery),
        "cases": [
            {
                **vars(case),
                "change": f"{case.gain:+.3f}" if case.gain == case.gain else "unknown",
                "sides": own,
            }
            for case, own in zip(cases, sides, strict=True)
        ],
    }


def _strips(gallery: Gallery, case: Case, pick: Pick) -> list[tuple[str, str]]:
    """A strip a scorer, by name; selecting and judging share one where they share the scale."""
    both = (case.base, case.ours)

    def drawn(name: str, m: int, sides: Sequence[str]) -> tuple[str, str] | None:
        every = [value for each in both for side in sides for value in getattr(each, side)[m]]
        if not every:
            return None
        rows = [Row(f"{s}s", getattr(pick, s)[m], hollow=s == "judge") for s in sides]
        numbers = "; ".join(f"{r.name}: {', '.join(f'{v:.3g}' for v in r.values)}" for r in rows)
        return name, strip(rows, min(every), max(every), f"{name} {numbers}".strip())

    sides: list[tuple[Sequence[str], tuple[str, ...]]] = [(gallery.scorers, ("select", "judge"))]
    if gallery.scorers != gallery.judges:
        sides = [(gallery.scorers, ("select",)), (gallery.judges, ("judge",))]
    wanted = [(name, m, own) for names, own in sides for m, name in enumerate(names[:MOST_SCORERS])]
    return [made for each in wanted if (made := drawn(*each)) is not None]


def _clipped(text: str) -> str:
    if len(text) <= CASE_CLIP:
        return text
    return f"{text[:CASE_CLIP]}… ({len(text) - CASE_CLIP} more characters)"
