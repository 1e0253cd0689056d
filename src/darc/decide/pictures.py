"""What pictures and pages of a decision show: dots, the plane, and the candidates' numbers."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from darc.decide.decision import Decision
from darc.decide.opinions import AnswerOpinions, Opinions
from darc.decide.phrases import incomplete_phrase, unhappy_phrase
from darc.typing import Array, Mask
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
from darc.views.numbers import number_text
from darc.views.plane import Plane, Point

Texts = Mapping[str, str] | Sequence[str]


@dataclass(frozen=True)
class Strips:
    """The dots of all answers.

    Attributes:
        by_candidate: The strip of each answer that has samples.
        means: Its average, minus infinity for an answer that lacks some of its samples.
        dot_label: What one dot is.
    """

    by_candidate: dict[int, DotStrip]
    means: dict[int, float]
    dot_label: str


def dot_picture(
    decision: Decision,
    texts: Texts | None = None,
    *,
    others: Sequence[Decision] = (),
    title: str = "",
    notes: Sequence[str] = (),
    sample_names: Sequence[str] | None = None,
) -> DotPicture:
    """Make the dot picture of a decision.

    Ratings by people on one scale are shown with who is unhappy. Scores of rewrites and of several
    scorers do not tell that: one dot is then one wording or sample, averaged over the scorers.

    Args:
        decision: The decision whose choice matters.
        texts: The answers' texts, by the candidates' names or in their order.
        others: Decisions by other rules on the same pool, whose choices are marked too.
        title: The question.
        notes: What else to know of the candidates, in their order.
        sample_names: What to call the samples of each candidate if they are not ratings.

    Returns:
        The picture, which `darc.views` draws.
    """
    opinions = decision.opinions
    if opinions is None:
        strips = _score_strips(decision, sample_names)
        unhappy_label = ""
    else:
        strips = rating_strips(
            opinions, decision.labels.sample, lambda k: incomplete_phrase(decision, k)
        )
        unhappy_label = limit_label(opinions)
    badges = _badges(decision, others, _best_mean(decision, strips.means))

    def order(k: int) -> tuple[bool, bool, float]:
        return k != decision.index, k not in badges, -strips.means[k]

    rows = []
    for k in sorted(strips.by_candidate, key=order):
        row = DotRow(
            name=decision.labels.candidate(k),
            text=_candidate_text(decision, k, texts),
            strips=(strips.by_candidate[k],),
            badges=tuple(badges.get(k, ())),
            kind=row_kind(k, decision.index, badges),
            note=notes[k] if notes else "",
        )
        rows.append(row)
    return DotPicture(
        rows=tuple(rows),
        dot_label=strips.dot_label,
        unhappy_label=unhappy_label,
        title=title,
        held=decision.held_sentence,
    )


def rating_strips(
    opinions: Opinions, noun: str, incomplete_phrase_of: Callable[[int], str]
) -> Strips:
    """Make a strip for each answer that people rated.

    Args:
        opinions: What people think of the answers.
        noun: What a sample is, such as "rater".
        incomplete_phrase_of: Why a candidate lacks some of its ratings, empty where it does not.

    Returns:
        The strips.
    """
    samples_per_dot = count_samples_per_dot(max(answer.count for answer in opinions.answers))
    strips = {}
    means = {}
    for answer in opinions.answers:
        incomplete = incomplete_phrase_of(answer.index)
        means[answer.index] = -math.inf if incomplete else answer.mean
        strips[answer.index] = make_strip(
            [Dot(rating.value, rating.rater, rating.unhappy) for rating in answer.ratings],
            (opinions.low, opinions.high),
            summary=incomplete or _rating_summary(answer, opinions),
            mean=None if incomplete else answer.mean,
            limit=opinions.limit,
            limit_label=limit_label(opinions),
            samples_per_dot=samples_per_dot,
        )
    if noun == "sample":
        noun = "rater"
    return Strips(strips, means, _dot_label(noun, samples_per_dot))


def _rating_summary(answer: AnswerOpinions, opinions: Opinions) -> str:
    average = number_text(answer.mean, opinions.high - opinions.low)
    return f"average {average}, {unhappy_phrase(answer, opinions.known_scale)}"


def _score_strips(decision: Decision, sample_names: Sequence[str] | None) -> Strips:
    """A strip for each answer that was scored."""
    scores = _average_scores(decision)
    noun = decision.labels.sample
    if decision.pools.about_wording:
        noun = "wording"
    names = sample_names
    if not names:
        names = [f"{noun} {number}" for number in range(1, scores.shape[1] + 1)]
    scored = decision.pools.present[0] & ~np.isnan(scores).all(axis=1)
    samples_per_dot = count_samples_per_dot(scores.shape[1])
    low = float(np.nanmin(scores[scored]))
    high = float(np.nanmax(scores[scored]))
    strips = {}
    means = {}
    for k in np.flatnonzero(scored).tolist():
        places = np.flatnonzero(~np.isnan(scores[k])).tolist()
        dots = [Dot(float(scores[k, place]), str(names[place])) for place in places]
        mean = float(np.nanmean(scores[k]))
        incomplete = incomplete_phrase(decision, k)
        means[k] = -math.inf if incomplete else mean
        strips[k] = make_strip(
            dots,
            (low, high),
            summary=incomplete or _score_summary(dots, mean, high - low),
            mean=None if incomplete else mean,
            samples_per_dot=samples_per_dot,
        )
    label = f"score of {_dot_label(noun, samples_per_dot)}"
    scorers = decision.pools.shape[1]
    if scorers > 1:
        label += f", averaged over {scorers} scorers on a common scale"
    return Strips(strips, means, label)


def _score_summary(dots: Sequence[Dot], mean: float, span: float) -> str:
    lowest = min(dot.value for dot in dots)
    return f"average {number_text(mean, span)}, lowest {number_text(lowest, span)}"


def _average_scores(decision: Decision) -> Array:
    """The samples (K, n) averaged over the scorers, each on the scale that rules see."""
    samples = decision.pools.samples[0]
    if decision.unseen is not None:
        samples = np.where(decision.unseen, np.nan, samples)
    if len(samples) == 1:
        return samples[0]
    normalized = decision.pools.normalized(samples[None])[0]
    exists = ~np.isnan(normalized)
    total = np.where(exists, normalized, 0.0).sum(axis=0)
    count = exists.sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _dot_label(noun: str, samples_per_dot: int) -> str:
    """What one dot stands for."""
    if samples_per_dot == 1:
        return f"one {noun}"
    return f"{samples_per_dot} {noun}s"


def limit_label(opinions: Opinions) -> str:
    """What the line of the limit means, such as "unhappy below 5"."""
    if opinions.known_scale:
        return f"unhappy below {opinions.limit:.3g}"
    return f"clearly lower: below {opinions.limit:.3g}"


def _best_mean(decision: Decision, means: Mapping[int, float]) -> int:
    """The candidate with the highest average; the chosen one if it ties with others."""
    if decision.opinions is not None:
        return decision.opinions.best_mean
    eligible = [k for k in means if decision.pools.eligible[0, k]] or list(means)
    best = max(means[k] for k in eligible)
    tolerance = float(decision.pools.tolerance[0].max())
    leaders = [k for k in eligible if means[k] >= best - tolerance]
    if decision.index in leaders:
        return decision.index
    return leaders[0]


def _badges(decision: Decision, others: Sequence[Decision], best_mean: int) -> dict[int, list[str]]:
    """Who chooses which candidate, in words."""
    badges: dict[int, list[str]] = {}
    for other in (decision, *others):
        if other.rule.name == "mean":
            # If the rule `mean` decided as well, its choice shows how it breaks ties.
            best_mean = other.index
            break
    for other in (decision, *others):
        if other.rule.name == "mean":
            continue
        badge = f"Chosen by {other.rule.name}"
        candidate_badges = badges.setdefault(other.index, [])
        if badge not in candidate_badges:
            candidate_badges.append(badge)
    badges.setdefault(best_mean, []).append(BEST_OF_K)
    return badges


def row_kind(index: int, chosen: int, badges: Mapping[int, Sequence[str]]) -> str:
    """The kind of a row of the picture: the choice, that of another rule, or empty."""
    if index == chosen:
        return CHOSEN
    if index in badges:
        return OTHER_CHOICE
    return ""


def _candidate_text(decision: Decision, index: int, texts: Texts | None) -> str:
    if texts is None:
        return ""
    if isinstance(texts, Mapping):
        return texts.get(decision.labels.candidate(index), "")
    if index < len(texts):
        return texts[index]
    return ""


def decision_plane(decision: Decision, others: Sequence[Decision] = (), title: str = "") -> Plane:
    """Make the plane of a decision.

    Candidates that were ruled out early have no place in it: only bounds of them are known.

    Args:
        decision: The decision.
        others: Decisions by other rules on the same pool, whose choices are marked too.
        title: The title of the picture.

    Returns:
        The plane, which `darc.views` draws.
    """
    sigma = decision.statistics.sigma
    value = decision.statistics.value
    usable = ~np.isnan(sigma) & ~np.isnan(value) & decision.pools.present[0]
    if decision.bounded is not None:
        usable &= ~decision.bounded
    frontier = _frontier(sigma, value, usable)
    points = []
    for k in np.flatnonzero(usable).tolist():
        choosers = [other.rule.name for other in (decision, *others) if other.index == k]
        point = Point(
            name=decision.labels.candidate(k),
            sigma=float(sigma[k]),
            value=float(value[k]),
            feasible=bool(decision.feasible[k]),
            on_frontier=k in frontier,
            chosen_by=tuple(dict.fromkeys(choosers)),
        )
        points.append(point)
    floor = None
    if decision.rule.name == "epsilon":
        eligible_values = np.where(decision.pools.eligible[0], value, np.nan)
        epsilon = float(decision.rule.parameters["epsilon"])
        floor = float(np.nanmax(eligible_values)) - epsilon
    return Plane(title, decision.rule.name, tuple(points), floor)


def _frontier(sigma: Array, value: Array, usable: Mask) -> list[int]:
    """The candidates of which no other has a lower or equal sigma and a higher or equal value."""
    frontier: list[int] = []
    for k in np.lexsort((-value, sigma)).tolist():
        if not usable[k]:
            continue
        if not frontier or value[k] > value[frontier[-1]]:
            frontier.append(k)
    return frontier


def candidate_order(decision: Decision) -> list[int]:
    """The candidates as a page lists them: the chosen one, then by falling average.

    Those that lack some of their samples come last, since their averages are not known.
    """
    means = np.nan_to_num(decision.statistics.mean, nan=-np.inf)

    def order(k: int) -> tuple[bool, bool, float]:
        return k != decision.index, bool(incomplete_phrase(decision, k)), -means[k]

    return sorted(range(len(means)), key=order)


def candidate_numbers(decision: Decision, index: int) -> list[float | None]:
    """Value, mean, sigma and risk premium of a candidate.

    Args:
        decision: The decision.
        index: The candidate.

    Returns:
        The numbers in this order, None for a candidate of which only bounds are known.
    """
    if incomplete_phrase(decision, index):
        return [None, None, None, None]
    statistics = decision.statistics
    columns = (statistics.value, statistics.mean, statistics.sigma, statistics.risk_premium)
    return [float(column[index]) for column in columns]
