import numpy as np
import pytest
from scipy import stats

from darc.analysis import ranks

GENERATOR = np.random.default_rng(3)


@pytest.mark.parametrize("size", [5, 40, 300])
@pytest.mark.parametrize("levels", [3, 1000])
def test_correlations_agree_with_scipy(size: int, levels: int) -> None:
    x = GENERATOR.integers(0, levels, size).astype(float)
    y = x + GENERATOR.integers(0, levels, size).astype(float)
    assert np.array_equal(ranks.ranks(x), stats.rankdata(x))
    assert float(ranks.spearman(x, y)) == pytest.approx(stats.spearmanr(x, y)[0], abs=1e-12)
    tau, p = stats.kendalltau(x, y, method="asymptotic")
    assert ranks.kendall(x, y) == pytest.approx((tau, p))


def test_ranks_of_many_rows_are_those_of_each() -> None:
    table = GENERATOR.integers(0, 4, (5, 9)).astype(float)
    assert np.array_equal(ranks.ranks(table), [stats.rankdata(row) for row in table])


def test_partial_spearman_by_residuals() -> None:
    x, y, a, b = GENERATOR.normal(size=(4, 80))
    x = x + a
    y = y + a - b
    design = np.stack([np.ones(80), stats.rankdata(a), stats.rankdata(b)], axis=1)
    sides = []
    for side in (x, y):
        ranked = stats.rankdata(side)
        sides.append(ranked - design @ np.linalg.lstsq(design, ranked, rcond=None)[0])
    expected = stats.pearsonr(*sides)[0]
    assert float(ranks.partial_spearman(x, y, np.stack([a, b]))) == pytest.approx(expected)


def test_nothing_is_left_when_a_control_is_the_thing_itself() -> None:
    x, y = GENERATOR.normal(size=(2, 30))
    assert np.isnan(ranks.partial_spearman(x, y, x[None]))


def test_constant_sides_have_no_correlation() -> None:
    x = np.arange(5.0)
    assert np.isnan(ranks.spearman(x, np.ones(5)))
    assert np.isnan(ranks.kendall(x, np.ones(5))).all()


@pytest.mark.parametrize(
    ("overlap", "items", "left", "right"),
    [(3, 20, 4, 5), (0, 9, 2, 2), (64, 500, 100, 100), (2, 5, 4, 3)],
)
def test_hypergeometric_tail(overlap: int, items: int, left: int, right: int) -> None:
    expected = stats.hypergeom.sf(overlap - 1, items, left, right)
    assert ranks.hypergeometric_tail(overlap, items, left, right) == pytest.approx(expected)


def test_top_share_rounds_up_and_breaks_ties_by_place() -> None:
    assert ranks.top(np.array([1.0, 3.0, 3.0, 3.0, np.nan, 0.0]), 0.2).tolist() == [
        *(False, True, True, False, False, False)
    ]
    assert ranks.share_size(0.1, 30) == 3
    assert ranks.share_size(0.1, 31) == 4


def test_fisher_p_is_close_to_the_exact_one() -> None:
    x = GENERATOR.normal(size=200)
    y = x + 4 * GENERATOR.normal(size=200)
    value, p = stats.pearsonr(x, y)
    assert ranks.correlation_p(value, 200) == pytest.approx(p, rel=0.1)


def test_jaccard() -> None:
    one = np.arange(10.0)
    assert ranks.jaccard(one, one) == 1.0
    assert ranks.jaccard(one, -one) == 0.0
    assert ranks.jaccard(one, np.array([0, 0, 0, 0, 0, 0, 0, 9, 0, 8.0])) == pytest.approx(1 / 3)
