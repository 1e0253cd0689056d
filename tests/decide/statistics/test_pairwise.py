from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import erfcx, expit, log_expit, log_ndtr

from darc.decide.statistics.pairwise import (
    _gaussian,
    _logistic,
    bradley_terry,
    scalarize,
    thurstone,
    win_rates,
)
from darc.errors import InputError, UnknownName

Array = NDArray[np.float64]

repeatable = settings(derandomize=True, max_examples=60, deadline=None, database=None)
METHODS = ("win-rate", "bradley-terry", "thurstone")
FITTED: list[tuple[Callable[..., Array], Callable[[Array], Array]]] = [
    (bradley_terry, log_expit),
    (thurstone, log_ndtr),
]


@dataclass(frozen=True)
class Data:
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    rater: NDArray[np.intp]
    outcome: Array
    candidates: int
    raters: int

    def score(self, method: str) -> Array:
        return scalarize(
            method, self.left, self.right, self.rater, self.outcome,
            candidates=self.candidates, raters=self.raters,
        )  # fmt: skip

    def fit(self, function: Callable[..., Array], **options: Any) -> Array:
        return function(
            self.left, self.right, self.rater, self.outcome,
            candidates=self.candidates, raters=self.raters, **options,
        )  # fmt: skip


@st.composite
def comparisons(draw: st.DrawFn) -> Data:
    candidates = draw(st.integers(2, 5))
    raters = draw(st.integers(1, 4))
    size = draw(st.integers(0, 20))
    seed = draw(st.integers(0, 2**32 - 1))
    return random_data(seed, candidates, raters, size)


def random_data(seed: int, candidates: int, raters: int, size: int) -> Data:
    generator = np.random.default_rng(seed)
    left = generator.integers(0, candidates, size)
    right = (left + generator.integers(1, candidates, size)) % candidates
    rater = generator.integers(0, raters, size)
    outcome = generator.choice([0.0, 0.5, 1.0], size, p=[0.2, 0.2, 0.6])
    return Data(left, right, rater, outcome, candidates, raters)


def log_posterior(
    scores: Array, data: Data, rater: int, prior: float, log_link: Callable[[Array], Array]
) -> float:
    mine = data.rater == rater
    gap = scores[data.left[mine]] - scores[data.right[mine]]
    won = data.outcome[mine]
    fit = np.sum(won * log_link(gap) + (1.0 - won) * log_link(-gap))
    return float(fit - np.sum(scores**2) / (2.0 * prior**2))


@pytest.mark.parametrize(("function", "log_link"), FITTED)
@pytest.mark.parametrize("prior", [0.3, 1.0, 5.0])
def test_matches_a_general_optimiser(
    function: Callable[..., Array], log_link: Callable[[Array], Array], prior: float
) -> None:
    data = random_data(seed=7, candidates=4, raters=3, size=30)
    found = data.fit(function, prior=prior)
    for rater in range(3):
        result = minimize(
            lambda scores, rater=rater: -log_posterior(scores, data, rater, prior, log_link),
            np.zeros(4),
            method="BFGS",
            options={"gtol": 1e-7},
        )
        np.testing.assert_allclose(found[:, rater], result.x, atol=1e-4 * prior)
        attained = log_posterior(found[:, rater], data, rater, prior, log_link)
        assert attained >= -float(result.fun) - 1e-12


@repeatable
@given(comparisons(), st.sampled_from([0.1, 1.0, 30.0]), st.sampled_from([0, 1]))
def test_no_small_move_improves_the_posterior(data: Data, prior: float, which: int) -> None:
    function, log_link = FITTED[which]
    found = np.nan_to_num(data.fit(function, prior=prior))
    for rater in range(data.raters):
        best = log_posterior(found[:, rater], data, rater, prior, log_link)
        for candidate in range(data.candidates):
            for move in (-1e-5, 1e-5):
                moved = found[:, rater].copy()
                moved[candidate] += move * prior
                value = log_posterior(moved, data, rater, prior, log_link)
                assert value <= best + 1e-13 * (1.0 + abs(best))


def test_converges_where_undamped_newton_runs_away() -> None:
    wins = np.zeros((5, 5), dtype=int)
    wins[[0, 0, 1, 2, 3, 4, 4], [1, 4, 4, 3, 1, 2, 3]] = [82, 33, 1, 76, 2, 64, 21]
    winner, loser = (np.repeat(side, wins[wins > 0]) for side in np.nonzero(wins))
    found = bradley_terry(winner, loser, None, np.ones(winner.size), candidates=5, prior=60.0)[:, 0]
    surprise = expit(found[loser] - found[winner])
    gradient = np.bincount(winner, surprise, 5) - np.bincount(loser, surprise, 5) - found / 60.0**2
    np.testing.assert_allclose(gradient, 0.0, atol=1e-10)


@pytest.mark.parametrize("prior", [0.5, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("wins", [1, 5, 10_000])
def test_a_rater_who_always_prefers_one_gets_the_finite_score(wins: int, prior: float) -> None:
    given: tuple[Any, ...] = ([0] * wins, [1] * wins, None, [1.0] * wins)

    def logistic_slope(score: float) -> float:
        return float(wins * expit(-2 * score) - score / prior**2)

    def gaussian_slope(score: float) -> float:
        mills = np.sqrt(2 / np.pi) / erfcx(-2 * score / np.sqrt(2))
        return float(wins * mills - score / prior**2)

    for function, slope in ((bradley_terry, logistic_slope), (thurstone, gaussian_slope)):
        expected = brentq(slope, 0.0, 30.0, xtol=1e-13)
        found = function(*given, candidates=2, prior=prior)
        np.testing.assert_allclose(found, [[expected], [-expected]], rtol=1e-7)


@pytest.mark.parametrize("gap", [-1e3, -60.0, -30.000001, -30.0, -29.0, -3.0, 0.0, 1.0, 8.0, 30.0])
def test_links_are_accurate_far_out(gap: float) -> None:
    value, slope, curvature = (float(part[0]) for part in _gaussian(np.array([gap])))
    assert value == pytest.approx(float(log_ndtr(gap)), rel=1e-12)
    mills = np.sqrt(2 / np.pi) / erfcx(-gap / np.sqrt(2))
    assert slope == pytest.approx(mills, rel=1e-11)
    assert curvature == pytest.approx(mills * (mills + gap), rel=1e-8)
    value, slope, curvature = (float(part[0]) for part in _logistic(np.array([gap])))
    assert value == pytest.approx(float(log_expit(gap)), rel=1e-14)
    assert slope == pytest.approx(float(expit(-gap)), rel=1e-14)
    assert curvature == pytest.approx(float(expit(gap) * expit(-gap)), rel=1e-14)


@repeatable
@given(comparisons())
def test_win_rates_count(data: Data) -> None:
    found = data.score("win-rate")
    assert found.shape == (data.candidates, data.raters)
    for candidate in range(data.candidates):
        for rater in range(data.raters):
            won: list[float] = []
            for left, right, judge, outcome in zip(
                data.left, data.right, data.rater, data.outcome, strict=True
            ):
                if judge == rater and candidate in (left, right):
                    won.append(outcome if left == candidate else 1.0 - outcome)
            expected = np.mean(won) if won else np.nan
            assert found[candidate, rater] == pytest.approx(expected, nan_ok=True)


@repeatable
@given(comparisons(), st.sampled_from(METHODS[1:]))
def test_fitted_scores_sum_to_zero_over_what_was_seen(data: Data, method: str) -> None:
    found = data.score(method)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(data.score("win-rate")))
    np.testing.assert_allclose(np.nansum(found, axis=0), 0.0, atol=1e-13)


@repeatable
@given(comparisons(), st.sampled_from(METHODS))
def test_symmetries(data: Data, method: str) -> None:
    found = data.score(method)
    swapped = Data(
        data.right, data.left, data.rater, 1.0 - data.outcome, data.candidates, data.raters
    )
    np.testing.assert_allclose(swapped.score(method), found, atol=1e-12)
    reversed_outcomes = Data(
        data.left, data.right, data.rater, 1.0 - data.outcome, data.candidates, data.raters
    )
    mirrored = 1.0 - found if method == "win-rate" else -found
    np.testing.assert_allclose(reversed_outcomes.score(method), mirrored, atol=1e-12)
    order = np.arange(data.candidates)[::-1]
    renamed = Data(
        order[data.left], order[data.right], data.rater, data.outcome, data.candidates, data.raters
    )
    np.testing.assert_allclose(renamed.score(method), found[::-1], atol=1e-12)


@repeatable
@given(comparisons(), st.sampled_from(METHODS))
def test_raters_do_not_influence_each_other(data: Data, method: str) -> None:
    found = data.score(method)
    for rater in range(data.raters):
        mine = data.rater == rater
        alone = scalarize(
            method, data.left[mine], data.right[mine], None, data.outcome[mine],
            candidates=data.candidates,
        )  # fmt: skip
        assert alone.shape == (data.candidates, 1)
        np.testing.assert_allclose(alone[:, 0], found[:, rater], atol=1e-12)


@pytest.mark.parametrize("function", [bradley_terry, thurstone])
def test_ties_pull_together_and_a_tie_is_half_a_win_each_way(
    function: Callable[..., Array],
) -> None:
    np.testing.assert_allclose(function([0], [1], None, [0.5], candidates=2), 0.0, atol=1e-15)
    tie_twice = function([0, 0, 0], [1, 1, 1], None, [1.0, 0.5, 0.5], candidates=2)
    one_each = function([0, 0, 0], [1, 1, 1], None, [1.0, 1.0, 0.0], candidates=2)
    np.testing.assert_allclose(tie_twice, one_each, rtol=1e-12)
    assert 0 < tie_twice[0, 0] < function([0], [1], None, [1.0], candidates=2)[0, 0]


@pytest.mark.parametrize(("function", "log_link"), FITTED)
def test_recovers_the_scores_that_made_the_data(
    function: Callable[..., Array], log_link: Callable[[Array], Array]
) -> None:
    generator = np.random.default_rng(9)
    truth = np.array([1.2, 0.4, -0.1, -1.5])
    left = generator.integers(0, 4, 40_000)
    right = (left + generator.integers(1, 4, left.size)) % 4
    wins = generator.random(left.size) < np.exp(log_link(truth[left] - truth[right]))
    found = function(left, right, None, wins.astype(float), candidates=4, prior=10.0)
    np.testing.assert_allclose(found[:, 0], truth, atol=0.05)


def test_a_smaller_prior_shrinks() -> None:
    data = random_data(seed=1, candidates=4, raters=2, size=40)
    sizes = [np.abs(data.fit(bradley_terry, prior=prior)).sum() for prior in (1e-6, 0.1, 1.0, 9.0)]
    assert sizes[0] < 1e-9
    assert sizes == sorted(sizes)


def test_raters_default_to_one_more_than_the_largest_index() -> None:
    found = win_rates([0, 0], [1, 2], [0, 2], [1.0, 0.0], candidates=3)
    expected = [[1.0, np.nan, 0.0], [0.0, np.nan, np.nan], [np.nan, np.nan, 1.0]]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("method", METHODS)
def test_no_comparisons_give_nan(method: str) -> None:
    found = scalarize(method, [], [], [], [], candidates=3, raters=2)
    assert found.shape == (3, 2)
    assert np.isnan(found).all()


def test_unknown_method_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="bradley-terry"):
        scalarize("bradly-terry", [0], [1], [0], [1.0], candidates=2, raters=1)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"left": [0, 1]}, "left has shape"),
        ({"rater": [0, 1]}, "rater has shape"),
        ({"left": [2]}, "left of comparison 0 is 2"),
        ({"right": [-1]}, "right of comparison 0 is -1"),
        ({"rater": [1]}, "rater of comparison 0 is 1"),
        ({"right": [0]}, "against itself"),
        ({"left": [0.5]}, "integer"),
        ({"outcome": [0.7]}, "outcome"),
        ({"outcome": [np.nan]}, "outcome"),
        ({"outcome": 1.0}, "outcome"),
        ({"rater": None, "raters": 2}, "raters is 2"),
    ],
)
def test_bad_arguments_are_named(change: dict[str, Any], named: str) -> None:
    given: dict[str, Any] = {"left": [0], "right": [1], "rater": [0], "outcome": [1.0]}
    given |= {"candidates": 2, "raters": 1} | change
    for function in (win_rates, bradley_terry, thurstone):
        with pytest.raises(InputError, match=named):
            function(**given)


@pytest.mark.parametrize("prior", [0.0, -1.0, np.nan, np.inf])
def test_a_prior_must_be_usable(prior: float) -> None:
    with pytest.raises(InputError, match="prior"):
        bradley_terry([0], [1], None, [1.0], candidates=2, prior=prior)
