import numpy as np
import pytest
from benchmarks.coverage.judged_means import as_ratings, eval_coverage, judge_of

from darc.analysis.evaluate.evaluation import evaluate
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.evaluate.with_judge import (
    PoweredRule,
    evaluate_with_judge,
    powered_rules,
    ratings_outcomes,
    run_outcomes,
)
from darc.errors import InputError
from darc.ratings.ratings import Ratings
from darc.typing import Array

SETTINGS = ContestSettings(rules=("epsilon", "cvar"), splits=3, draws=200)


def world(seed: int, prompts: int = 150, rated: int = 40) -> tuple[Array, Array, Array]:
    """A panel's grades, people's ratings of some prompts, and a judge's grades of all."""
    generator = np.random.default_rng(seed)
    truth = generator.normal(3, 0.7, (prompts, 4))
    grades = truth[..., None] + generator.normal(size=(prompts, 4, 5))
    people = truth[:rated, :, None] + generator.normal(0, 0.3, (rated, 4, 4))
    return grades, people, judge_of(generator, truth, 0.95)[..., None]


def sources(seed: int) -> tuple[Ratings, Ratings, Ratings]:
    grades, people, judge = world(seed)
    return (
        as_ratings(grades, "panel", "run"),
        as_ratings(people, "rater", "people"),
        as_ratings(judge, "rater", "judge"),
    )


def by_rule(rules: list[PoweredRule]) -> dict[str, PoweredRule]:
    return {rule.rule: rule for rule in rules}


def test_a_good_judge_of_a_run_narrows_the_intervals() -> None:
    run, people, judge = sources(0)
    rules = by_rule(powered_rules("run", run_outcomes(run, people, [judge], SETTINGS)))
    best_of_k = rules["mean"]
    assert best_of_k.change is None
    assert best_of_k.mean.rated == 40
    assert best_of_k.mean.judged_only == 110
    assert best_of_k.mean.saved_share > 0.2
    choice = run.samples[:40, 0].mean(axis=2).argmax(axis=1)
    chosen = people.samples[np.arange(40), 0, choice].mean(axis=1)
    assert best_of_k.mean.people_mean == pytest.approx(float(chosen.mean()))
    change = rules["epsilon"].change
    assert change is not None
    assert change.low <= change.mean <= change.high


def test_a_useless_judge_moves_nothing() -> None:
    run, people, judge = sources(1)
    noise = np.random.default_rng(0).normal(100, 50, judge.samples[:, 0].shape)
    useless = as_ratings(noise, "rater", "noise")
    for rule in powered_rules("run", run_outcomes(run, people, [useless], SETTINGS)):
        assert abs(rule.mean.mean - rule.mean.people_mean) < 0.15
        assert rule.mean.saved_share < 0.1


def test_of_ratings_alone_prompts_with_one_rating_are_judged_only() -> None:
    _, people, judge = world(2)
    more = np.full((150, 4, 4), np.nan)
    more[:40] = people
    generator = np.random.default_rng(3)
    more[40:, :, 0] = judge[40:, :, 0] / 2 + generator.normal(0, 0.3, (110, 4))
    ratings = as_ratings(more, "rater", "people")
    outcomes = ratings_outcomes(ratings, [as_ratings(judge, "rater", "judge")], SETTINGS)
    (first, *_) = powered_rules("people", outcomes)
    assert first.rule == "mean"
    assert first.mean.rated == 40
    assert first.mean.judged_only == 110


def test_the_evaluation_of_a_run_and_people_has_their_rules() -> None:
    run, people, judge = sources(4)
    evaluation = evaluate([run, people], SETTINGS, ablations=False)
    rules = evaluate_with_judge(evaluation, [judge, judge])
    assert {rule.source for rule in rules} == {"run by people"}
    assert rules[0].rule == "mean"
    (twice,) = [rule for rule in rules if rule.rule == "cvar"]
    (once,) = [rule for rule in evaluate_with_judge(evaluation, [judge]) if rule.rule == "cvar"]
    assert twice.mean.mean == pytest.approx(once.mean.mean)


def test_a_judge_of_other_answers_or_of_too_few_is_refused() -> None:
    run, people, judge = sources(5)
    evaluation = evaluate([run, people], SETTINGS, ablations=False)
    other = type(judge)(**{**judge.__dict__, "prompt_ids": [f"q{n}" for n in range(150)]})
    with pytest.raises(InputError, match="judges no candidate"):
        evaluate_with_judge(evaluation, [other])
    few = judge.subset(list(range(5)), [[0, 1, 2, 3]] * 5)
    with pytest.raises(InputError, match="fewer than 10"):
        evaluate_with_judge(evaluation, [few])


def test_intervals_cover() -> None:
    mean, change = eval_coverage(40, 0.8, 40)
    assert mean >= 0.85
    assert change >= 0.85
