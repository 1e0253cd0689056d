"""Whether answers divide people differently: the posterior by brute force, and its invariances."""

import math
import time
from collections.abc import Sequence

import numpy as np
import pytest
from tests.helpers import Array

from darc.decide.model.spread import (
    DEFAULT_PRIOR,
    LOG_LEVEL,
    LOG_SIGMA,
    SPREAD_DIFFERENT,
    SpreadPrior,
    ruled_out,
    spread_posterior,
    summarize,
)


def pool(*rows: Sequence[float]) -> Array:
    """One pool (1, K, n)."""
    width = max(map(len, rows))
    return np.array([[[*row, *[np.nan] * (width - len(row))] for row in rows]], dtype=float)


def by_loops(ratings: Array, prior: SpreadPrior = DEFAULT_PRIOR) -> tuple[float, list[float]]:
    """P(different) and E[sigma] of one pool, by sums over the grid."""
    rows = [row[~np.isnan(row)] for row in ratings]
    squares = [float(((row - row.mean()) ** 2).sum()) for row in rows]
    pooled = sum(squares) / sum(len(row) - 1 for row in rows)
    weights = {}
    sigmas = {}
    for kind, spread, share in (
        ("alike", prior.spread_alike, 1 - prior.share_different),
        ("different", SPREAD_DIFFERENT, prior.share_different),
    ):
        for level in LOG_LEVEL:
            density = np.exp(-0.5 * ((LOG_SIGMA - level) / spread) ** 2)
            density /= density.sum()
            product = share
            own = []
            for row, square in zip(rows, squares, strict=True):
                n = len(row)
                d = min(prior.sigma_df_factor * (n - 1) ** 2 / n, 100.0)
                u = (square / max(n - 1, 1) / pooled + 0.04) / 1.04
                fit = np.exp(-0.5 * d * (u * np.exp(-2 * LOG_SIGMA) + 2 * LOG_SIGMA))
                product *= float(fit @ density)
                own.append(float((fit * np.exp(LOG_SIGMA)) @ density / (fit @ density)))
            weights[kind, level] = product
            sigmas[kind, level] = own
    total = sum(weights.values())
    different = sum(value for (kind, _), value in weights.items() if kind == "different") / total
    expected = [
        math.sqrt(pooled) * sum(weights[key] * sigmas[key][k] for key in weights) / total
        for k in range(len(rows))
    ]
    return different, expected


@pytest.mark.parametrize(
    "rows",
    [
        ([4.0, 5.0, 6.0], [3.0, 5.0, 7.0]),
        ([4.0, 5.0, 6.0, 5.5], [1.0, 9.0, 5.0, 4.0], [5.0, 5.2, 5.1]),
        ([1.0, 2.0], [2.0, 4.0, 4.0, 3.0, 1.0]),
    ],
)
def test_the_posterior_is_that_of_plain_loops(rows: tuple[Sequence[float], ...]) -> None:
    ratings = pool(*rows)
    posterior = spread_posterior(summarize(ratings))
    different, sigma = by_loops(ratings[0])
    assert posterior.probability_different[0] == pytest.approx(different)
    assert posterior.sigma[0] == pytest.approx(sigma)
    assert (posterior.sigma_if_different <= posterior.sigma).all()


def test_a_pool_that_divides_people_is_told_from_one_that_does_not() -> None:
    divided = pool([9] * 5 + [2] * 3, [6, 5, 6, 7, 6, 6, 5, 6])
    alike = pool([6, 5, 6, 7, 6, 8, 5, 6], [6, 5, 7, 7, 6, 6, 5, 6])
    assert spread_posterior(summarize(divided)).probability_different[0] > 0.4
    assert spread_posterior(summarize(alike)).probability_different[0] < 0.14


def test_scale_and_shift_change_nothing_but_the_unit() -> None:
    ratings = np.random.default_rng(0).normal(size=(20, 4, 6))
    plain = spread_posterior(summarize(ratings))
    other = spread_posterior(summarize(ratings * 7.3 + 41.7))
    assert other.probability_different == pytest.approx(plain.probability_different)
    assert other.sigma == pytest.approx(7.3 * plain.sigma)


def test_a_candidate_without_ratings_says_nothing() -> None:
    ratings = pool([9] * 5 + [2] * 3, [6, 5, 6, 7, 6, 6, 5, 6], [1.0] * 8)
    kept = summarize(ratings).only(np.array([[True, True, False]]))
    without = spread_posterior(summarize(ratings[:, :2]))
    assert spread_posterior(kept).probability_different == pytest.approx(
        without.probability_different
    )


def test_equal_ratings_have_no_spread() -> None:
    posterior = spread_posterior(summarize(pool([5.0] * 4, [3.0] * 4)))
    assert posterior.sigma.tolist() == [[0.0, 0.0]]


def test_one_far_rating_of_five_counts_in_full_and_one_of_twenty_hardly() -> None:
    five = [9.0, 9.0, 9.0, 9.0, 2.0]
    twenty = [6.6, 5.4, 6.1, 5.9, 6.5, 5.5, 6.3, 5.7, 6.2, 5.8] * 2
    plain = float(np.sum((np.array(five) - np.mean(five)) ** 2))
    assert summarize(pool(five)).squares[0, 0] == pytest.approx(plain)
    wild = [*twenty[:19], 0.0]
    limited = summarize(pool(wild)).squares[0, 0]
    assert limited < 0.6 * np.sum((np.array(wild) - np.mean(wild)) ** 2)


def test_who_is_ruled_out() -> None:
    ratings = pool([1.0] * 8, [1, 1, 1, 1, 2, 3, 4, 5], [9] * 5 + [2] * 3)
    summary = summarize(ratings)
    assert ruled_out(ratings, summary.count, summary.mean, 1.0).tolist() == [[True, True, False]]
    # With much caution only what is nowhere better is ruled out.
    calm = pool([9] * 5 + [2] * 3, [4.0] * 8)
    summary = summarize(calm)
    assert ruled_out(calm, summary.count, summary.mean, 1.0).tolist() == [[False, True]]
    assert ruled_out(calm, summary.count, summary.mean, 100.0).tolist() == [[False, False]]


def test_few_ratings_rule_out_nothing() -> None:
    ratings = pool([9.0, 9.0, 9.0], [1.0, 1.0, 1.0])
    summary = summarize(ratings)
    assert not ruled_out(ratings, summary.count, summary.mean, 1.0).any()


@pytest.mark.parametrize("caution", [0.0, 0.5, 1.0, 3.0])
def test_going_through_the_survivors_finds_everybody_that_is_ruled_out(caution: float) -> None:
    generator = np.random.default_rng(3)
    ratings = np.round(generator.normal(6, 1.2, (200, 7, 1)) + generator.normal(size=(200, 7, 6)))
    summary = summarize(ratings)
    ranks = np.sort(ratings, axis=-1)
    expected = np.zeros(ratings.shape[:2], dtype=bool)
    for p, i in np.ndindex(*expected.shape):
        for j in range(7):
            gaps = ranks[p, j] - ranks[p, i]
            gains = gaps[gaps > 0].sum()
            losses = -gaps[gaps < 0].sum()
            better = gains > (1 + caution) ** 2 * losses + 1e-9
            expected[p, i] |= bool(better and summary.mean[p, j] > summary.mean[p, i] + 1e-12)
    found = ruled_out(ratings, summary.count, summary.mean, caution)
    assert (found == expected).all()


def test_many_candidates_with_uneven_counts_are_compared_quickly() -> None:
    generator = np.random.default_rng(0)
    ratings = generator.integers(0, 10, (1, 10_000, 5)).astype(float)
    ratings[0, 1:, 4] = np.nan
    summary = summarize(ratings)
    start = time.perf_counter()
    ruled_out(ratings, summary.count, summary.mean, 1.0)
    seconds = time.perf_counter() - start
    print(f"10,000 candidates took {seconds:.2f} s; the limit is 1")
    assert seconds < 3 * 1
