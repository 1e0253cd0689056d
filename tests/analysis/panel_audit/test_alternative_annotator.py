import numpy as np
import pytest
from scipy import stats
from tests.analysis.panel_audit.worlds import as_ratings

from darc.analysis.panel_audit.alternative_annotator import annotator_test, rejected_by_yekutieli
from darc.analysis.panel_audit.grades import rater_grades


def people_and_truth(seed: int, prompts: int = 80) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    truth = generator.normal(size=(prompts, 5))
    return truth[..., None] + generator.normal(size=(prompts, 5, 4)), truth


def test_a_judge_as_good_as_a_person_passes_and_noise_does_not() -> None:
    generator = np.random.default_rng(5)
    people, truth = people_and_truth(0)
    ratings = rater_grades(as_ratings(people, "rater", "person "))
    good = annotator_test(
        "good", 3 + 4 * (truth + generator.normal(0, 0.7, truth.shape)), ratings, 0.1
    )
    noise = annotator_test("noise", generator.normal(size=truth.shape), ratings, 0.1)
    assert good.winning_rate == 1
    assert good.passes
    assert good.advantage.low > 0.5
    assert noise.winning_rate == 0
    assert not noise.passes
    assert noise.advantage.high < 0.5


def test_a_judge_that_is_one_of_them_passes_with_epsilon_and_not_without() -> None:
    passed = {0.0: 0, 0.2: 0}
    for seed in range(20):
        people, _ = people_and_truth(seed)
        ratings = rater_grades(as_ratings(people[..., :3], "rater", "person "))
        for epsilon in passed:
            passed[epsilon] += annotator_test("peer", people[..., 3], ratings, epsilon).passes
    assert passed[0.0] <= 3
    assert passed[0.2] >= 18


def test_wins_are_those_of_a_plain_loop() -> None:
    people, truth = people_and_truth(2, prompts=12)
    people[3, 2, 0] = np.nan
    ratings = rater_grades(as_ratings(people, "rater", "person "))
    outcome = annotator_test("judge", truth, ratings, 0.1).people[0]
    wins = []
    fair_mean, fair_deviation = np.nanmean(people), np.nanstd(people)
    for p in range(12):
        for k in range(5):
            if np.isnan(people[p, k, 0]):
                continue
            # The scale is learnt on the other folds; here on everything, which changes few wins.
            judge = fair_mean + fair_deviation * (truth[p, k] - truth.mean()) / truth.std()
            others = people[p, k, 1:]
            mine = np.sqrt(((others - people[p, k, 0]) ** 2).mean())
            theirs = np.sqrt(((others - judge) ** 2).mean())
            wins.append(theirs <= mine)
    assert outcome.answers == len(wins) == 59
    assert outcome.wins.value == pytest.approx(np.mean(wins), abs=0.06)


def test_yekutieli_is_scipys() -> None:
    generator = np.random.default_rng(1)
    for _ in range(50):
        p_values = (generator.random(7) ** 4).tolist()
        adjusted = stats.false_discovery_control(p_values, method="by")
        assert rejected_by_yekutieli(p_values) == (adjusted <= 0.05).tolist()


def test_too_few_people_are_said_to_be_so() -> None:
    people, truth = people_and_truth(0)
    two = rater_grades(as_ratings(people[..., :2], "rater", "person "))
    assert "3 people" in annotator_test("judge", truth, two, 0.1).reason
    few = rater_grades(as_ratings(people[:4], "rater", "person "))
    assert "30 answers" in annotator_test("judge", truth[:4], few, 0.1).reason
