"""Cases where another rule chose differently from Best-of-K, and how they are shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from darc.analysis.evaluate.contest import Contest
from darc.analysis.evaluate.evaluation import Evaluation
from darc.analysis.evaluate.run_contest import Splits
from darc.analysis.report.frame_parts import choose_methods
from darc.decide.standards import PANEL_SCALE, scale_of
from darc.ratings.ratings import Halves, Ratings
from darc.ratings.splitting import NOBODY
from darc.typing import Array, Integers
from darc.views.dots import (
    BEST_OF_K,
    CHOSEN,
    OTHER_CHOICE,
    Dot,
    DotPicture,
    DotRow,
    DotStrip,
    count_samples_per_dot,
    make_strip,
)
from darc.views.dots_html import dots_figure
from darc.views.numbers import number_text

# Longer texts are cut.
CASE_CLIP = 700
# Strips of more scorers than this are left out.
MOST_SCORERS = 4
# So many of the largest gains are shown, and so many of the largest losses.
SHOWN = 3


@dataclass(frozen=True, eq=False)
class Pick:
    """A chosen candidate with its selecting and judging samples, one list per scorer."""

    candidate_id: str
    text: str
    select: list[list[float]]
    judge: list[list[float]]


@dataclass(frozen=True, eq=False)
class Case:
    """A prompt on which a rule left Best-of-K; `gain` is what the held-out half says of it.

    `figure` is the dot picture of both picks, an element of a page.
    """

    prompt_id: str
    question: str
    base: Pick
    ours: Pick
    gain: float
    figure: Markup


@dataclass(frozen=True, eq=False)
class Gallery:
    """The largest gains and losses of one rule in one split, and how many changes there were.

    The largest gain and the largest loss come first.
    """

    source: str
    rule: str
    measure: str
    changed: int
    prompts: int
    cases: list[Case]


def galleries(result: Evaluation) -> list[Gallery]:
    """The cases of every contest, with the halves of its first split."""
    own = [
        _gallery(contest, next(iter(Splits(contest.ratings, contest.settings))), contest.ratings)
        for contest in result.contests
    ]
    return own + [_gallery(contest, pair.halves, pair.human) for pair, contest in result.pairs]


def _gallery(contest: Contest, halves: Halves, judge: Ratings) -> Gallery:
    """The gallery of the contest's first split, whose halves are given.

    The rule is epsilon, or else the first that was run. Gains are by tradeoff where it is known of
    all changed prompts, otherwise by reward.
    """
    source = contest.ratings
    rule = next(iter(choose_methods(contest.methods, 1)), contest.methods[0])
    place = contest.methods.index(rule)
    base, ours = contest.choice[0, 0], contest.choice[0, place]
    changed = np.flatnonzero((base >= 0) & (ours >= 0) & (base != ours))
    gain, measure = (contest.tradeoff[0, place] - contest.tradeoff[0, 0]), "tradeoff"
    if np.isnan(gain[changed]).any():
        gain, measure = (contest.reward[0, place] - contest.reward[0, 0]), "mean"

    def pick(prompt: int, candidate: int) -> Pick:
        sides = (
            halves.select.samples[prompt, :, candidate],
            halves.judge.samples[prompt, :, candidate],
        )
        known = ([row[~np.isnan(row)].tolist() for row in side] for side in sides)
        text = source.texts[prompt][candidate] if source.texts else ""
        return Pick(source.candidate_ids[prompt][candidate], text, *known)

    sides = [_Side.of("that selected", source, halves.select.samples, halves.select.raters)]
    sides.append(_Side.of("held out", judge, halves.judge.samples, halves.judge.raters))
    order = changed[np.argsort(-gain[changed], kind="stable")].tolist()
    cases = []
    for p in dict.fromkeys([*order[:SHOWN], *order[::-1][:SHOWN]]):
        base_pick = pick(p, base[p])
        own_pick = pick(p, ours[p])
        picks = {ours[p]: (own_pick, f"Chosen by {rule}"), base[p]: (base_pick, BEST_OF_K)}
        case = Case(
            prompt_id=source.prompt_ids[p],
            question=source.questions[p] if source.questions else "",
            base=base_pick,
            ours=own_pick,
            gain=float(gain[p]),
            figure=dots_figure(_case_picture(sides, p, picks)),
        )
        cases.append(case)
    gains = [case for case in cases if case.gain > 0]
    losses = sorted((case for case in cases if case not in gains), key=lambda case: case.gain)
    shown = [*gains[:1], *losses[:1], *gains[1:], *losses[1:]]
    return Gallery(source.name, rule, measure, len(changed), int((base >= 0).sum()), shown)


@dataclass(frozen=True, eq=False)
class _Side:
    """The samples of one half, (P, M, K, n), and how they are shown.

    `scales` has the ends of each scorer's scale where people rated, None where nothing is known
    of who is unhappy.
    """

    caption: str
    source: Ratings
    samples: Array
    raters: Integers
    scales: list[tuple[float, float] | None]

    @classmethod
    def of(cls, caption: str, source: Ratings, samples: Array, raters: Integers) -> "_Side":
        """The side of a source, with the scale of each of its scorers."""
        scorers = range(min(len(source.scorers), MOST_SCORERS))
        if source.kind == "panel":
            scales: list[tuple[float, float] | None] = [PANEL_SCALE for _ in scorers]
        elif source.has_raters:
            scales = [scale_of(source.samples[:, m]) for m in scorers]
        else:
            scales = [None for _ in scorers]
        return cls(caption, source, samples, raters, scales)

    def dots(self, prompt: int, scorer: int, candidate: int) -> list[Dot]:
        """The samples of a candidate, with who gave them and who is unhappy."""
        limit = self.limit(scorer)
        values = self.samples[prompt, scorer, candidate]
        raters = self.raters[prompt, scorer, candidate]
        return [
            Dot(
                value=float(value),
                name=str(self.source.rater_names[giver]) if giver != NOBODY else "",
                unhappy=limit is not None and bool(value < limit),
            )
            for value, giver in zip(values, raters, strict=True)
            if not np.isnan(value)
        ]

    def limit(self, scorer: int) -> float | None:
        """The rating below which a person is unhappy, None where that is not known."""
        scale = self.scales[scorer]
        return None if scale is None else sum(scale) / 2


def _case_picture(
    sides: Sequence[_Side], prompt: int, picks: Mapping[int, tuple[Pick, str]]
) -> DotPicture:
    """The samples of the picks by candidate, each with its badge; the rule's own pick is first."""
    rows = tuple(
        DotRow(
            name=pick.candidate_id,
            text=clipped_text(pick.text),
            strips=_strips(sides, prompt, candidate, list(picks)),
            badges=(badge,),
            kind=CHOSEN if place == 0 else OTHER_CHOICE,
        )
        for place, (candidate, (pick, badge)) in enumerate(picks.items())
    )
    people = [side for side in sides if side.source.has_raters]
    limits = {side.limit(m) for side in people for m in range(len(side.scales))} - {None}
    label = ""
    if limits:
        label = "unhappy: below the middle of the scale"
    if len(limits) == 1:
        label = f"unhappy below {limits.pop():.3g}"
    nouns = {"one rater" if side.source.has_raters else "score of one wording" for side in sides}
    return DotPicture(
        rows=rows,
        dot_label=nouns.pop() if len(nouns) == 1 else "one rater, or the score of one wording",
        unhappy_label=label,
    )


def _strips(
    sides: Sequence[_Side], prompt: int, candidate: int, shown: Sequence[int]
) -> tuple[DotStrip, ...]:
    """A strip per scorer and half; halves of the same samples share their axis."""
    strips = []
    for side in sides:
        alike = [other for other in sides if other.source is side.source]
        for m, scale in enumerate(side.scales):
            groups = [other.dots(prompt, m, k) for other in alike for k in shown]
            values = [dot.value for dots in groups for dot in dots]
            dots = side.dots(prompt, m, candidate)
            if not values or not dots:
                continue
            noun = "ratings" if side.source.has_raters else "scores"
            strip = make_strip(
                dots,
                scale or (min(values), max(values)),
                summary=_summary(dots, max(values) - min(values), scale is not None),
                mean=float(np.mean([dot.value for dot in dots])),
                limit=side.limit(m),
                caption=f"{side.source.scorers[m]} {noun} {side.caption}".strip(),
                samples_per_dot=count_samples_per_dot(max(map(len, groups))),
            )
            strips.append(strip)
    return tuple(strips)


def _summary(dots: Sequence[Dot], span: float, people: bool) -> str:
    average = f"average {number_text(float(np.mean([dot.value for dot in dots])), span)}"
    if not people:
        return average
    unhappy = sum(dot.unhappy for dot in dots)
    amount = f"{unhappy} of {len(dots)}" if unhappy else "nobody"
    return f"{average}, {amount} unhappy"


def clipped_text(text: str) -> str:
    """A text of at most `CASE_CLIP` characters, and how many more there are."""
    more = len(text) - CASE_CLIP
    return text if more <= 0 else f"{text[:CASE_CLIP]}… ({more} more characters)"
