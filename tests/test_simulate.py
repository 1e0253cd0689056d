import numpy as np
import pytest

from darc.errors import InputError
from darc.simulate import simulate


def test_ratings_are_whole_numbers_on_the_scale_and_seeded() -> None:
    one, same, other = simulate(20, seed=1), simulate(20, seed=1), simulate(20, seed=2)
    assert one.ratings.shape == (20, 8, 9)
    assert np.array_equal(one.ratings, np.rint(one.ratings))
    assert one.ratings.min() >= 0
    assert one.ratings.max() <= 10
    assert np.array_equal(one.ratings, same.ratings)
    assert not np.array_equal(one.ratings, other.ratings)


def test_polarising_candidates_divide_the_groups() -> None:
    people = simulate(400, noise=0.5, seed=3)
    by_group = [people.ratings[..., people.group == g].mean(axis=2) for g in (0, 1)]
    gap = by_group[0] - by_group[1]
    assert gap[people.polarising].mean() > 3
    assert abs(gap[~people.polarising].mean()) < 0.6
    sigma = people.ratings.std(axis=2, ddof=1)
    assert sigma[people.polarising].mean() > 1.8 * sigma[~people.polarising].mean()


def test_sizes_are_checked() -> None:
    with pytest.raises(InputError, match="at least 1"):
        simulate(0)
