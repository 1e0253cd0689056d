"""Rules compared by few people's ratings and a judge's grades of more prompts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from darc.analysis.evaluate.evaluation import Evaluation
from darc.analysis.evaluate.methods import BASELINE, decide_halves, with_normalization
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.metrics import values_at
from darc.analysis.prediction_powered import FEWEST_PROMPTS, PoweredMean, powered_mean
from darc.errors import InputError
from darc.ratings.candidate_judgements import judgements_of_ratings
from darc.ratings.ratings import Halves, Ratings
from darc.ratings.splitting import NOBODY
from darc.typing import Array, Mask


@dataclass(frozen=True)
class PoweredRule:
    """What people and a judge together say about a rule."""

    source: str
    rule: str
    #: The mean rating of what it chooses.
    mean: PoweredMean
    #: The mean less that of Best-of-K, on the same prompts; None for Best-of-K itself.
    change: PoweredMean | None


@dataclass(frozen=True, eq=False)
class RuleOutcomes:
    """What each rule's choices are worth on each prompt, (rules, P)."""

    rules: list[str]
    #: By people who did not choose, NaN where there are none.
    ratings: Array
    #: By the judge, NaN where it graded nothing.
    grades: Array


def evaluate_with_judge(evaluation: Evaluation, judges: Sequence[Ratings]) -> list[PoweredRule]:
    """The means of rules and their changes against Best-of-K, by people alone and with a judge.

    A run's choices are rated by people on some prompts, and graded by the judge on all. Of people's
    ratings alone, one half chooses and the other half rates; prompts whose ratings cannot be halved
    are chosen on by all of them, and graded by the judge only.

    Args:
        evaluation: The evaluation of the same sources.
        judges: Grades of the candidates; several are averaged after they are brought to one scale.

    Returns:
        The rules of each source, Best-of-K first.

    Raises:
        InputError: No source has enough prompts with both ratings and grades.
    """
    settings = evaluation.settings
    people = [ratings for ratings in evaluation.inputs if ratings.kind == "rater"]
    runs = [ratings for ratings in evaluation.inputs if ratings.kind != "rater"]
    rules: list[PoweredRule] = []
    for human in people:
        if not runs:
            rules += powered_rules(human.name, ratings_outcomes(human, judges, settings))
        for run in runs:
            name = f"{run.name} by {human.name}"
            rules += powered_rules(name, run_outcomes(run, human, judges, settings))
    if not rules:
        raise InputError(
            f"{' and '.join(judge.name for judge in judges)} and people have fewer than "
            f"{FEWEST_PROMPTS} prompts of the sources in common",
            "use the same ids of prompts and candidates, and rate more prompts",
        )
    return rules


def powered_rules(source: str, outcomes: RuleOutcomes) -> list[PoweredRule]:
    """The rules of one source, those with too few prompts left out."""
    baseline = outcomes.rules.index(BASELINE)
    rules = []
    for place, rule in enumerate(outcomes.rules):
        mean = _powered_mean(outcomes.ratings[place], outcomes.grades[place])
        if mean is None:
            continue
        change = None
        if place != baseline:
            change = _powered_mean(
                outcomes.ratings[place] - outcomes.ratings[baseline],
                outcomes.grades[place] - outcomes.grades[baseline],
            )
        rules.append(PoweredRule(source, rule, mean, change))
    return rules


def _powered_mean(ratings: Array, grades: Array) -> PoweredMean | None:
    """The mean over prompts with the judge's help, None with too few prompts that have both."""
    is_graded = ~np.isnan(grades)
    in_both = is_graded & ~np.isnan(ratings)
    if in_both.sum() < FEWEST_PROMPTS:
        return None
    more = is_graded & np.isnan(ratings)
    return powered_mean(ratings[in_both], grades[in_both], grades[more])


def run_outcomes(
    run: Ratings, people: Ratings, judges: Sequence[Ratings], settings: ContestSettings
) -> RuleOutcomes:
    """Choices by a run's scores; on prompts that people rated, among the answers they rated."""
    ratings = _ratings_of(people, run)
    is_rated = ~np.isnan(ratings)
    allowed = is_rated | ~is_rated.any(axis=1, keepdims=True)
    among = allowed[:, None, :, None]
    select = replace(
        run,
        samples=np.where(among, run.samples, np.nan),
        raters=np.where(among, run.raters, NOBODY),
    )
    usable = np.asarray(np.any(select.present, axis=(1, 2, 3)))
    halves = Halves(select=select, judge=select, usable=usable)
    return _average_outcomes([(halves, ratings)], run, judges, settings)


def ratings_outcomes(
    people: Ratings, judges: Sequence[Ratings], settings: ContestSettings
) -> RuleOutcomes:
    """Choices by one half of the ratings, or by all of them where they cannot be halved."""
    unit = people.split_unit(settings.split)
    draws = [people.halves(unit, settings.seed + repeat) for repeat in range(settings.splits)]
    ever_usable = np.asarray(np.any([halves.usable for halves in draws], axis=0))
    splits = [
        (_with_whole_prompts(people, halves, ever_usable), _means(halves.judge)) for halves in draws
    ]
    return _average_outcomes(splits, people, judges, settings)


def _with_whole_prompts(people: Ratings, halves: Halves, ever_usable: Mask) -> Halves:
    """The halves, with all ratings of the prompts that no split can halve."""
    whole = ~ever_usable[:, None, None, None]
    # The half has room for as many samples as its fullest candidate only.
    missing = people.shape[3] - halves.select.shape[3]
    room = ((0, 0), (0, 0), (0, 0), (0, missing))
    samples = np.pad(halves.select.samples, room, constant_values=np.nan)
    raters = np.pad(halves.select.raters, room, constant_values=NOBODY)
    select = replace(
        halves.select,
        samples=np.where(whole, people.samples, samples),
        raters=np.where(whole, people.raters, raters),
    )
    has_ratings = np.asarray(np.any(people.present, axis=(1, 2, 3)))
    return replace(halves, select=select, usable=halves.usable | (~ever_usable & has_ratings))


def _ratings_of(people: Ratings, run: Ratings) -> Array:
    """People's mean rating of each candidate of a run, (P, K), NaN where there is none."""
    means = _means(people)
    ratings = np.full((run.shape[0], run.shape[2]), np.nan)
    numbers = {
        (prompt_id, candidate_id): means[row, column]
        for row, prompt_id in enumerate(people.prompt_ids)
        for column, candidate_id in enumerate(people.candidate_ids[row])
    }
    for row, prompt_id in enumerate(run.prompt_ids):
        for column, candidate_id in enumerate(run.candidate_ids[row]):
            ratings[row, column] = numbers.get((prompt_id, candidate_id), np.nan)
    return ratings


def _average_outcomes(
    splits: Sequence[tuple[Halves, Array]],
    ratings: Ratings,
    judges: Sequence[Ratings],
    settings: ContestSettings,
) -> RuleOutcomes:
    """The outcomes of each prompt, averaged over splits; grades over those that have ratings."""
    grades = _judge_grades(judges, ratings)
    methods = with_normalization(settings.methods, ratings, settings.normalize)
    by_rule: dict[str, list[tuple[Array, Array]]] = {}
    failures: dict[str, str] = {}
    for repeat, (halves, means) in enumerate(splits):
        decided = decide_halves(methods, halves, settings.seed + repeat)
        failures |= decided.failures
        for rule, choice in decided.choices.items():
            rated = values_at(means, choice)
            by_rule.setdefault(rule, []).append((rated, values_at(grades, choice)))
    rules = [rule for rule in by_rule if rule not in failures]
    shape = (len(rules), len(ratings.prompt_ids))
    averages = np.full((2, *shape), np.nan)
    for place, rule in enumerate(rules):
        rated = np.stack([pair[0] for pair in by_rule[rule]])
        graded = np.stack([pair[1] for pair in by_rule[rule]])
        in_both = ~np.isnan(rated) & ~np.isnan(graded)
        has_both = in_both.any(axis=0)
        averages[0, place] = _column_means(rated, in_both)
        averages[1, place] = np.where(
            has_both, _column_means(graded, in_both), _column_means(graded, ~np.isnan(graded))
        )
    return RuleOutcomes(rules, averages[0], averages[1])


def _column_means(values: Array, among: Mask) -> Array:
    """The means over splits of values (R, P) that count, NaN where none does."""
    count = among.sum(axis=0)
    total = np.where(among, values, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _judge_grades(judges: Sequence[Ratings], ratings: Ratings) -> Array:
    """The judges' mean grade of each candidate, (P, K), NaN where one of them gave none."""
    columns = []
    for judge in judges:
        first = next(iter(judgements_of_ratings(judge).matched(ratings).values()))
        known = first[~np.isnan(first)]
        spread = float(known.std()) or 1.0
        columns.append((first - known.mean()) / spread)
    return np.asarray(np.mean(columns, axis=0))


def _means(judge: Ratings) -> Array:
    """The mean rating of each candidate over scorers, (P, K), NaN where there is none."""
    return _average([_sample_means(judge.samples[:, scorer]) for scorer in range(judge.shape[1])])


def _sample_means(samples: Array) -> Array:
    known = ~np.isnan(samples)
    count = known.sum(axis=2)
    total = np.where(known, samples, 0.0).sum(axis=2)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _average(arrays: Sequence[Array]) -> Array:
    return np.asarray(np.mean(arrays, axis=0))
