"""Cases in which a rule chose differently from Best-of-K."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from darc.analysis.evaluate.contest import Contest
from darc.analysis.evaluate.evaluation import Evaluation
from darc.analysis.evaluate.run_contest import Splits
from darc.analysis.report.case_pictures import CaseAnswer, HalfSamples, case_picture
from darc.analysis.report.frame_parts import choose_methods
from darc.ratings.ratings import Halves, Ratings
from darc.typing import Array, Integers
from darc.views.dots import BEST_OF_K
from darc.views.dots_html import dots_figure

# How many of the largest gains are shown, and how many of the largest losses.
MAX_CASES = 3


@dataclass(frozen=True, eq=False)
class Pick:
    """A chosen candidate with its samples, one list per scorer."""

    candidate_id: str
    text: str
    #: The samples of the half that selected.
    select: list[list[float]]
    #: The samples of the half that judges.
    judge: list[list[float]]


@dataclass(frozen=True, eq=False)
class Case:
    """A prompt on which a rule chose differently from Best-of-K."""

    prompt_id: str
    question: str
    #: Best-of-K's choice.
    base: Pick
    #: The rule's choice.
    ours: Pick
    #: How much better the rule's choice is by the held-out half.
    gain: float
    #: The dot picture of both choices, an element of a page.
    figure: Markup


@dataclass(frozen=True, eq=False)
class Gallery:
    """The largest gains and losses of one rule in one split."""

    source: str
    rule: str
    #: What gains are measured by: "tradeoff" or "mean".
    measure: str
    #: On how many of the prompts the rule chose differently.
    changed: int
    prompts: int
    #: The largest gain and the largest loss come first.
    cases: list[Case]


def galleries(evaluation: Evaluation) -> list[Gallery]:
    """Collect the cases of every contest, from its first split.

    Args:
        evaluation: The evaluation.

    Returns:
        One gallery per contest, those of proxies judged by people last.
    """
    result = []
    for contest in evaluation.contests:
        first_split = next(iter(Splits(contest.ratings, contest.settings)))
        result.append(_gallery(contest, first_split, contest.ratings))
    for pair, contest in evaluation.pairs:
        result.append(_gallery(contest, pair.halves, pair.human))
    return result


def _gallery(contest: Contest, halves: Halves, judge: Ratings) -> Gallery:
    """The gallery of a contest's first split.

    The rule is epsilon, or else the first that was run.

    Args:
        contest: The contest.
        halves: The halves of its first split.
        judge: The ratings that the judging half was taken from.

    Returns:
        The gallery.
    """
    ratings = contest.ratings
    rule = next(iter(choose_methods(contest.methods, 1)), contest.methods[0])
    place = contest.methods.index(rule)
    best_of_k = contest.choice[0, 0]
    chosen = contest.choice[0, place]
    changed = np.flatnonzero((best_of_k >= 0) & (chosen >= 0) & (best_of_k != chosen))
    measure, gain = _gains(contest, place, changed)
    samples = [
        HalfSamples.of("that selected", ratings, halves.select),
        HalfSamples.of("held out", judge, halves.judge),
    ]
    by_gain = changed[np.argsort(-gain[changed], kind="stable")].tolist()
    largest_gains = by_gain[:MAX_CASES]
    largest_losses = by_gain[::-1][:MAX_CASES]
    cases = []
    for prompt in dict.fromkeys([*largest_gains, *largest_losses]):
        base = _pick(ratings, halves, prompt, best_of_k[prompt])
        ours = _pick(ratings, halves, prompt, chosen[prompt])
        answers = [
            CaseAnswer(chosen[prompt], ours.candidate_id, ours.text, f"Chosen by {rule}"),
            CaseAnswer(best_of_k[prompt], base.candidate_id, base.text, BEST_OF_K),
        ]
        case = Case(
            prompt_id=ratings.prompt_ids[prompt],
            question=ratings.questions[prompt] if ratings.questions else "",
            base=base,
            ours=ours,
            gain=float(gain[prompt]),
            figure=dots_figure(case_picture(samples, prompt, answers)),
        )
        cases.append(case)
    return Gallery(
        source=ratings.name,
        rule=rule,
        measure=measure,
        changed=len(changed),
        prompts=int((best_of_k >= 0).sum()),
        cases=_order_cases(cases),
    )


def _gains(contest: Contest, place: int, changed: Integers) -> tuple[str, Array]:
    """What gains are measured by, and the gains (P,) of a method in the first split.

    It is the tradeoff if that is known of all changed prompts, otherwise the mean.
    """
    gain = contest.tradeoff[0, place] - contest.tradeoff[0, 0]
    if not np.isnan(gain[changed]).any():
        return "tradeoff", gain
    return "mean", contest.reward[0, place] - contest.reward[0, 0]


def _pick(ratings: Ratings, halves: Halves, prompt: int, candidate: int) -> Pick:
    text = ""
    if ratings.texts:
        text = ratings.texts[prompt][candidate]
    return Pick(
        candidate_id=ratings.candidate_ids[prompt][candidate],
        text=text,
        select=_known_samples(halves.select.samples[prompt, :, candidate]),
        judge=_known_samples(halves.judge.samples[prompt, :, candidate]),
    )


def _known_samples(samples: Array) -> list[list[float]]:
    """The samples (M, n) that exist, one list per scorer."""
    return [row[~np.isnan(row)].tolist() for row in samples]


def _order_cases(cases: Sequence[Case]) -> list[Case]:
    """The largest gain, the largest loss, then the other gains and losses."""
    gains = [case for case in cases if case.gain > 0]
    others = [case for case in cases if case not in gains]
    losses = sorted(others, key=lambda case: case.gain)
    return [*gains[:1], *losses[:1], *gains[1:], *losses[1:]]
