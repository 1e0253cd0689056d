from typing import Any

import numpy as np
import pytest

from darc.decide.statistics import arrays
from darc.errors import InputError


def test_samples_are_numbers_with_gaps() -> None:
    samples = arrays.as_samples([[1, 2], [3, 4]], mask=[True, False])
    assert samples.dtype == np.float64
    assert np.array_equal(samples, [[1.0, np.nan], [3.0, np.nan]], equal_nan=True)


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([[1.0], [1.0, 2.0]], "cannot be read as numbers"),
        (["good"], "cannot be read as numbers"),
        (1.0, "scores is empty"),
        ([[]], "scores is empty"),
        ([1.0, -np.inf], r"an infinity at \(1,\)"),
        ([[1.0, 1e101]], r"1e\+101 at \(0, 1\); numbers go from -1e\+100 to 1e\+100"),
    ],
)
def test_what_are_no_samples(scores: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        arrays.as_samples(scores)


def test_weights_have_the_shape_of_the_samples() -> None:
    weights = arrays.as_weights([1.0, 2.0], (3, 2))
    assert weights is not None
    assert weights.shape == (3, 2)
    assert arrays.as_weights(None, (3, 2)) is None
    for wrong, words in (([1.0] * 3, "do not fit"), ([-1.0, 1.0], "not negative")):
        with pytest.raises(InputError, match=words):
            arrays.as_weights(wrong, (3, 2))


def test_bounds_are_a_pair_or_one_for_each_scorer() -> None:
    assert arrays.as_bounds((0, 10), 2).tolist() == [[0, 10], [0, 10]]
    assert arrays.as_bounds([(0, 1), (2, 3)], 2).tolist() == [[0, 1], [2, 3]]
    for wrong, words in (((1, 2, 3), "not a pair"), ((3, 3), "rising"), ((0, np.inf), "finite")):
        with pytest.raises(InputError, match=words):
            arrays.as_bounds(wrong, 1)


@pytest.mark.parametrize(
    ("check", "fine", "wrong"),
    [
        (arrays.check_level, [0, 1.5, np.inf], [-1, np.nan]),
        (arrays.check_number, [-1, 0, 2.5], [np.inf, np.nan]),
        (arrays.check_probability, [0.05, 0.95], [0, 1, np.nan]),
        (arrays.check_share, [0.1, 1], [0, 1.1, np.nan]),
    ],
)
def test_numbers_have_their_ranges(check: Any, fine: list[float], wrong: list[float]) -> None:
    assert [check("x", each) for each in fine] == fine
    for each in [*wrong, True, "1", None]:
        with pytest.raises(InputError, match=r"^x must"):
            check("x", each)


def test_an_infinite_weight_can_still_be_multiplied_by() -> None:
    assert arrays.check_weight("lam", np.inf) == arrays.LARGEST_NUMBER


def test_arrays_of_different_sizes_are_stacked() -> None:
    found = arrays.stacked([np.ones((1, 2)), np.zeros((2, 1))])
    gap = np.nan
    expected = np.array([[[1, 1], [gap, gap]], [[0, gap], [0, gap]]])
    assert np.array_equal(found, expected, equal_nan=True)
