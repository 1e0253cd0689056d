"""One self-contained page of an evaluation: what it says, every table, every figure, some cases."""

from collections.abc import Sequence
from dataclasses import dataclass

from darc.evaluation.evaluate import Evaluation
from darc.evaluation.figures.picture import Picture
from darc.evaluation.frame import Frame
from darc.evaluation.report.about import about_section
from darc.evaluation.report.cases import gallery_section
from darc.evaluation.report.gallery import Gallery, gallery
from darc.evaluation.report.style import STYLE
from darc.evaluation.report.tables import frame_section
from darc.evaluation.study import halves_of_seeds
from darc.views.chart import inline_svg
from darc.views.page import element, page


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
    """The cases of every study, with the halves of its first split."""
    found = []
    for study in result.studies:
        half = next(iter(halves_of_seeds(study.source, study.settings)))
        found.append(gallery(study, half, list(study.source.scorers)))
    for pair, study in result.pairs:
        found.append(gallery(study, pair.halves, list(pair.human.scorers)))
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


__all__ = ["TOPICS", "Drawn", "Topic", "galleries", "report_page"]
