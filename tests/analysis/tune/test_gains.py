import numpy as np
import pytest
from numpy.typing import NDArray

from darc.analysis.bootstrap import average
from darc.analysis.tune.gains import Gains, gains

Array = NDArray[np.float64]


def of(outcomes: Array, seed: int = 0) -> Gains:
    among = np.ones((1, outcomes.shape[1]), dtype=bool)
    return gains(
        lambda counts: average(outcomes[None], among, counts),
        float(np.abs(outcomes).max()),
        outcomes.shape[1],
        seed,
    )


def test_one_rule_has_the_usual_interval() -> None:
    generator = np.random.default_rng(0)
    outcomes = generator.normal(size=(2, 400))
    found = of(outcomes)
    delta = outcomes[1] - outcomes[0]
    error = delta.std(ddof=1) / np.sqrt(400)
    assert found.gain[0] == pytest.approx(delta.mean())
    assert found.low[0] == pytest.approx(delta.mean() - 1.96 * error, abs=0.15 * error)
    assert found.high[0] == pytest.approx(delta.mean() + 1.96 * error, abs=0.15 * error)


def test_several_rules_have_wider_intervals() -> None:
    outcomes = np.random.default_rng(1).normal(size=(9, 200))
    many = of(outcomes)
    one = of(outcomes[:2])
    assert many.gain[0] == pytest.approx(one.gain[0])
    assert 1.15 < (many.high[0] - many.low[0]) / (one.high[0] - one.low[0]) < 1.6


def test_the_default_rule_has_the_interval_of_a_rule_that_is_alone() -> None:
    outcomes = np.random.default_rng(1).normal(size=(9, 200))
    among = np.ones((1, 200), dtype=bool)

    def over_prompts(values: Array) -> Gains:
        return gains(lambda counts: average(values[None], among, counts), 10.0, 200, 0, default=0)

    many = over_prompts(outcomes)
    alone = over_prompts(outcomes[:2])
    others = of(outcomes[[0, *range(2, 9)]])
    assert many.low[0] == pytest.approx(alone.low[0])
    assert many.high[0] == pytest.approx(alone.high[0])
    assert many.high[1:] == pytest.approx(others.high)


def test_same_choices_gain_nothing() -> None:
    outcomes = np.random.default_rng(2).normal(size=200)
    found = of(np.stack([outcomes, outcomes, outcomes + 1]))
    assert (found.gain[0], found.low[0], found.high[0]) == (0.0, 0.0, 0.0)
    assert found.gain[1] == pytest.approx(1.0)


def test_rounding_is_no_gain() -> None:
    outcomes = np.random.default_rng(4).normal(70.0, 5.0, size=200)
    found = of(np.stack([outcomes, outcomes + 1e-14]))
    assert (found.gain[0], found.low[0], found.high[0]) == (0.0, 0.0, 0.0)
