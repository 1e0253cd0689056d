from dataclasses import replace

import numpy as np
from tests.evaluation.helpers import make_source

from darc.evaluation.evaluate import evaluate
from darc.evaluation.study import Settings
from darc.evaluation.verdict import summary, told, verdicts

SETTINGS = Settings(rules=("epsilon", "entropic"), repeats=4, draws=400)


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
    assert "rules that beat Best-of-K beyond noise: by tradeoff" in told(overall)
    assert "no reason to leave" not in " ".join(summary(result, found))


def test_noise_is_seldom_taken_for_a_gain() -> None:
    wrong = 0
    for seed in range(20):
        generator = np.random.default_rng(seed)
        source = make_source(prompts=40, candidates=4, raters=8, seed=seed)
        samples = generator.normal(5, 1, source.samples.shape)
        result = evaluate(
            [replace(source, samples=samples)],
            replace(SETTINGS, draws=200, rules=("cvar", "median", "lcb", "entropic")),
            ablations=False,
        )
        overall = verdicts(result)[0]
        wrong += bool(overall.better(0) or overall.better(1))
    assert wrong <= 4


def test_the_band_is_wider_than_a_single_interval() -> None:
    result = evaluate([make_source(prompts=40)], Settings(repeats=3, draws=300), ablations=False)
    overall = verdicts(result)[0]
    human = result.frame("human")
    assert human is not None
    for a, row in enumerate(human.where(subset="overall").records()):
        high, low = row["high_tradeoff"], row["low_tradeoff"]
        assert isinstance(high, float)
        assert isinstance(low, float)
        if high - low > 1e-6:
            assert overall.margin[0, a] > 0.45 * (high - low)


def test_too_few_prompts_are_said() -> None:
    result = evaluate([make_source(prompts=5)], SETTINGS, ablations=False)
    assert verdicts(result) == []
    assert "cannot be told" in summary(result, [])[0]


def test_a_run_is_not_called_people() -> None:
    proxy = make_source(prompts=20, kind="rewrite", name="run", seed=1)
    result = evaluate([proxy, make_source(prompts=20, name="people")], SETTINGS, ablations=False)
    said = " ".join(summary(result, verdicts(result)))
    assert "In run scorers judge held-out rewrites" in said
    assert "The sigma of run follows that of people with a rank correlation of" in said
