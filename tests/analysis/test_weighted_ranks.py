import numpy as np
import pytest
from scipy import stats

from darc.analysis import ranks
from darc.analysis.weighted_ranks import (
    partial_correlation,
    weighted_correlations,
    weighted_overlap,
    weighted_ranks,
)

GENERATOR = np.random.default_rng(5)


def test_weights_are_copies_written_out() -> None:
    columns = GENERATOR.integers(0, 9, (4, 30)).astype(float)
    weights = GENERATOR.integers(0, 4, (6, 30)).astype(float)
    ranked = [weighted_ranks(column, weights) for column in columns]
    matrices = weighted_correlations(ranked, weights)
    partial = partial_correlation(matrices)
    for b in range(6):
        copies = np.repeat(columns, weights[b].astype(int), axis=1)
        assert matrices[b, 0, 1] == pytest.approx(stats.spearmanr(copies[0], copies[1])[0])
        expected = float(ranks.partial_spearman(copies[0], copies[1], copies[2:]))
        assert partial[b] == pytest.approx(expected)


def test_overlap_of_copies() -> None:
    left, right = GENERATOR.normal(size=(2, 40))
    weights = GENERATOR.integers(0, 3, (5, 40)).astype(float)
    overlaps = weighted_overlap(left, right, weights, 0.2)
    for b in range(5):
        copies = np.repeat(np.arange(40), weights[b].astype(int))
        one, two = (ranks.top(side[copies], 0.2) for side in (left, right))
        assert overlaps[b] == pytest.approx((one & two).sum() / (one | two).sum(), abs=0.15)
    same = weighted_overlap(left, left, weights, 0.2)
    assert np.allclose(same, 1.0)
    ones = np.ones((1, 40))
    one = ranks.top(left, 0.2)
    two = ranks.top(right, 0.2)
    assert weighted_overlap(left, right, ones, 0.2)[0] == (one & two).sum() / (one | two).sum()


def test_singular_controls_give_nan() -> None:
    x, y = GENERATOR.normal(size=(2, 20))
    weights = np.ones((1, 20))
    ranked = [weighted_ranks(side, weights) for side in (x, y, x)]
    assert np.isnan(partial_correlation(weighted_correlations(ranked, weights)))
