from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from darc.decide.statistics.bounds import (
    empirical_bernstein,
    lcb_coefficient,
    lower_confidence_bound,
    proxy_slack,
    proxy_suboptimality,
    sub_gaussian,
)
from darc.errors import InputError

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Array]

repeatable = settings(derandomize=True, max_examples=60, deadline=None, database=None)
TRIALS = 3000

BOUNDED: dict[str, tuple[Draw, float]] = {
    "coin": (lambda g, shape: g.binomial(1, 0.5, shape).astype(np.float64), 0.5),
    "rare failure": (lambda g, shape: g.binomial(1, 0.95, shape).astype(np.float64), 0.95),
    "beta": (lambda g, shape: g.beta(2.0, 0.5, shape), 0.8),
    "two points": (lambda g, shape: np.where(g.random(shape) < 0.3, 0.2, 0.9), 0.69),
}


def statistics(samples: Array) -> tuple[Array, Array]:
    return samples.mean(axis=-1), samples.std(axis=-1, ddof=1)


def failure_rate(bound: Array, truth: float) -> float:
    return float(np.mean(np.any(bound > truth, axis=-1)))


@pytest.mark.parametrize("name", BOUNDED)
@pytest.mark.parametrize(("n", "candidates", "delta"), [(5, 1, 0.2), (9, 16, 0.05), (200, 4, 0.1)])
def test_bounded_samples_are_covered(name: str, n: int, candidates: int, delta: float) -> None:
    draw, truth = BOUNDED[name]
    samples = draw(np.random.default_rng(n), (TRIALS, candidates, n))
    mean, sigma = statistics(samples)
    shared: dict[str, Any] = {"candidates": candidates, "bounds": (0.0, 1.0), "delta": delta}
    assert failure_rate(empirical_bernstein(mean, sigma, n, **shared), truth) <= delta
    assert failure_rate(lower_confidence_bound(mean, sigma, n, **shared), truth) <= delta
    hoeffding = sub_gaussian(mean, n, candidates=candidates, nu=0.5, delta=delta)
    assert failure_rate(hoeffding, truth) <= delta


@pytest.mark.parametrize(("n", "candidates"), [(1, 1), (9, 16), (50, 4)])
def test_normal_samples_are_covered_and_the_bound_is_not_idle(n: int, candidates: int) -> None:
    samples = np.random.default_rng(n).normal(2.0, 3.0, (20_000, candidates, n))
    bound = sub_gaussian(samples.mean(axis=-1), n, candidates=candidates, nu=3.0, delta=0.2)
    assert 0.02 < failure_rate(bound, 2.0) <= 0.2


def test_the_selection_heuristic_is_no_bound() -> None:
    samples = np.random.default_rng(0).binomial(1, 0.95, (TRIALS, 1, 9)).astype(np.float64)
    mean, sigma = statistics(samples)
    heuristic = mean - lcb_coefficient(9, candidates=1) * sigma
    assert failure_rate(heuristic, 0.95) > 0.3


def test_contract_numbers_at_nine_samples_and_sixteen_candidates() -> None:
    bernstein = empirical_bernstein(0.0, 0.0, 9, candidates=16, bounds=(0.0, 10.0))
    assert round(-float(bernstein) / 10.0, 1) == 1.9
    hoeffding = sub_gaussian(0.0, 9, candidates=16, nu=5.0)
    assert round(-float(hoeffding) / 10.0, 2) == 0.57


def test_formulas() -> None:
    level = np.log(2 * 4 / 0.1)
    bernstein = empirical_bernstein(6.0, 2.0, 50, candidates=4, bounds=(0.0, 10.0), delta=0.1)
    expected = 6.0 - 2.0 * np.sqrt(2 * level / 50) - 7 * 10 * level / (3 * 49)
    assert bernstein == pytest.approx(expected, rel=1e-14)
    hoeffding = sub_gaussian(6.0, 50, candidates=4, nu=2.0, delta=0.1)
    assert hoeffding == pytest.approx(6.0 - 2.0 * np.sqrt(2 * np.log(40) / 50), rel=1e-14)
    assert lcb_coefficient(9, candidates=16, c=2.0) == pytest.approx(2 * np.sqrt(np.log(320) / 9))
    slack = proxy_slack(0.3, 0.2, 9, candidates=16)
    assert slack == pytest.approx(0.3 + 0.2 * np.sqrt(np.log(320) / 9), rel=1e-14)
    assert proxy_suboptimality(0.3, 0.2, 9, candidates=16) == 2.0 * slack


@pytest.mark.parametrize(
    ("sigma", "n", "winner"), [(0.01, 2000, "bernstein"), (0.5, 30, "hoeffding"), (0.4, 3, "floor")]
)
def test_certificate_is_the_larger_bound_at_half_delta(sigma: float, n: int, winner: str) -> None:
    shared: dict[str, Any] = {"candidates": 8, "delta": 0.05}
    found = lower_confidence_bound(0.6, sigma, n, bounds=(0.0, 1.0), **shared)
    shared["delta"] = 0.025
    parts = {
        "bernstein": float(empirical_bernstein(0.6, sigma, n, bounds=(0.0, 1.0), **shared)),
        "hoeffding": float(sub_gaussian(0.6, n, nu=0.5, **shared)),
        "floor": 0.0,
    }
    assert found == max(parts.values()) == parts[winner]


@repeatable
@given(
    st.floats(0, 1),
    st.floats(0, 0.5),
    st.integers(2, 500),
    st.integers(1, 64),
    st.floats(0.001, 0.9),
    st.floats(-100, 100),
)
def test_bounds_move_with_the_scores_and_loosen_with_less_data(
    mean: float, sigma: float, n: int, candidates: int, delta: float, shift: float
) -> None:
    def bound(n: int, candidates: int, delta: float, shift: float = 0.0) -> float:
        return float(
            lower_confidence_bound(
                mean + shift,
                sigma,
                n,
                candidates=candidates,
                bounds=(shift, 1.0 + shift),
                delta=delta,
            )
        )

    base = bound(n, candidates, delta)
    assert 0.0 <= base <= mean
    assert bound(n, candidates, delta, shift) == pytest.approx(base + shift, abs=1e-11)
    assert bound(n + 1, candidates, delta) >= base
    assert bound(n, candidates + 1, delta) <= base
    assert bound(n, candidates, delta / 2) <= base


def test_converges_to_the_mean() -> None:
    found = lower_confidence_bound(7.0, 2.0, 10**12, candidates=16, bounds=(0.0, 10.0))
    assert found == pytest.approx(7.0, abs=1e-4)


def test_too_few_samples_and_missing_ones() -> None:
    mean = np.array([np.nan, 0.5, 0.5, np.nan])
    sigma = np.array([np.nan, np.nan, 0.1, 0.1])
    n = np.array([0, 1, 2, 2])
    shared: dict[str, Any] = {"candidates": 1, "bounds": (-1.0, 1.0), "delta": 0.9}
    bernstein = empirical_bernstein(mean, sigma, n, **shared)
    assert bernstein[:2].tolist() == [-np.inf, -np.inf]
    assert np.isfinite(bernstein[2])
    assert np.isnan(bernstein[3])
    hoeffding = sub_gaussian(mean, n, candidates=1, nu=1.0, delta=0.9)
    assert hoeffding[0] == -np.inf
    assert np.isfinite(hoeffding[1:3]).all()
    certificate = lower_confidence_bound(mean, sigma, n, **shared)
    assert certificate[0] == -1.0
    assert certificate[1] == sub_gaussian(0.5, 1, candidates=1, nu=1.0, delta=0.45)
    assert np.isnan(certificate[3])
    assert lcb_coefficient([0, 4], candidates=1).tolist()[0] == np.inf
    assert proxy_slack(0.1, 0.0, 0, candidates=1) == 0.1


def test_arguments_broadcast() -> None:
    found = lower_confidence_bound(
        np.full((3, 1), 0.9), np.full(4, 0.1), np.array([5, 10, 100, 1000]),
        candidates=4, bounds=(0.0, 1.0),
    )  # fmt: skip
    assert found.shape == (3, 4)
    assert np.all(np.diff(found, axis=1) > 0)
    assert np.ptp(found, axis=0).max() == 0.0


def test_each_pool_may_have_its_own_number_of_candidates() -> None:
    sizes = np.array([2, 16])
    shared: dict[str, Any] = {"bounds": (0.0, 1.0)}
    pools = np.full((2, 3), 0.9)
    together = lower_confidence_bound(pools, 0.1, 50, candidates=sizes[:, None], **shared)
    slack = proxy_slack(0.1, 0.2, 50, candidates=sizes)
    for row, size in enumerate(sizes.tolist()):
        alone = lower_confidence_bound(pools[row], 0.1, 50, candidates=size, **shared)
        np.testing.assert_array_equal(together[row], alone)
        assert slack[row] == proxy_slack(0.1, 0.2, 50, candidates=size)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"delta": np.nan}, "delta"),
        ({"candidates": 0}, "candidates"),
        ({"candidates": [2, 0]}, "candidates"),
        ({"bounds": (1.0, 1.0)}, "bounds"),
        ({"bounds": (0.0, np.inf)}, "bounds"),
        ({"n": -1}, "n is"),
        ({"sigma": -0.1}, "sigma"),
        ({"mean": 1.5}, "outside the bounds"),
    ],
)
def test_bad_arguments_are_named(change: dict[str, Any], named: str) -> None:
    given: dict[str, Any] = {"mean": 0.5, "sigma": 0.1, "n": 9, "candidates": 2}
    given |= {"bounds": (0.0, 1.0)} | change
    for function in (empirical_bernstein, lower_confidence_bound):
        with pytest.raises(InputError, match=named):
            function(**given)


def test_bad_scales_are_named() -> None:
    with pytest.raises(InputError, match="nu"):
        sub_gaussian(0.5, 9, candidates=2, nu=-1.0)
    with pytest.raises(InputError, match="c is"):
        lcb_coefficient(9, candidates=2, c=-1.0)
    with pytest.raises(InputError, match="eps_sigma"):
        proxy_slack(0.1, -0.1, 9, candidates=2)


def test_the_smallest_delta_is_no_infinite_one() -> None:
    found = lcb_coefficient(4, candidates=8, delta=5e-324)
    assert found == pytest.approx(np.sqrt((np.log(8) - np.log(5e-324)) / 4))
