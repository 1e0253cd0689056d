"""An evaluation as a folder: tables, figures and one self-contained page."""

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from darc.errors import MissingExtra
from darc.evaluation.contest import Contest, Report, halves_of_seeds
from darc.evaluation.evaluate import Evaluation
from darc.evaluation.figures import Picture, draw_figures, few
from darc.evaluation.frame import Cell, Frame, shown, write_frames
from darc.evaluation.split import Halves
from darc.tables import atomic_writer
from darc.views.chart import inline_svg, write_picture
from darc.views.page import element, page
from darc.views.strip import Row, strip

STYLE = """
:root { color-scheme: light; }
@media (prefers-color-scheme: dark) { :root { --ink: #1f2933; --pale: #5a6573; --line: #d8dee6;
  --back: #ffffff; --card: #f6f8fa; --mark: #0b6fa4; } }
body { max-width: 66rem; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1rem; }
h3 { font-size: 1.05rem; margin-top: 1.8rem; }
#summary { border-left: 4px solid var(--mark); background: var(--card); padding: .3rem 1rem; }
nav ul { columns: 15rem; padding-left: 1.2rem; }
a { color: var(--mark); }
td, th { text-align: right; vertical-align: top; }
th { font-weight: 600; vertical-align: bottom; }
td:first-child, th:first-child, .left, td:last-child.left, th:last-child.left { text-align: left; }
td:last-child, th:last-child { text-align: right; white-space: nowrap; min-width: 0; }
table { width: auto; font-size: .84rem; font-variant-numeric: tabular-nums; }
td.sure { font-weight: 650; }
td.words, td.words:last-child { white-space: pre-wrap; text-align: left; min-width: 12rem;
  max-width: 30rem; overflow-wrap: anywhere; }
figure { margin: 1.2rem 0; }
figure svg { width: auto; max-width: 100%; min-width: 34rem; }
figcaption { color: var(--pale); font-size: .9rem; max-width: 54rem; }
.case { border: 1px solid var(--line); border-radius: 6px; padding: .4rem 1rem 1rem;
  margin: .8rem 0; break-inside: avoid; }
.case-head, .who { font-weight: 600; margin: .5rem 0; overflow-wrap: anywhere; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr));
  gap: 1.2rem; }
.pick svg { max-width: 100%; height: auto; }
.case .text { font-size: .9rem; line-height: 1.45; }
.scorer { margin: .4rem 0 0; }
@media print { body { max-width: none; font-size: 10pt; padding: 0; }
  .wide { overflow: visible; } figure, table { break-inside: avoid; } nav { display: none; }
  figure svg { min-width: 0; } details::details-content { content-visibility: visible;
  display: block; } table { font-size: 7pt; } }
"""


OPEN_ROWS = 30
LONG = 48
CLIP = 300
# Of main, what the table of changes has not are averages that follow from it.
KEPT_IN_FILES = ("densities", "main", "points")
COUNTS = ("prompts", "win", "tie", "loss", "length", "prompts kept", "total", "per prompt", "n")


def frame_section(frame: Frame) -> str:
    """A frame's title, table and note; a long table is folded, the longest stay in files."""
    title = element("h3", frame.title, id=f"table-{frame.name}")
    if frame.name in KEPT_IN_FILES:
        rows = f"{len(frame):,} rows, in {frame.name}.csv."
        return title + element("p", rows, kind="pale")
    table = frame_table(by_gain(frame))
    if len(frame) > OPEN_ROWS:
        table = f"<details><summary>{len(frame)} rows</summary>{table}</details>"
    note = element("p", frame.note, kind="pale") if frame.note else ""
    return f"{title}{note}{table}"


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


def frame_table(frame: Frame) -> str:
    """A table in a box that scrolls by itself; what excludes 0 is bold."""
    groups = _groups(frame)
    kinds = ["" if _numeric(frame, places) else "left" for _, places in groups]
    head = "".join(
        element("th", name, scope="col", **({"kind": kind} if kind else {}))
        for (name, _), kind in zip(groups, kinds, strict=True)
    )
    lines = []
    for row in frame.rows:
        cells = [
            _cell([row[place] for place in places], kind, name)
            for (name, places), kind in zip(groups, kinds, strict=True)
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    label = escape(frame.title)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{label}"><table><thead><tr>'
        f"{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


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


def _cell(cells: Sequence[Cell], kind: str, name: str) -> str:
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
    return element("td", text, **({"kind": kind} if kind else {}))


def _signed(number: float, sign: str) -> str:
    return f"{round(number, 9) + 0.0:{sign}.3f}"


SHOWN = 3


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


CASES_CLIP = 700
MOST_SCORERS = 4


def gallery_section(gallery: Gallery) -> str:
    """The cases of one source, gains first."""
    parts = [element("h3", f"{gallery.source}: {gallery.rule} against Best-of-K")]
    said = (
        f"In the first split {gallery.rule} chose differently on {gallery.changed} of "
        f"{gallery.prompts} prompts."
    )
    if gallery.changed:
        said += (
            f" Below are the largest gains and the largest losses by held-out {gallery.measure}. "
            "Dots are the samples that selected, open squares those that judged; the bar is "
            "their mean."
        )
    parts.append(element("p", said))
    for title, cases in (("Gains", gallery.gains), ("Losses", gallery.losses)):
        if cases:
            parts.append(element("h4", title))
            parts += [_case(gallery, case) for case in cases]
    return "".join(parts)


def _case(gallery: Gallery, case: Case) -> str:
    question = element("p", _clipped(case.question), kind="text") if case.question else ""
    sides = "".join(
        f'<div class="pick">{element("p", f"{who}: {pick.candidate_id}", kind="who")}'
        f"{_strips(gallery, case, pick)}"
        f"{element('p', _clipped(pick.text), kind='text') if pick.text else ''}</div>"
        for who, pick in (("Best-of-K", case.base), (gallery.rule, case.ours))
    )
    head = element(
        "p", f"{case.prompt_id}: {gallery.measure} {_change(case.gain)}", kind="case-head"
    )
    return f'<div class="case">{head}{question}<div class="pair">{sides}</div></div>'


def _change(gain: float) -> str:
    return f"{gain:+.3f}" if gain == gain else "unknown"


def _strips(gallery: Gallery, case: Case, pick: Pick) -> str:
    """A strip a scorer; selection and evaluation share a strip where they share the scale."""
    if gallery.scorers == gallery.judges:
        names = gallery.scorers[:MOST_SCORERS]
        strips = []
        for m, name in enumerate(names):
            every = [
                value
                for each in (case.base, case.ours)
                for value in (*each.select[m], *each.judge[m])
            ]
            rows = [Row("selects", pick.select[m]), Row("judges", pick.judge[m], hollow=True)]
            strips.append(_strip(name, rows, every))
        return "".join(strips)
    return "".join(
        _side(case, pick, names[:MOST_SCORERS], judges)
        for names, judges in ((gallery.scorers, False), (gallery.judges, True))
    )


def _side(case: Case, pick: Pick, names: list[str], judges: bool) -> str:
    strips = []
    for m, name in enumerate(names):
        both = [(each.judge if judges else each.select)[m] for each in (case.base, case.ours)]
        own = (pick.judge if judges else pick.select)[m]
        row = Row("judges" if judges else "selects", own, hollow=judges)
        strips.append(_strip(name, [row], [value for each in both for value in each]))
    return "".join(strips)


def _strip(name: str, rows: list[Row], every: list[float]) -> str:
    if not every:
        return ""
    label = "; ".join(f"{row.name}: {_numbers(row)}" for row in rows)
    title = element("p", name, kind="pale scorer") if name else ""
    return title + strip(rows, min(every), max(every), f"{name} {label}".strip())


def _numbers(row: Row) -> str:
    return ", ".join(f"{value:.3g}" for value in row.values)


def _clipped(text: str) -> str:
    return (
        text if len(text) <= CASES_CLIP else f"{text[:CLIP]}… ({len(text) - CLIP} more characters)"
    )


PACKAGES = ("numpy", "scipy", "matplotlib")
HOW = {
    "rater": "raters split into halves",
    "sample": "each candidate's samples split into halves",
    "rewrite": "rewrites split by number into halves",
}


def about_section(result: Evaluation, release: str) -> str:
    """Sources and their splits, settings and versions; `release` is DARC's own."""
    parts = [element("h3", "Sources and splits"), frame_table(source_frame(result))]
    parts += [element("h3", "Settings"), frame_table(settings_frame(result))]
    parts += [element("h3", "Versions"), frame_table(version_frame(release))]
    return "".join(parts)


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


GLOSSARY = (
    "Best-of-K, the rule mean: take the candidate with the largest average rating.",
    "Reward: the average rating of what a rule took, by raters who did not select.",
    "Risk, sigma: how far those raters disagree, as a standard deviation.",
    "Tradeoff: reward less twice the risk, or the weight given.",
    "CVaR 10 %: the average reward of the worst tenth of the prompts.",
    "Change: against Best-of-K on the same prompts, with a 95 % interval, bold if it excludes 0.",
    "High-variance: the fifth of the prompts on whose Best-of-K answer raters disagree most.",
)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A picture and its SVG text."""

    picture: Picture
    svg: str


def report_page(
    result: Evaluation, said: Sequence[str], drawn: Sequence[Drawn], release: str
) -> str:
    """The page; `said` is the summary, `release` DARC's version. Every text is escaped."""
    names = ", ".join(source.name for source in result.sources)
    sections: list[tuple[str, str, str]] = []
    absent: list[str] = []
    for topic in [*TOPICS, *_rest(result.frames)]:
        body = _topic(topic, result, drawn)
        if body:
            sections.append((topic.key, topic.title, body))
        elif topic.missing:
            absent.append(topic.missing)
    cases = [each for each in galleries(result) if each.rule != "mean"]
    if any(each.changed for each in cases):
        body = "".join(map(gallery_section, cases))
        sections.insert(1, ("cases", "Where the choice changed", body))
    else:
        absent.append("no case is shown: no choice differs from Best-of-K's")
    if cases and not any(source.texts for source in result.sources):
        absent.append("the cases have no texts: none were given")
    if not drawn:
        absent.append("there are no figures")
    if result.warnings:
        sections.append(("warnings", "Warnings", _list(result.warnings)))
    if absent:
        left_out = _list([f"{each[0].upper()}{each[1:]}." for each in absent])
        sections.append(("absent", "Left out", left_out))
    sections.append(("glossary", "Words", _list(GLOSSARY)))
    sections.append(("about", "Configuration", about_section(result, release)))
    body = "\n".join(
        [
            element("h1", f"Evaluation of {names}"),
            f'<section id="summary">{"".join(element("p", each) for each in said)}</section>',
            _contents(sections),
            *(_section(*each) for each in sections),
        ]
    )
    return page(f"Evaluation of {names}"[:120], body, STYLE)


def galleries(result: Evaluation) -> list[Gallery]:
    """The cases of every contest, with the halves of its first split."""
    found = []
    for contest in result.contests:
        half = next(iter(halves_of_seeds(contest.source, contest.settings)))
        found.append(gallery(contest, half, list(contest.source.scorers)))
    for pair, contest in result.pairs:
        found.append(gallery(contest, pair.halves, list(pair.human.scorers)))
    return found


def _rest(frames: Sequence[Frame]) -> list[Topic]:
    """A section for the frames that no topic names."""
    known = {name for topic in TOPICS for name in topic.frames}
    others = tuple(frame.name for frame in frames if frame.name not in known)
    return [Topic("others", "Other tables", others)] if others else []


def _topic(topic: Topic, result: Evaluation, drawn: Sequence[Drawn]) -> str:
    frames = [frame for name in topic.frames if (frame := result.frame(name)) is not None]
    figures = [
        _figure(each, len(result.sources) > 1)
        for start in topic.figures
        for each in drawn
        if each.picture.name.split("-")[0] == start
    ]
    return "".join([*figures, *map(frame_section, frames)])


def _figure(drawn: Drawn, several: bool) -> str:
    picture = drawn.picture
    caption = f"{picture.source}: {picture.caption}" if several else picture.caption
    inner = inline_svg(drawn.svg, picture.name, caption)
    return (
        f'<figure id="figure-{picture.name}"><div class="wide" tabindex="0" role="region" '
        f'aria-label="figure">{inner}</div>{element("figcaption", caption)}</figure>'
    )


def _contents(sections: Sequence[tuple[str, str, str]]) -> str:
    links = "".join(f"<li>{element('a', title, href=f'#{key}')}</li>" for key, title, _ in sections)
    return f'<nav aria-label="contents"><ul>{links}</ul></nav>'


def _section(key: str, title: str, body: str) -> str:
    return f'<section id="{key}">{element("h2", title)}{body}</section>'


def _list(sentences: Sequence[str]) -> str:
    return f"<ul>{''.join(element('li', each) for each in sentences)}</ul>"


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
