"""Cases where another rule chose differently from Best-of-K, and how they are shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from darc.evaluation.contest import Contest, Splits
from darc.evaluation.evaluate import Evaluation
from darc.evaluation.pictures import few
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
        half = next(iter(Splits(contest.source, contest.settings)))
        found.append(gallery(contest, half, list(contest.source.scorers)))
    for pair, contest in result.pairs:
        found.append(gallery(contest, pair.halves, list(pair.human.scorers)))
    return found


def shown_gallery(gallery: Gallery) -> dict[str, Any]:
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
        rows = [StripRow(f"{s}s", getattr(pick, s)[m], hollow=s == "judge") for s in sides]
        numbers = "; ".join(f"{r.name}: {', '.join(f'{v:.3g}' for v in r.values)}" for r in rows)
        return name, strip(rows, min(every), max(every), f"{name} {numbers}".strip())

    sides: list[tuple[Sequence[str], tuple[str, ...]]] = [(gallery.scorers, ("select", "judge"))]
    if gallery.scorers != gallery.judges:
        sides = [(gallery.scorers, ("select",)), (gallery.judges, ("judge",))]
    wanted = [(name, m, own) for names, own in sides for m, name in enumerate(names[:MOST_SCORERS])]
    return [made for each in wanted if (made := drawn(*each)) is not None]


def clipped_text(text: str) -> str:
    """A text of at most `CASE_CLIP` characters, and how many more there are."""
    if len(text) <= CASE_CLIP:
        return text
    return f"{text[:CASE_CLIP]}… ({len(text) - CASE_CLIP} more characters)"
