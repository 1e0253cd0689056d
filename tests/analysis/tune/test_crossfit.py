import numpy as np
import pytest
from tests.analysis.tune.helpers import noise, source_of

import darc
from darc.analysis.tune import crossfit as module
from darc.analysis.tune.crossfit import fold_numbers, merits
from darc.analysis.tune.objective import Objective
from darc.analysis.tune.trials import draw_trials
from darc.analysis.tune.tuning import tune
from darc.decide.method import Method

OBJECTIVES = [Objective(), Objective("cvar"), Objective("mean", risk_cap=1.4)]


def test_folds_are_even_and_follow_the_ids() -> None:
    names = [f"p{i}" for i in range(23)]
    folds = fold_numbers(names, 5, seed=3)
    assert sorted(np.bincount(folds).tolist()) == [4, 4, 5, 5, 5]
    assert fold_numbers(names[::-1], 5, seed=3).tolist() == folds[::-1].tolist()
    assert fold_numbers(names, 5, seed=4).tolist() != folds.tolist()


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda o: o.name)
def test_merits_against_plain_loops(objective: Objective, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CELLS_AT_ONCE", 50)
    samples = noise(20, 0, candidates=4, size=6)
    samples[3, :, 1:] = np.nan
    trials = list(draw_trials(source_of(samples), True, splits=2, seed=5))
    settings = [
        Method.of("epsilon", {"epsilon": e, "beta": b}) for b in (0.5, 2.0) for e in (0.0, 1.0)
    ]
    training = np.ones((2, 20))
    training[1, ::3] = 0
    merit, _ = merits(trials, settings, objective, training)
    for row, weights in enumerate(training):
        for column, setting in enumerate(settings):
            scores = []
            for trial in trials:
                index = darc.select_batch(
                    trial.batch.samples,
                    "epsilon",
                    beta=setting.beta,
                    epsilon=setting.parameters["epsilon"],
                ).index
                places = np.flatnonzero(trial.usable)
                outcomes = [
                    trial.mean[u, index[u]]
                    - (2 * trial.sigma[u, index[u]] if objective.name == "tradeoff" else 0)
                    for u, p in enumerate(places)
                    if weights[p]
                ]
                if objective.name == "cvar":
                    outcomes = sorted(outcomes)[: int(np.ceil(0.1 * len(outcomes)))]
                if outcomes:
                    scores.append(np.mean(outcomes))
            assert merit[row, column] == pytest.approx(np.mean(scores))


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda o: o.name)
def test_held_out_folds_do_not_influence_the_choice(objective: Objective) -> None:
    generator = np.random.default_rng(8)
    samples = noise(30, 1) + generator.normal(0, 1, size=(30, 6, 1))
    folds = fold_numbers([f"p{i}" for i in range(30)], 3, seed=0)
    rules = ["epsilon", "lcb", "soft"]
    clean = tune(source_of(samples), objective, rules=rules, folds=3, splits=2)
    moved = 0
    for fold in range(3):
        poisoned = samples.copy()
        inside = folds == fold
        poisoned[inside] = generator.normal(0, 300, size=poisoned[inside].shape)
        bad = tune(source_of(poisoned), objective, rules=rules, folds=3, splits=2)
        before = {row.rule: row.by_fold for row in clean.rows}
        after = {row.rule: row.by_fold for row in bad.rows}
        for rule in rules:
            assert after[rule][fold] == before[rule][fold]
            moved += after[rule] != before[rule]
    assert moved


def test_evaluation_half_does_not_select() -> None:
    samples = noise(12, 2)
    source = source_of(samples)
    (clean,) = draw_trials(source, True, splits=1, seed=0)
    judging = ~np.isin(samples, clean.batch.samples)
    poisoned = np.where(judging, samples * 50, samples)
    (bad,) = draw_trials(source_of(poisoned), True, splits=1, seed=0)
    assert judging.any()
    np.testing.assert_array_equal(clean.batch.samples, bad.batch.samples)
    assert not np.allclose(clean.mean, bad.mean)


def test_a_candidate_that_cannot_be_judged_takes_no_part() -> None:
    samples = noise(6, 3, candidates=3, size=8)
    samples[:, 0, 1:] = np.nan
    samples[2, 1] = np.nan
    (trial,) = draw_trials(source_of(samples), True, splits=1, seed=0)
    assert trial.usable.tolist() == [True, True, False, True, True, True]
    assert np.isnan(trial.batch.samples[:, :, 0]).all()
    mean, sigma = trial.judged([Method.of("mean")])
    assert np.isnan(mean[0, 2])
    assert not np.isnan(np.delete(sigma[0], 2)).any()
