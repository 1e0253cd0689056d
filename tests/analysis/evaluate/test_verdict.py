from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.helpers import make_source

from darc.analysis.bootstrap import average, largest
from darc.analysis.evaluate.evaluation import evaluate
from darc.analysis.evaluate.run_contest import compare_rules
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.evaluate.verdict import AS_GIVEN, in_words, judge, summary, verdicts
from darc.analysis.tune.advice import advise
from darc.analysis.tune.gains import gains

SETTINGS = ContestSettings(rules=("epsilon", "entropic"), splits=4, draws=400)


def test_a_rule_that_is_better_for_everyone_is_found() -> None:
    source = make_source(prompts=40, candidates=2, raters=8)
    samples = np.empty_like(source.samples)
    samples[:, :, 0] = np.tile([3.0, 9.2], 4)
    samples[:, :, 1] = 6.0 + 0.01 * np.arange(8)
    result = evaluate([replace(source, samples=samples)], SETTINGS, ablations=False)
    found = verdicts(result)
    assert [verdict.subset for verdict in found] == ["overall", "high-variance"]
    overall = found[0]
    assert overall.methods[overall.better(0)[0]] in ("epsilon", "entropic")
    assert "rules as given that beat Best-of-K beyond noise: by tradeoff" in in_words(overall)


def test_noise_is_seldom_taken_for_a_gain() -> None:
    wrong = 0
    for seed in range(20):
        generator = np.random.default_rng(seed)
        source = make_source(prompts=40, candidates=4, raters=8, seed=seed)
        samples = generator.normal(5, 1, source.samples.shape)
        settings = {"draws": 200, "rules": ("cvar", "median", "lcb", "entropic")}
        contest = compare_rules(
            replace(source, samples=samples), SETTINGS.model_copy(update=settings)
        )
        overall = judge(contest, "overall", contest.usable)
        wrong += bool(overall.better(0) or overall.better(1))
    assert wrong <= 4


def test_the_band_is_wider_than_a_single_interval() -> None:
    result = evaluate(
        [make_source(prompts=40)], ContestSettings(splits=3, draws=300), ablations=False
    )
    overall = verdicts(result)[0]
    human = result.frame("human")
    assert human is not None
    for a, row in enumerate(human.where(subset="overall").records()):
        high = row["high_tradeoff"]
        low = row["low_tradeoff"]
        assert isinstance(high, float)
        assert isinstance(low, float)
        if high - low > 1e-6:
            assert overall.margin[0, a] > 0.45 * (high - low)


def test_too_few_prompts_are_said() -> None:
    result = evaluate([make_source(prompts=5)], SETTINGS, ablations=False)
    assert verdicts(result) == []
    assert "cannot be told" in summary(result, [])[0]


def test_the_two_tests_against_noise_are_told_apart() -> None:
    source = make_source(prompts=40)
    result = evaluate([source], SETTINGS, ablations=False)
    advice = advise(source, splits=2, rules=["epsilon", "auto"])
    assert AS_GIVEN in " ".join(summary(result, verdicts(result), [advice.headline]))
    assert AS_GIVEN not in " ".join(summary(result, verdicts(result)))


def test_a_run_is_not_called_people() -> None:
    proxy = make_source(prompts=20, kind="rewrite", name="run", seed=1)
    result = evaluate([proxy, make_source(prompts=20, name="people")], SETTINGS, ablations=False)
    said = " ".join(summary(result, verdicts(result)))
    assert "In run scorers judge held-out rewrites" in said
    assert "The sigma of run follows that of people with a rank correlation of" in said


def test_what_may_be_luck_is_said_apart() -> None:
    result = evaluate([make_source(prompts=40)], SETTINGS, ablations=False)
    overall = verdicts(result)[0]
    whole = np.full_like(overall.delta, 0.2)
    barely = replace(overall, delta=whole, margin=whole + 0.1, low=whole - 0.1)
    assert barely.better(0) == []
    assert barely.lucky(0) == [0, 1, 2]
    assert "Taken alone, intervals above 0: by tradeoff mean, epsilon, entropic" in in_words(barely)


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
def test_tuning_and_evaluation_have_the_same_band(unit: float) -> None:
    source = make_source(prompts=60)
    source = replace(source, samples=unit * source.samples)
    # Of all prompts the CVaR is the mean, so that both measures have the same differences.
    settings = ContestSettings(rules=("lcb", "worst", "cvar", "soft"), splits=3, lam=0.0, tail=1.0)
    contest = compare_rules(source, settings)
    assert contest.usable.all()
    found = judge(contest, "overall", contest.usable)
    tuned = gains(
        lambda counts: average(contest.reward, contest.usable, counts),
        largest(contest.reward),
        60,
        0,
    )
    for measure in (0, 1):
        np.testing.assert_allclose(found.delta[measure, 1:], tuned.gain, rtol=1e-9, atol=0)
        low = found.delta[measure] - found.margin[measure]
        np.testing.assert_allclose(low[1:], tuned.low, rtol=1e-9, atol=1e-12 * unit)
    assert (found.margin[:, 0] == 0).all()
    assert (found.margin[0, [1, 3, 4]] > 0.01 * unit).all()
    assert found.margin[0, contest.methods.index("worst")] == 0


def test_the_unit_of_the_ratings_changes_no_verdict() -> None:
    source = make_source(prompts=40, candidates=2, raters=8)
    samples = np.empty_like(source.samples)
    samples[:, :, 0] = np.tile([3.0, 9.2], 4)
    samples[:, :, 1] = 6.0 + 0.01 * np.arange(8)
    said = []
    for unit in (1.0, 1e-10):
        made = replace(source, samples=unit * samples)
        settings = SETTINGS.model_copy(update={"rules": ("lcb",)})
        overall = verdicts(evaluate([made], settings, ablations=False))[0]
        said.append([(overall.better(m), overall.lucky(m), overall.worse(m)) for m in (0, 1)])
    assert said[0] == said[1]
    assert said[0][0][0] == [1]
