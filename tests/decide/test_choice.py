import numpy as np

from darc.decide.choice import pick

ALL = np.ones((1, 4), dtype=bool)


def choose(*keys: list[float], among: list[bool] | None = None, tolerance: float = 1e-12) -> int:
    mask = ALL if among is None else np.array([among])
    slack = np.full((1, 4), tolerance)
    return int(pick([np.array([key]) for key in keys], mask, slack)[0])


def test_first_key_decides() -> None:
    assert choose([1.0, 3.0, 2.0, 0.0], [9.0, 0.0, 0.0, 0.0]) == 1


def test_ties_within_tolerance_pass_to_the_next_key() -> None:
    assert choose([3.0, 3.0 - 1e-13, 2.0, 3.0], [0.0, 1.0, 9.0, 1.0]) == 1
    assert choose([3.0, 3.0 - 1e-9, 2.0, 3.0], [0.0, 1.0, 9.0, 1.0]) == 3
    assert choose([3.0, 3.0, 3.0, 3.0], [1.0, 1.0, 1.0, 1.0]) == 0


def test_undefined_keys_come_last() -> None:
    assert choose([np.nan, 1.0, np.nan, 0.0]) == 1
    assert choose([np.nan] * 4, [0.0, 0.0, 5.0, 0.0]) == 2


def test_only_the_set_counts() -> None:
    assert choose([9.0, 1.0, 2.0, 9.0], among=[False, True, True, False]) == 2


def test_wider_of_two_tolerances_counts() -> None:
    slack = np.array([[1e-12, 0.5, 1e-12, 1e-12]])
    keys = [np.array([[3.0, 2.6, 2.6, 0.0]]), np.array([[0.0, 1.0, 2.0, 0.0]])]
    assert pick(keys, ALL, slack)[0] == 1
