import math

import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from darc.evaluation.experiments.ranks import jaccard, ranks, spearman


def test_against_scipy_with_ties() -> None:
    generator = np.random.default_rng(0)
    one = generator.integers(0, 9, 200).astype(np.float64)
    other = one + generator.integers(0, 9, 200)
    assert np.array_equal(ranks(one), rankdata(one))
    assert spearman(one, other) == pytest.approx(spearmanr(one, other)[0])


def test_no_variation_has_no_correlation() -> None:
    assert math.isnan(spearman(np.ones(5), np.arange(5.0)))


def test_jaccard() -> None:
    one = np.arange(10.0)
    assert jaccard(one, one) == 1.0
    assert jaccard(one, -one) == 0.0
    assert jaccard(one, np.array([0, 0, 0, 0, 0, 0, 0, 9, 0, 8.0])) == pytest.approx(1 / 3)
