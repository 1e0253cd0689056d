"""The alternative-annotator test: may a judge stand in for one of the people?

One person after another is left out. Where the judge is at least as close to the other people as
the person who was left out, the judge wins. A person is won over if the judge's share of wins is
larger than the person's share less epsilon, and the judge passes if at least half of the people
are won over (Calderon et al. 2025).
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from darc.analysis.bootstrap import draw_counts
from darc.analysis.panel_audit.estimate import LEVEL, Estimate, bootstrap_estimate, unknown
from darc.analysis.panel_audit.grades import RaterGrades, mean_over
from darc.analysis.panel_audit.products import DRAWS
from darc.typing import Array

# A person needs ratings of so many answers that two others rated, too.
FEWEST_ANSWERS = 30
FEWEST_OTHERS = 2
# People are tested from this many on.
FEWEST_PEOPLE = 3
# The false discovery rate over people, and the share of people to win over.
FALSE_DISCOVERIES = 0.05
LEAST_WINNING_RATE = 0.5
# Folds of prompts for bringing grades to people's scale.
_FOLDS = 10


@dataclass(frozen=True)
class PersonOutcome:
    """The judge against one person."""

    person: str
    answers: int
    #: How often the judge is at least as close to the others as the person.
    wins: Estimate
    #: How often the person is at least as close to the others as the judge.
    person_wins: float
    p_value: float
    #: Whether the judge wins this person over.
    is_won: bool


@dataclass(frozen=True)
class AnnotatorTest:
    """The outcome for one judge."""

    judge: str
    #: What a person's advantage is worth, as a share of answers.
    epsilon: float
    people: tuple[PersonOutcome, ...]
    #: The mean over people of how often the judge is at least as close to the others.
    advantage: Estimate
    #: Why the test was not made; empty if it was.
    reason: str = ""

    @property
    def winning_rate(self) -> float:
        """The share of people whom the judge wins over (omega), NaN without a test."""
        if not self.people:
            return math.nan
        return sum(person.is_won for person in self.people) / len(self.people)

    @property
    def passes(self) -> bool:
        """Whether the judge may stand in for one of these people."""
        return self.winning_rate >= LEAST_WINNING_RATE


def annotator_test(
    judge: str, grades: Array, people: RaterGrades, epsilon: float, seed: int = 0
) -> AnnotatorTest:
    """Test whether a judge may stand in for one of the people.

    Grades are brought to people's scale by mean and deviation, learnt on other prompts. Answers of
    a prompt are not independent, so standard errors are clustered by prompt.

    Args:
        judge: What the judge is called.
        grades: Its grades, (P, K), NaN where there is none.
        people: People's ratings, (P, K, R).
        epsilon: What a person's advantage is worth, as a share of answers.
        seed: The seed of folds and resamples.
    """
    no_test = unknown("the test was not made")
    if len(people.raters) < FEWEST_PEOPLE or not all(people.raters):
        reason = f"it takes {FEWEST_PEOPLE} people with names"
        return AnnotatorTest(judge, epsilon, (), no_test, reason)
    fair = _on_scale(grades, people.values, seed)
    outcomes = []
    wins_by_person = []
    for place, name in enumerate(people.raters):
        wins, person_wins = _contest(fair, people.values, place)
        if int((~np.isnan(wins)).sum()) < FEWEST_ANSWERS:
            continue
        wins_by_person.append(wins)
        outcomes.append(_outcome(name, wins, person_wins, epsilon))
    if not outcomes:
        reason = (
            f"no person rated {FEWEST_ANSWERS} answers that the judge and {FEWEST_OTHERS} others "
            "rated, too"
        )
        return AnnotatorTest(judge, epsilon, (), no_test, reason)
    won = rejected_by_yekutieli([outcome.p_value for outcome in outcomes])
    decided = [
        PersonOutcome(
            outcome.person,
            outcome.answers,
            outcome.wins,
            outcome.person_wins,
            outcome.p_value,
            is_won,
        )
        for outcome, is_won in zip(outcomes, won, strict=True)
    ]
    return AnnotatorTest(judge, epsilon, tuple(decided), _advantage(wins_by_person, seed))


def rejected_by_yekutieli(
    p_values: list[float], false_discoveries: float = FALSE_DISCOVERIES
) -> list[bool]:
    """Which hypotheses Benjamini and Yekutieli's procedure rejects."""
    count = len(p_values)
    harmonic = sum(1 / number for number in range(1, count + 1))
    order = sorted(range(count), key=lambda place: p_values[place])
    rejected = 0
    for rank, place in enumerate(order, start=1):
        if p_values[place] <= rank * false_discoveries / (count * harmonic):
            rejected = rank
    result = [False] * count
    for place in order[:rejected]:
        result[place] = True
    return result


def _on_scale(grades: Array, ratings: Array, seed: int) -> Array:
    """Grades (P, K) with the mean and the deviation of people's ratings, learnt elsewhere."""
    prompts = len(grades)
    fold = np.random.default_rng(seed).permutation(prompts) % min(_FOLDS, prompts)
    both = ~np.isnan(grades) & (~np.isnan(ratings)).any(axis=2)
    fair = np.full(grades.shape, np.nan)
    for number in range(int(fold.max(initial=0)) + 1):
        inside = fold == number
        learning = both & ~inside[:, None]
        known_grades = grades[learning]
        known_ratings = ratings[learning]
        known_ratings = known_ratings[~np.isnan(known_ratings)]
        if not len(known_grades) or not len(known_ratings):
            continue
        spread = float(known_grades.std())
        slope = 0.0
        if spread > 0:
            slope = float(known_ratings.std()) / spread
        fair[inside] = known_ratings.mean() + slope * (grades[inside] - known_grades.mean())
    return fair


def _contest(grades: Array, ratings: Array, place: int) -> tuple[Array, Array]:
    """Where the judge and where the person is at least as close to the others, (P, K) each.

    It is 1 or 0, NaN where the two cannot be compared.
    """
    own = ratings[:, :, place]
    others = np.delete(ratings, place, axis=2)
    counts = (~np.isnan(others)).sum(axis=2)
    usable = ~np.isnan(own) & ~np.isnan(grades) & (counts >= FEWEST_OTHERS)
    judge_error = mean_over((others - grades[..., None]) ** 2)
    own_error = mean_over((others - own[..., None]) ** 2)
    wins = np.where(usable, judge_error <= own_error, np.nan)
    person_wins = np.where(usable, own_error <= judge_error, np.nan)
    return wins, person_wins


def _outcome(name: str, wins: Array, person_wins: Array, epsilon: float) -> PersonOutcome:
    """The judge against one person, before others are taken into account."""
    difference, error, prompts = _clustered_mean(person_wins - wins)
    statistic = (difference - epsilon) / max(error, 1e-12)
    share, share_error, _ = _clustered_mean(wins)
    reach = float(stats.t.ppf((1 + LEVEL) / 2, max(prompts - 1, 1))) * share_error
    return PersonOutcome(
        person=name,
        answers=int((~np.isnan(wins)).sum()),
        wins=Estimate(share, max(0.0, share - reach), min(1.0, share + reach)),
        person_wins=float(np.nanmean(person_wins)),
        p_value=float(stats.t.cdf(statistic, max(prompts - 1, 1))),
        is_won=False,
    )


def _clustered_mean(values: Array) -> tuple[float, float, int]:
    """The mean of values (P, K), its error clustered by prompt, and the number of prompts."""
    known = ~np.isnan(values)
    count = int(known.sum())
    mean = float(np.where(known, values, 0.0).sum()) / count
    by_prompt = np.where(known, values - mean, 0.0).sum(axis=1)
    prompts = int(known.any(axis=1).sum())
    inflation = prompts / max(prompts - 1, 1)
    error = math.sqrt(float((by_prompt**2).sum()) * inflation) / count
    return mean, error, prompts


def _advantage(wins_by_person: list[Array], seed: int) -> Estimate:
    """The mean over people of the judge's share of wins, resampled over prompts."""
    wins = np.stack(wins_by_person)
    known = ~np.isnan(wins)
    total = np.where(known, wins, 0.0).sum(axis=2)
    count = known.sum(axis=2)
    prompts = wins.shape[1]
    counts = draw_counts(prompts, DRAWS, seed).astype(np.float64)
    weights = np.concatenate([np.ones((1, prompts)), counts])
    size = weights @ count.T
    shares = np.where(size > 0, (weights @ total.T) / np.maximum(size, 1), np.nan)
    means = shares.mean(axis=1)
    return bootstrap_estimate(float(means[0]), means[1:], int(known.any(axis=(0, 2)).sum()))
