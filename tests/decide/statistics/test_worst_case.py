from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

from darc.decide.statistics.worst_case import (
    chi_square,
    chi_square_closed_form,
    closed_form_is_exact,
    kl_ball,
    lambda_from_rho,
    rho_from_lambda,
    tilted_weights,
)
from darc.errors import InputError

Array = NDArray[np.float64]

repeatable = settings(derandomize=True, max_examples=80, deadline=None, database=None)
numbers = st.one_of(st.integers(-2, 3).map(float), st.floats(-10, 10))
rows = st.lists(numbers, min_size=1, max_size=8).map(np.array)
ragged_rows = st.tuples(rows, st.integers(0, 4)).map(
    lambda pair: np.concatenate([pair[0], np.full(pair[1], np.nan)])
)
sizes = st.one_of(st.just(0.0), st.floats(1e-12, 30.0))


def divergence(weights: Array, reference: Array) -> float:
    held = weights > 0
    return float(np.sum(weights[held] * np.log(weights[held] / reference[held])))


def range_of(row: Array) -> float:
    return float(np.nanmax(row) - np.nanmin(row))


def weighted_mean(weights: Array, row: Array) -> float:
    return float(np.sum(weights * np.nan_to_num(row)))


def best_dual(unit: Array, share: Array, radius: float) -> float:
    """The largest of the lower bounds -(log E exp(-t R) + radius) / t, and 0 at t = inf."""

    def negated(log_tilt: float) -> float:
        tilt = np.exp(log_tilt)
        return float((np.log(np.sum(share * np.exp(-tilt * unit))) + radius) / tilt)

    grid = np.linspace(-20, 60, 401)
    best = int(np.argmin([negated(point) for point in grid]))
    around = (grid[max(best - 1, 0)], grid[min(best + 1, 400)])
    refined = minimize_scalar(negated, bounds=around, method="bounded", options={"xatol": 1e-9})
    return max(-negated(grid[best]), -float(refined.fun), 0.0)


def random_row(seed: int) -> Array:
    generator = np.random.default_rng(seed)
    size = int(generator.integers(2, 10))
    if seed % 3 == 0:
        return generator.integers(0, 4, size).astype(np.float64)
    if seed % 3 == 1:
        return generator.normal(size=size)
    return generator.exponential(size=size) ** 2 - 3.0


class TestTiltedWeights:
    @repeatable
    @given(ragged_rows, st.floats(0, 20))
    def test_follow_the_formula(self, row: Array, beta: float) -> None:
        raw = np.where(np.isnan(row), 0.0, np.exp(-beta * (np.nan_to_num(row) - np.nanmin(row))))
        np.testing.assert_allclose(tilted_weights(row, beta), raw / raw.sum(), atol=1e-14)

    @repeatable
    @given(rows, st.floats(1e-3, 20))
    def test_attain_the_entropic_value(self, row: Array, beta: float) -> None:
        worst = tilted_weights(row, beta)
        uniform = np.full(row.size, 1.0 / row.size)
        penalised = worst @ row + divergence(worst, uniform) / beta
        entropic = row.min() - np.log(np.mean(np.exp(-beta * (row - row.min())))) / beta
        assert penalised == pytest.approx(entropic, abs=1e-10)

    def test_beta_zero_gives_the_normalised_weights(self) -> None:
        found = tilted_weights([3.0, np.nan, 1.0], 0.0, [2.0, 5.0, 6.0])
        np.testing.assert_allclose(found, [0.25, 0.0, 0.75], rtol=1e-15)

    def test_beta_infinite_spreads_over_the_ties_of_the_minimum(self) -> None:
        found = tilted_weights([1.0, 4.0, 1.0, np.nan, 0.0], np.inf, [1.0, 1.0, 3.0, 1.0, 0.0])
        np.testing.assert_allclose(found, [0.25, 0.0, 0.75, 0.0, 0.0], rtol=1e-15)

    @pytest.mark.parametrize("beta", [0.0, 1e-300, 1e-12, 1.0, 1e12, 1e308, np.inf])
    def test_survive_extremes(self, beta: float) -> None:
        row = np.array([-1e12, 1e12, -1e12, 5.0])
        found = tilted_weights(row, beta)
        assert found.sum() == pytest.approx(1.0, abs=1e-15)
        assert found[0] == found[2] >= found[3] >= found[1] >= 0.0

    def test_an_empty_row_gives_nan_and_leaves_the_others(self) -> None:
        found = tilted_weights([[np.nan, np.nan], [1.0, 1.0]], 2.0)
        np.testing.assert_array_equal(found, [[np.nan, np.nan], [0.5, 0.5]])
        assert np.isnan(tilted_weights([1.0, 2.0], 1.0, [0.0, 0.0])).all()

    def test_weights_of_any_size_are_normalised(self) -> None:
        row = np.array([0.0, 1.0, 2.0])
        share = np.array([1.0, 2.0, 4.0])
        for scale in (1e-300, 1.0, 1e307):
            np.testing.assert_allclose(
                tilted_weights(row, 1.0, share * scale), tilted_weights(row, 1.0, share)
            )

    def test_beta_broadcasts_over_rows(self) -> None:
        table = np.random.default_rng(0).normal(size=(2, 3, 5))
        beta = np.array([0.5, 1.0, 7.0])
        found = tilted_weights(table, beta)
        for i in range(2):
            for j in range(3):
                np.testing.assert_array_equal(found[i, j], tilted_weights(table[i, j], beta[j]))


class TestKLBall:
    @pytest.mark.parametrize("seed", range(18))
    def test_matches_cvxpy(self, seed: int) -> None:
        row = random_row(seed)
        generator = np.random.default_rng(seed + 100)
        weights = generator.dirichlet(np.ones(row.size)) + 0.01
        share = weights / weights.sum()
        radius = float(generator.choice([0.01, 0.2, 1.0, 5.0]))
        variable = cp.Variable(row.size, nonneg=True)
        problem = cp.Problem(
            cp.Minimize(variable @ row),
            [cp.sum(variable) == 1, cp.sum(cp.kl_div(variable, share)) <= radius],
        )
        expected: Any = problem.solve(solver=cp.CLARABEL)
        value, worst = kl_ball(row, radius, weights)
        assert value == pytest.approx(expected, abs=1e-5 * (1.0 + range_of(row)))
        np.testing.assert_allclose(worst @ row, value, atol=1e-12 * (1.0 + np.abs(row).max()))

    @repeatable
    @given(ragged_rows, sizes)
    def test_primal_meets_dual(self, row: Array, radius: float) -> None:
        value, worst = kl_ball(row, radius)
        share = np.where(np.isnan(row), 0.0, 1.0) / np.sum(~np.isnan(row))
        assert worst.sum() == pytest.approx(1.0, abs=1e-14)
        assert not worst[np.isnan(row)].any()
        assert divergence(worst, share) <= radius * (1.0 + 1e-9) + 1e-12
        spread = range_of(row)
        if spread == 0 or radius == 0:
            assert value == pytest.approx(np.nanmean(row), abs=1e-14)
            return
        unit = (row[~np.isnan(row)] - np.nanmin(row)) / spread

        bound = best_dual(unit, np.full(unit.size, 1.0 / unit.size), radius)
        assert (value - np.nanmin(row)) / spread == pytest.approx(bound, abs=1e-10)

    @repeatable
    @given(rows, st.lists(st.floats(0, 5), min_size=2, max_size=6))
    def test_falls_with_the_radius_between_mean_and_minimum(
        self, row: Array, radii: list[float]
    ) -> None:
        radius = np.sort(radii)
        value, _ = kl_ball(np.tile(row, (radius.size, 1)), radius)
        slack = 1e-13 * (1.0 + np.abs(row).max())
        assert np.all(np.diff(value) <= slack)
        assert np.all(value >= row.min())
        assert np.all(value <= row.mean() + slack)

    @pytest.mark.parametrize("row", [[3.0, 1.0, 1.0, 7.0, 2.0], [0.1, 0.3], [5.0, 5.0, 5.0]])
    def test_is_the_minimum_from_the_contract_radius_on(self, row: list[float]) -> None:
        ties = row.count(min(row))
        edge = np.log(len(row) / ties)
        for radius in (edge, edge + 1.0, np.inf):
            value, worst = kl_ball(row, radius)
            assert value == min(row)
            np.testing.assert_allclose(worst, np.where(np.array(row) == min(row), 1 / ties, 0))
        if edge > 0:
            assert kl_ball(row, edge - 1e-6)[0] > min(row)

    def test_small_radius_follows_the_standard_deviation(self) -> None:
        row = np.random.default_rng(1).normal(size=30)
        for radius in (1e-6, 1e-10, 1e-14, 1e-18):
            drop = row.mean() - kl_ball(row, radius)[0]
            expected = np.sqrt(2 * radius) * row.std()
            assert drop == pytest.approx(expected, rel=3 * np.sqrt(radius), abs=1e-13)

    def test_uniform_weights_equal_none_and_integer_weights_equal_repetition(self) -> None:
        row = np.array([0.3, 2.0, 1.0, 0.3, np.nan, 4.0])
        plain, _ = kl_ball(row, 0.3)
        assert kl_ball(row, 0.3, np.full(6, 7.0))[0] == pytest.approx(plain, abs=1e-14)
        times = np.array([2, 1, 3, 1, 5, 2])
        assert kl_ball(row, 0.3, times)[0] == pytest.approx(
            kl_ball(np.repeat(row, times), 0.3)[0], abs=1e-13
        )

    @repeatable
    @given(rows, st.floats(1e-6, 3), st.floats(-1e3, 1e3), st.floats(0.01, 100))
    def test_moves_and_scales_with_the_scores(
        self, row: Array, radius: float, shift: float, scale: float
    ) -> None:
        value, _ = kl_ball(row, radius)
        moved, _ = kl_ball(row * scale + shift, radius)
        assert moved == pytest.approx(value * scale + shift, abs=1e-11 * (1e3 + scale * 10))

    def test_crowded_scales_and_rare_minima(self) -> None:
        row = np.array([0.0, 1e-13, 1e-9, 1e-5, 1e-2, 1.0])
        share = np.array([1e-12, 1e-6, 1e-3, 0.1, 0.2, 0.7])
        share = share / share.sum()
        for radius in (0.5, 1.5, 2.0, 5.0, 10.0, 20.0, 27.0):
            value, worst = kl_ball(row, radius, share)
            assert divergence(worst, share) == pytest.approx(radius, rel=1e-9)
            assert value == pytest.approx(best_dual(row, share, radius), rel=1e-9, abs=1e-15)

    def test_empty_rows_and_batches(self) -> None:
        table = np.random.default_rng(2).normal(size=(2, 3, 6))
        table[0, 1, 2:] = np.nan
        table[1, 2] = np.nan
        radius = np.array([[0.1], [1.0]])
        value, worst = kl_ball(table, radius)
        assert value.shape == (2, 3)
        assert np.isnan(value[1, 2])
        assert np.isnan(worst[1, 2]).all()
        for i in range(2):
            for j in range(3):
                alone, _ = kl_ball(table[i, j], radius[i, 0])
                np.testing.assert_allclose(value[i, j], alone, rtol=1e-13)


class TestChiSquare:
    @pytest.mark.parametrize("seed", range(24))
    def test_matches_cvxpy(self, seed: int) -> None:
        row = random_row(seed)
        size = row.size
        rho = float(np.random.default_rng(seed + 200).choice([0.05, 0.5, 1.125, 3.0, size]))
        variable = cp.Variable(size, nonneg=True)
        # The norm, not its square: a second-order cone keeps the solver's tolerance.
        distance = cp.norm(variable - 1 / size, 2)
        problem = cp.Problem(
            cp.Minimize(variable @ row),
            [cp.sum(variable) == 1, distance <= np.sqrt(rho / size)],
        )
        expected: Any = problem.solve(solver=cp.CLARABEL)
        value, worst = chi_square(row, rho)
        assert value == pytest.approx(expected, abs=1e-6 * (1.0 + range_of(row)))
        np.testing.assert_allclose(worst @ row, value, atol=1e-12 * (1.0 + np.abs(row).max()))

    @repeatable
    @given(ragged_rows, sizes)
    def test_meets_the_threshold_form_of_the_optimum(self, row: Array, rho: float) -> None:
        value, worst = chi_square(row, rho)
        kept = row[~np.isnan(row)]
        size = kept.size
        held = worst[~np.isnan(row)]
        assert worst.sum() == pytest.approx(1.0, abs=1e-14)
        assert np.all(worst >= 0)
        assert not worst[np.isnan(row)].any()
        assert size * np.sum((held - 1 / size) ** 2) <= rho * (1.0 + 1e-9) + 1e-12
        spread = range_of(row)
        if spread < 1e-9 or rho == 0:
            assert value == pytest.approx(kept.mean(), abs=1e-9)
            return
        unit = (kept - kept.min()) / spread
        target = (1.0 + rho) / size
        if target >= 1.0 / np.sum(unit == 0) * (1.0 - 1e-12):
            assert value == kept.min()
            return

        def weights(eta: float) -> Array:
            raw = np.maximum(eta - unit, 0.0)
            return np.asarray(raw / raw.sum())

        smallest_gap = unit[unit > 0].min()
        # The reference works with logarithms of gaps, which must not underflow.
        assume(smallest_gap > 1e-290)
        eta = brentq(
            lambda log_eta: np.sum(weights(np.exp(log_eta)) ** 2) - target,
            np.log(smallest_gap) - 1.0,
            30.0,
            xtol=1e-14,
        )
        assert (value - kept.min()) / spread == pytest.approx(weights(np.exp(eta)) @ unit, abs=1e-9)

    @repeatable
    @given(rows, st.floats(0, 12))
    def test_closed_form_is_a_lower_bound_and_exact_where_it_says(
        self, row: Array, rho: float
    ) -> None:
        value, _ = chi_square(row, rho)
        closed = chi_square_closed_form(row, rho)
        slack = 1e-12 * (1.0 + np.abs(row).max())
        assert closed <= value + slack
        assert closed == pytest.approx(row.mean() - np.sqrt(rho) * row.std(), abs=slack * 10)
        if closed_form_is_exact(row, rho):
            assert value == pytest.approx(closed, abs=slack)
        elif np.sqrt(rho) * (row.max() - row.mean()) > 1.1 * row.std():
            assert value > closed

    def test_samples_far_above_the_mean_break_the_closed_form(self) -> None:
        above = np.array([0.0, 0.0, 0.0, 0.0, 10.0])
        assert not closed_form_is_exact(above, 1.0)
        assert closed_form_is_exact(-above, 1.0)
        assert chi_square(above, 1.0)[0] == 0.0
        assert chi_square_closed_form(above, 1.0) == pytest.approx(-2.0)

    def test_at_lambda_one_and_nine_samples_it_is_almost_never_exact(self) -> None:
        table = np.random.default_rng(3).normal(size=(4000, 9))
        assert np.mean(closed_form_is_exact(table, rho_from_lambda(1.0, 9))) < 0.02

    @pytest.mark.parametrize("row", [[3.0, 1.0, 1.0, 7.0, 2.0], [0.1, 0.3], [5.0, 5.0, 5.0]])
    def test_is_the_minimum_over_its_ties_for_large_rho(self, row: list[float]) -> None:
        ties = row.count(min(row))
        for rho in (len(row) / ties - 1, len(row) - 1, 1e9, np.inf):
            value, worst = chi_square(row, rho)
            assert value == min(row)
            np.testing.assert_allclose(worst, np.where(np.array(row) == min(row), 1 / ties, 0))

    def test_rho_zero_gives_the_mean_and_the_whole_ball_is_used_below_the_limit(self) -> None:
        row = np.array([4.0, -1.0, 2.5, 2.5, 9.0])
        value, worst = chi_square(row, 0.0)
        assert value == pytest.approx(row.mean(), abs=1e-15)
        np.testing.assert_allclose(worst, 0.2)
        for rho in (1e-12, 0.3, 1.0, 3.9):
            _, worst = chi_square(row, rho)
            assert 5 * np.sum((worst - 0.2) ** 2) == pytest.approx(
                rho, rel=1e-4 if rho < 1 else 1e-9
            )

    @repeatable
    @given(rows, st.floats(0, 8), st.floats(-1e3, 1e3), st.floats(0.01, 100))
    def test_moves_and_scales_with_the_scores(
        self, row: Array, rho: float, shift: float, scale: float
    ) -> None:
        value, _ = chi_square(row, rho)
        moved, _ = chi_square(row * scale + shift, rho)
        assert moved == pytest.approx(value * scale + shift, abs=1e-10 * (1e3 + scale * 10))

    def test_ragged_batches_equal_single_rows(self) -> None:
        generator = np.random.default_rng(4)
        table = generator.exponential(size=(3, 4, 7))
        table[generator.random(table.shape) < 0.3] = np.nan
        table[2, 1] = np.nan
        rho = np.array([0.2, 1.0, 2.0, np.inf])
        value, worst = chi_square(table, rho)
        exact = closed_form_is_exact(table, rho)
        assert np.isnan(value[2, 1])
        assert np.isnan(worst[2, 1]).all()
        assert not exact[2, 1]
        for i in range(3):
            for j in range(4):
                alone = table[i, j][~np.isnan(table[i, j])]
                if alone.size:
                    np.testing.assert_allclose(value[i, j], chi_square(alone, rho[j])[0])
                    assert exact[i, j] == closed_form_is_exact(alone, rho[j])

    def test_gaps_too_small_to_square_are_ties(self) -> None:
        value, worst = chi_square([0.0, 1e-200, 1.0], 1.0)
        assert value <= 1e-200
        assert 3 * np.sum((worst - 1 / 3) ** 2) <= 1.0
        _, worst = kl_ball([0.0, 5e-324, 1.0], 0.9)
        np.testing.assert_allclose(worst, [0.5, 0.5, 0.0])

    def test_closed_form_edges(self) -> None:
        assert chi_square_closed_form([2.0, 2.0], np.inf) == 2.0
        assert chi_square_closed_form([2.0, 3.0], np.inf) == -np.inf
        assert np.isnan(chi_square_closed_form([np.nan], 1.0))
        assert closed_form_is_exact([7.0], 3.0)


class TestLambdaAndRho:
    @repeatable
    @given(st.floats(0, 50), st.integers(2, 1000))
    def test_round_trip(self, lam: float, n: int) -> None:
        assert lambda_from_rho(rho_from_lambda(lam, n), n) == pytest.approx(lam, rel=1e-13)

    def test_rho_turns_the_closed_form_into_mean_minus_lambda_sigma(self) -> None:
        row = np.array([9.0, 1.0, 6.0, 5.0, 4.0])
        found = chi_square_closed_form(row, rho_from_lambda(1.7, 5))
        assert found == pytest.approx(row.mean() - 1.7 * row.std(ddof=1), abs=1e-13)

    def test_one_sample_has_no_sigma(self) -> None:
        np.testing.assert_array_equal(rho_from_lambda(1.0, [1, 2]), [np.nan, 2.0])
        np.testing.assert_array_equal(lambda_from_rho(2.0, [1, 2]), [np.nan, 1.0])


@pytest.mark.parametrize(
    "call",
    [
        lambda: kl_ball([1.0, 2.0], -0.1),
        lambda: kl_ball([1.0, 2.0], np.nan),
        lambda: kl_ball([1.0, 2.0], [0.1, 0.2]),
        lambda: kl_ball([1.0, np.inf], 0.1),
        lambda: kl_ball([1.0, 2.0], 0.1, [-1.0, 2.0]),
        lambda: kl_ball([1.0, 2.0], 0.1, [np.inf, 2.0]),
        lambda: kl_ball([1.0, 2.0], 0.1, [1.0, 2.0, 3.0]),
        lambda: kl_ball(3.0, 0.1),
        lambda: tilted_weights([1.0], -1.0),
        lambda: chi_square([1.0], -1.0),
        lambda: chi_square_closed_form([1.0], np.nan),
        lambda: rho_from_lambda(-1.0, 3),
    ],
)
def test_bad_arguments_are_named(call: Any) -> None:
    with pytest.raises(InputError, match=r"radius|scores|weights|beta|rho|lam"):
        call()
