"""What people think of the answers to one prompt."""

from dataclasses import dataclass
from typing import Any

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
        if not all(names):
            return ()
        return names

    def to_dict(self) -> dict[str, Any]:
        """The opinions as plain data, ready for JSON."""
        return {
            "index": self.index,
            "name": self.name,
            "mean": self.mean if self.ratings else None,
            "ratings": self.count,
            "unhappy": self.unhappy,
            "unhappy_raters": list(self.unhappy_raters),
            "complete": self.complete,
        }


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
            "answers": [answer.to_dict() for answer in self.answers],
        }
