import math

import numpy as np
from tests.analysis.diagnose.panels import noise_only, panel, uneven

from darc.analysis.diagnose.sigma_differences import compare_sigmas


def test_equal_sigmas_are_not_called_different() -> None:
    values = [
        compare_sigmas(panel(noise_only(seed, prompts=15)), permutations=49).p_value
        for seed in range(40)
    ]
    assert 0.3 < np.mean(values) < 0.7
    assert np.mean(np.array(values) <= 0.05) <= 0.15


def test_different_sigmas_are_found_even_with_three_raters() -> None:
    assert compare_sigmas(panel(uneven(1, raters=3)), permutations=199).p_value < 0.02


def test_polarising_candidates_are_named() -> None:
    ratings = np.random.default_rng(0).normal(5, 0.5, (20, 5, 10))
    ratings[:, 2, :5] = 1.0
    ratings[:, 2, 5:] = 9.0
    found = compare_sigmas(panel(ratings), permutations=20)
    assert set(found.polarising) == set(range(2, 100, 5))
    assert found.expected < 2


def test_noise_is_as_polarising_as_expected() -> None:
    found = compare_sigmas(panel(noise_only(2, prompts=200)), permutations=50)
    assert abs(len(found.polarising) - found.expected) < 5 * math.sqrt(found.expected)


def test_nothing_to_compare() -> None:
    for ratings in (np.full((3, 4, 5), 2.0), noise_only(0, raters=1), noise_only(0, candidates=1)):
        assert math.isnan(compare_sigmas(panel(ratings)).p_value)
