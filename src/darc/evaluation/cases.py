"""Cases where another rule chose differently from Best-of-K, and how they are shown."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from darc.evaluation.contest import Contest, Splits
from darc.evaluation.evaluate import Evaluation
from darc.evaluation.pictures import few
from darc.evaluation.source import Source
from darc.evaluation.split import Halves
from darc.views.html import StripRow, strip

CASE_CLIP, MOST_SCORERS, SHOWN = 700, 4, 3


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


def galleries(result: Evaluation) -> list[Gallery]:
    """The cases of every contest, with the halves of its first split."""
    own = [
        _gallery(contest, next(iter(Splits(contest.source, contest.settings))), contest.source)
        for contest in result.contests
    ]
    return own + [_gallery(contest, pair.halves, pair.human) for pair, contest in result.pairs]


def _gallery(contest: Contest, halves: Halves, judge: Source) -> Gallery:
    """The gallery of the contest's first split, whose halves are given.

    The rule is epsilon, or else the first that was run. Gains are by tradeoff where it is known of
    all changed prompts, otherwise by reward.
    """
    source = contest.source
    rule = next(iter(few(contest.methods, 1)), contest.methods[0])
    place = contest.methods.index(rule)
    base, ours = contest.choice[0, 0], contest.choice[0, place]
    changed = np.flatnonzero((base >= 0) & (ours >= 0) & (base != ours))
    gain, measure = (contest.tradeoff[0, place] - contest.tradeoff[0, 0]), "tradeoff"
    if np.isnan(gain[changed]).any():
        gain, measure = (contest.reward[0, place] - contest.reward[0, 0]), "mean"

    def pick(prompt: int, candidate: int) -> Pick:
        sides = (halves.select[prompt, :, candidate], halves.judge[prompt, :, candidate])
        known = ([row[~np.isnan(row)].tolist() for row in side] for side in sides)
        text = source.texts[prompt][candidate] if source.texts else ""
        return Pick(source.candidate_ids[prompt][candidate], text, *known)

    order = changed[np.argsort(-gain[changed], kind="stable")].tolist()
    cases = []
    for p in dict.fromkeys([*order[:SHOWN], *order[::-1][:SHOWN]]):
        question = source.questions[p] if source.questions else ""
        picks = pick(p, base[p]), pick(p, ours[p])
        cases.append(Case(source.prompt_ids[p], question, *picks, float(gain[p])))
    return Gallery(
        source.name,
        rule,
        measure,
        list(source.scorers),
        list(judge.scorers),
        len(changed),
        int((base >= 0).sum()),
        [case for case in cases if case.gain > 0],
        sorted((case for case in cases if not case.gain > 0), key=lambda case: case.gain),
    )


def shown_gallery(gallery: Gallery) -> dict[str, Any]:
    """A gallery as the template wants it, the largest gain and the largest loss first."""
    gains, losses = gallery.gains, gallery.losses
    cases = []
    for case in (*gains[:1], *losses[:1], *gains[1:], *losses[1:]):
        picks = (("Best-of-K", case.base), (gallery.rule, case.ours))
        sides = [(name, pick, _strips(gallery, case, pick)) for name, pick in picks]
        change = f"{case.gain:+.3f}" if case.gain == case.gain else "unknown"
        cases.append({**vars(case), "change": change, "sides": sides})
    return {**vars(gallery), "cases": cases}


def _strips(gallery: Gallery, case: Case, pick: Pick) -> list[tuple[str, str]]:
    """A strip a scorer, by name; selecting and judging share one where they share the scale."""
    sides = [(gallery.scorers, ["select"]), (gallery.judges, ["judge"])]
    if gallery.scorers == gallery.judges:
        sides = [(gallery.scorers, ["select", "judge"])]
    drawn = []
    for names, own in sides:
        for m, name in enumerate(names[:MOST_SCORERS]):
            every = [x for each in (case.base, case.ours) for s in own for x in getattr(each, s)[m]]
            rows = [StripRow(f"{s}s", getattr(pick, s)[m], hollow=s == "judge") for s in own]
            told = "; ".join(f"{r.name}: {', '.join(f'{v:.3g}' for v in r.values)}" for r in rows)
            if every:
                made = strip(rows, min(every), max(every), f"{name} {told}".strip())
                drawn.append((name, made))
    return drawn


def clipped_text(text: str) -> str:
    """A text of at most `CASE_CLIP` characters, and how many more there are."""
    more = len(text) - CASE_CLIP
    return text if more <= 0 else f"{text[:CASE_CLIP]}… ({more} more characters)"
