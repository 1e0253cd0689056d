"""Why one candidate was chosen and not another, in a few words."""

import numpy as np

from darc.decide.decision import Decision
from darc.decide.opinions import AnswerOpinions, Opinions
from darc.decide.phrases import incomplete_phrase, unhappy_phrase
from darc.types import Scores
from darc.typing import Array
from darc.views.numbers import number_text


def reason_against(decision: Decision, index: int) -> str:
    """Why a candidate was not chosen.

    Args:
        decision: The decision, whose samples are ratings or scores of rewrites.
        index: The place of a candidate that was not chosen.

    Returns:
        A few words, such as "lower average".
    """
    if decision.pools.left_out[0, index]:
        if decision.pools.sample == "rater":
            return "too few ratings"
        return "too few rewrites"
    incomplete = incomplete_phrase(decision, index)
    if incomplete:
        return incomplete
    if decision.opinions is not None:
        return _reason_by_people(decision, decision.opinions, index)
    return _reason_by_scores(decision, index)


def compare_opinions(opinions: Opinions, other: int, chosen: int) -> str:
    """What people think of another candidate and of the chosen one, as a sentence."""
    phrases = []
    for index, owner in ((other, "Its"), (chosen, "the chosen answer's")):
        answer = opinions.answer(index)
        mean = number_text(answer.mean, opinions.high - opinions.low)
        unhappy = unhappy_phrase(answer, opinions.known_scale)
        phrases.append(f"{owner} average is {mean} ({unhappy})")
    return f"{', '.join(phrases)}."


def compare_scores(scores: Scores, other: int, chosen: int) -> str:
    """The scores of another candidate and of the chosen one, as a sentence."""
    phrases = []
    for m, scorer in enumerate(scores.scorers):
        other_range = _range_text(scores.values[m, other])
        chosen_range = _range_text(scores.values[m, chosen])
        phrases.append(f"{scorer} {other_range} against the chosen answer's {chosen_range}")
    return f"Its scores under rewording: {'; '.join(phrases)}."


def _reason_by_people(decision: Decision, opinions: Opinions, index: int) -> str:
    """What people have against a candidate."""
    answer = opinions.answer(index)
    chosen = opinions.answer(decision.index)
    floor = decision.pools.standards.no_rating_below
    if floor is not None and not answer.eligible:
        low_ratings = sum(rating.value < floor for rating in answer.ratings)
        verb = "rates" if low_ratings == 1 else "rate"
        return f"{low_ratings} of {answer.count} {verb} it below {floor:g}"
    reasons = []
    rounding = 1e-9 * (1 + abs(chosen.mean))
    if answer.mean < chosen.mean - rounding:
        reasons.append("lower average")
    if _unhappy_share(answer) > _unhappy_share(chosen):
        reasons.append(unhappy_phrase(answer, opinions.known_scale, names=False))
    if reasons:
        return ", ".join(reasons)
    if answer.count < chosen.count:
        return "fewer ratings"
    sigma = decision.statistics.sigma
    if sigma[index] > sigma[decision.index]:
        return "its ratings lie further apart"
    return "ranked lower"


def _reason_by_scores(decision: Decision, index: int) -> str:
    """What the scores of a candidate have against it."""
    statistics = decision.statistics
    chosen = decision.index
    if not decision.feasible[index]:
        gap = np.nanmax(statistics.value) - statistics.value[index]
        return f"value {gap:.2f} below the best"
    has_lower_mean = statistics.mean[index] < statistics.mean[chosen]
    one_scorer = decision.pools.shape[1] == 1
    # A higher sigma is the reason if the rule uses it, or if nothing else speaks against.
    sigma_counts = decision.rule.wording.weakness == "sigma" or (one_scorer and not has_lower_mean)
    if sigma_counts and statistics.sigma[index] > statistics.sigma[chosen]:
        return "higher sigma"
    if has_lower_mean:
        return "lower average"
    return "ranked lower"


def _unhappy_share(answer: AnswerOpinions) -> float:
    return answer.unhappy / max(answer.count, 1)


def _range_text(samples: Array) -> str:
    """The mean, the lowest and the highest of the samples that are known."""
    known_samples = samples[~np.isnan(samples)]
    if not known_samples.size:
        return "not known"
    mean = known_samples.mean()
    return f"{mean:.3g} ({known_samples.min():.3g} to {known_samples.max():.3g})"
