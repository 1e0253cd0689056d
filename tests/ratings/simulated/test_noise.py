import math

import numpy as np
import pytest
from scipy import integrate, stats

from darc.ratings.simulated.truth import inverse_gamma, noise_below


def test_normal_distribution_function() -> None:
    x = np.linspace(-9, 9, 1001)
    assert np.abs(noise_below(x, np.array(1.0), 0.0, math.inf) - stats.norm.cdf(x)).max() < 1e-7


@pytest.mark.parametrize("df", [2.5, 4.0, 8.0, 60.0, math.inf])
def test_without_severity_it_is_students_t(df: float) -> None:
    x = np.linspace(-6, 6, 101)
    found = noise_below(x, np.array(0.7), 0.0, df)
    assert np.abs(found - stats.t.cdf(x / 0.7, df)).max() < 1e-5


def test_with_severity_it_is_the_convolution() -> None:
    for x in (-1.5, 0.2, 2.0):
        expected, _ = integrate.quad(
            lambda s, x=x: stats.norm.pdf(s, scale=0.5) * stats.t.cdf((x - s) / 0.8, 3.0), -5, 5
        )
        assert noise_below(np.array(x), np.array(0.8), 0.5, 3.0) == pytest.approx(
            expected, abs=1e-5
        )


def test_no_noise_at_all_is_a_step() -> None:
    found = noise_below(np.array([-1.0, 0.0, 1.0]), np.array(0.0), 0.0, math.inf)
    assert found.tolist() == [0.0, 0.5, 1.0]


def test_weights_sum_to_one() -> None:
    values, weights = inverse_gamma(5.0)
    assert weights.sum() == pytest.approx(1.0)
    assert weights @ values == pytest.approx(5.0 / 3.0, rel=1e-2)
