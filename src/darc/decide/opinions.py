"""What people think of the answers to one prompt: who rates each how, and who is unhappy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.decide.caution import MEDIUM, parse_caution
from darc.decide.model.spread import DEFAULT_PRIOR, ruled_out, spread_posterior, summarize
from darc.typing import Array

if TYPE_CHECKING:
    from darc.decide.decision import Decision

# Probabilities that the answers divide people differently, from which on words change.
VERY_UNLIKELY_CHANCE = 0.8
PROBABLY_NOT_CHANCE = 0.4


@dataclass(frozen=True)
class Rating:
    """One person's rating of an answer.

    Attributes:
        value: The rating, on the scale it was given on.
        rater: The name of who gave it, empty where it is not known.
        unhappy: Whether it is below the limit from which on people are content.
    """

    value: float
    rater: str
    unhappy: bool


@dataclass(frozen=True)
class AnswerOpinions:
    """What people think of one answer.

    Attributes:
        index: The place of the candidate.
        name: What the candidate is called.
        ratings: The ratings that are known.
        complete: False for a candidate that was ruled out before everybody had rated it.
        eligible: Whether it may be chosen.
    """

    index: int
    name: str
    ratings: tuple[Rating, ...]
    complete: bool = True
    eligible: bool = True

    @property
    def count(self) -> int:
        """How many ratings there are."""
        return len(self.ratings)

    @property
    def mean(self) -> float:
        """The mean rating, NaN without ratings."""
        if not self.ratings:
            return float("nan")
        return sum(rating.value for rating in self.ratings) / len(self.ratings)

    @property
    def unhappy(self) -> int:
        """How many people are unhappy with it."""
        return sum(rating.unhappy for rating in self.ratings)

    @property
    def unhappy_raters(self) -> tuple[str, ...]:
        """The names of those who are unhappy, empty unless all of them have names."""
        names = tuple(rating.rater for rating in self.ratings if rating.unhappy)
        return names if all(names) else ()


@dataclass(frozen=True)
class Opinions:
    """What people think of all answers to one prompt, and of the choice among them.

    Attributes:
        answers: One entry per candidate that anybody rated.
        limit: A person who rates an answer below it is unhappy, or rates it clearly lower.
        known_scale: Whether the limit comes from a scale or threshold, so that "unhappy" may be
            said; otherwise it is one pooled deviation below the average of the pool.
        low: The lower end of the scale, or the lowest rating.
        high: The upper end of the scale, or the highest rating.
        chosen: The place of the chosen candidate.
        best_mean: The place of the candidate with the highest average.
        probability_different: How probable it is that the answers divide people differently: those
            that were not ruled out where another than the highest average was chosen, else all.
        caution: The caution that was applied, None for rules that have none.
    """

    answers: tuple[AnswerOpinions, ...]
    limit: float
    known_scale: bool
    low: float
    high: float
    chosen: int
    best_mean: int
    probability_different: float
    caution: float | None

    def answer(self, index: int) -> AnswerOpinions:
        """The opinions about one candidate."""
        return next(answer for answer in self.answers if answer.index == index)

    def chance_words(self) -> str:
        """How likely it is that differences in disagreement are chance, in words."""
        if self.probability_different >= VERY_UNLIKELY_CHANCE:
            return "very unlikely to be chance"
        if self.probability_different >= PROBABLY_NOT_CHANCE:
            return "probably not chance"
        return "may be chance"

    def to_dict(self) -> dict[str, Any]:
        """The opinions as plain data, ready for JSON."""
        return {
            "chosen": self.chosen,
            "best_mean": self.best_mean,
            "unhappy_below": self.limit if self.known_scale else None,
            "clearly_lower_below": None if self.known_scale else self.limit,
            "scale": [self.low, self.high],
            "probability_different": round(self.probability_different, 6),
            "caution": self.caution,
            "answers": [
                {
                    "index": answer.index,
                    "name": answer.name,
                    "mean": None if not answer.ratings else answer.mean,
                    "ratings": answer.count,
                    "unhappy": answer.unhappy,
                    "unhappy_raters": list(answer.unhappy_raters),
                    "complete": answer.complete,
                }
                for answer in self.answers
            ],
        }


def opinions_of(decision: "Decision") -> Opinions | None:
    """The opinions behind a decision.

    Returns:
        None where the samples are not opinions of people on one scale: scores of rewrites, or of
        several scorers.
    """
    pools = decision.pools
    if pools.about_wording or pools.shape[1] != 1:
        return None
    ratings = decision.ratings
    candidates = np.flatnonzero(~np.isnan(ratings).all(axis=-1)).tolist()
    limit = pools.standards.unhappy_below
    known_scale = limit is not None
    if limit is None:
        limit = _clearly_lower(ratings)
    scale = pools.standards.scale
    if scale is None:
        scale = float(np.nanmin(ratings)), float(np.nanmax(ratings))
    incomplete = decision.bounded if decision.bounded is not None else np.zeros(len(ratings), bool)
    answers = tuple(
        AnswerOpinions(
            index=k,
            name=decision.labels.candidate(k),
            ratings=_ratings(decision, ratings, k, limit),
            complete=not incomplete[k],
            eligible=bool(pools.eligible[0, k]),
        )
        for k in candidates
    )
    best_mean = _best_mean(decision, answers)
    probability = _probability_different(decision, ratings, best_mean == decision.index)
    return Opinions(
        answers=answers,
        limit=limit,
        known_scale=known_scale,
        low=scale[0],
        high=scale[1],
        chosen=decision.index,
        best_mean=best_mean,
        probability_different=probability,
        caution=_caution(decision),
    )


def _ratings(decision: "Decision", ratings: Array, index: int, limit: float) -> tuple[Rating, ...]:
    return tuple(
        Rating(float(value), decision.rater_name(index, place), bool(value < limit))
        for place, value in enumerate(ratings[index])
        if not np.isnan(value)
    )


def _clearly_lower(ratings: Array) -> float:
    """One pooled within-candidate deviation below the average of all ratings."""
    counts = (~np.isnan(ratings)).sum(axis=-1)
    rated = ratings[counts > 0]
    squares = float(np.nansum((rated - np.nanmean(rated, axis=-1, keepdims=True)) ** 2))
    pooled = squares / max(int(np.maximum(counts - 1, 0).sum()), 1)
    return float(np.nanmean(ratings)) - float(np.sqrt(pooled))


def _best_mean(decision: "Decision", answers: Sequence[AnswerOpinions]) -> int:
    """The candidate with the highest average; the chosen one where it ties with others.

    Of candidates that were given up early the average is not known.
    """
    whole = [answer for answer in answers if answer.complete] or list(answers)
    best = max(answer.mean for answer in whole)
    slack = 1e-9 * (1 + abs(best))
    leaders = [answer.index for answer in whole if answer.mean >= best - slack]
    return decision.index if decision.index in leaders else leaders[0]


def _probability_different(decision: "Decision", ratings: Array, best_mean_chosen: bool) -> float:
    """The probability that the answers divide people differently, by the default assumptions.

    What a calibration has learnt is left aside: where answers usually differ, it would call a
    difference usual, and not chance. Where another answer than the one with the highest average
    was chosen, the answers that are ruled out do not count, as they did not for the choice.
    """
    summary = summarize(ratings[None]).only(decision.pools.eligible)
    if not best_mean_chosen:
        caution = _caution(decision)
        level = MEDIUM if caution is None else caution
        out = ruled_out(ratings[None], summary.count, summary.mean, level)
        out[0, decision.index] = False
        summary = summary.only(~out)
    return float(spread_posterior(summary, DEFAULT_PRIOR).probability_different[0])


def _caution(decision: "Decision") -> float | None:
    caution = decision.rule.parameters.get("caution")
    return None if caution is None else parse_caution(caution)
