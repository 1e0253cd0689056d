import numpy as np

from darc.decide.slate import fill_slate

# Two raters like A and its copy, two like B, and everybody finds C tolerable.
RATINGS = np.array([[9.0, 9, 4, 4], [9, 9, 4, 4], [2, 2, 9, 9], [6, 6, 5, 6]])


def test_a_slate_serves_different_people() -> None:
    assert fill_slate(RATINGS, 0, 2) == [0, 2]
    assert fill_slate(RATINGS, 3, 3) == [3, 2, 0]


def test_a_copy_gains_nothing() -> None:
    # C gains nothing either, and has the lower mean.
    assert fill_slate(RATINGS, 0, 4) == [0, 2, 1, 3]
    assert 1 not in fill_slate(RATINGS, 0, 2)


def test_candidates_that_may_be_chosen_come_first() -> None:
    among = np.array([True, True, False, True])
    assert fill_slate(RATINGS, 0, 2, among) == [0, 3]
    assert len(fill_slate(RATINGS, 0, 9, among)) == 4


def test_missing_ratings_count_as_the_mean() -> None:
    gaps = RATINGS.copy()
    gaps[2, :2] = np.nan
    gaps[1] = np.nan
    assert fill_slate(gaps, 0, 4) == [0, 2, 3, 1]


def test_the_slate_gains_over_the_order_of_means() -> None:
    generator = np.random.default_rng(0)
    gains = []
    for _ in range(400):
        taste = generator.normal(0, 1, (6, 2)).repeat(4, axis=1)
        ratings = taste + generator.normal(0, 0.5, (6, 8))
        order = np.argsort(-ratings.mean(axis=1))
        slate = fill_slate(ratings, int(order[0]), 2)
        fresh = taste + generator.normal(0, 0.5, (6, 8))
        gains.append(fresh[slate].max(axis=0).mean() - fresh[order[:2]].max(axis=0).mean())
    assert np.mean(gains) > 0.02
