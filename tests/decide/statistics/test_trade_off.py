"""The lemmas that link rules with a limit to rules with a weight, on random pools."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import darc
from darc.decide.statistics.trade_off import trade_off

property_settings = settings(derandomize=True, max_examples=150, deadline=None, database=None)
seeds = st.integers(0, 100_000)


def random_pool(seed: int) -> np.ndarray:
    draw = np.random.default_rng(seed)
    candidates = int(draw.integers(2, 9))
    spread = draw.uniform(0.1, 3.0, size=(candidates, 1))
    return draw.normal(draw.normal(5, 1, size=(candidates, 1)), spread, size=(candidates, 6))


def weights_to_try(weights: tuple[float, float]) -> list[float]:
    low, high = weights
    if np.isinf(high):
        high = low + 10.0
    return [low + share * (high - low) for share in (0.25, 0.5, 0.75)]


def test_a_point_in_a_dent_is_optimal_but_not_supported() -> None:
    values = [0.0, 0.4, 1.0]
    costs = [0.0, 0.5, 1.0]
    assert trade_off(values, costs, 0).weights == (1.0, np.inf)
    assert trade_off(values, costs, 2).weights == (0.0, 1.0)
    dent = trade_off(values, costs, 1)
    assert dent.pareto_optimal
    assert not dent.supported
    bump = trade_off([0.0, 0.6, 1.0], costs, 1).weights
    assert bump is not None
    assert bump == pytest.approx((0.8, 1.2))


def test_dominated_and_absent_candidates() -> None:
    assert not trade_off([1.0, 1.0], [0.5, 0.4], 0).pareto_optimal
    assert trade_off([1.0, 1.0], [0.5, 0.5], 0).supported
    absent = trade_off([1.0, np.nan], [0.5, 0.4], 1)
    assert not absent.pareto_optimal
    assert trade_off([1.0, np.nan], [0.5, np.nan], 0).weights == (0.0, np.inf)


@property_settings
@given(seed=seeds, lam=st.floats(0.01, 20))
def test_what_a_penalty_chooses_is_supported_by_its_weight(seed: int, lam: float) -> None:
    decision = darc.select(random_pool(seed), "penalty", lam=lam)
    statistics = decision.statistics
    result = trade_off(statistics.value, statistics.risk_premium, decision.index)
    assert result.pareto_optimal
    assert result.weights is not None
    low, high = result.weights
    assert low - 1e-9 <= lam <= high + 1e-9


@property_settings
@given(seed=seeds, quantile=st.floats(0, 1))
def test_a_supported_choice_of_tau_is_the_choice_of_a_penalty(seed: int, quantile: float) -> None:
    scores = random_pool(seed)
    decision = darc.select(scores, "tau", quantile=quantile)
    statistics = decision.statistics
    result = trade_off(statistics.value, statistics.risk_premium, decision.index)
    assert result.pareto_optimal
    if result.weights is not None:
        for lam in weights_to_try(result.weights):
            assert darc.select(scores, "penalty", lam=lam).index == decision.index


@property_settings
@given(seed=seeds, band=st.floats(0, 3))
def test_epsilon_chooses_pareto_optimal_points(seed: int, band: float) -> None:
    decision = darc.select(random_pool(seed), "epsilon", epsilon=band)
    statistics = decision.statistics
    result = trade_off(statistics.value, statistics.sigma, decision.index)
    assert result.pareto_optimal
    if result.weights is not None:
        for lam in weights_to_try(result.weights):
            weighted = statistics.value - lam * statistics.sigma
            assert weighted[decision.index] >= weighted.max() - 1e-9
