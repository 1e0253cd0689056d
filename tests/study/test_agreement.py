import itertools
import math

import krippendorff
import numpy as np
import pytest

from darc.study.quality import GivenRating, agreement, disagreement


def ratings(table: list[list[float]], bad: set[int] = frozenset()) -> list[GivenRating]:  # type: ignore[assignment]
    places = itertools.product(range(len(table)), range(len(table[0])))
    return [GivenRating(f"r{r}", u, table[u][r], r not in bad) for u, r in places]


def test_alpha_is_that_of_all_and_of_valid_ratings() -> None:
    draw = np.random.default_rng(3)
    truth = draw.integers(0, 11, 30)
    good = [np.clip(truth + draw.integers(-1, 2, 30), 0, 10) for _ in range(3)]
    table = np.array([*good, draw.integers(0, 11, 30)], dtype=float)
    before, after = agreement(ratings(table.T.tolist(), {3}), pairwise=False)
    measured = {"level_of_measurement": "interval"}
    assert before.alpha == pytest.approx(krippendorff.alpha(table, **measured))
    assert after.alpha == pytest.approx(krippendorff.alpha(table[:3], **measured))
    assert before.alpha < after.alpha
    assert before.low < before.alpha < before.high
    assert (before.ratings, after.ratings) == (120, 90)


def test_pairs_are_nominal() -> None:
    rows: list[list[float]] = [[0, 0, 1], [1, 1, 1], [0.5, 0.5, 0.5]] * 2
    before, _ = agreement(ratings(rows), pairwise=True)
    table = np.array(rows, dtype=float).T
    expected = krippendorff.alpha(table, level_of_measurement="nominal")
    assert before.alpha == pytest.approx(expected)


def test_nothing_to_compare_is_nan() -> None:
    before, after = agreement([], pairwise=False)
    assert math.isnan(before.alpha)
    assert math.isnan(after.high)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[9, 1], [2, 8]], "not yet (2 of 5 items rated twice)"),
        ([[5, 5]] * 6, "undefined: all ratings are the same"),
        ([[i, i] for i in range(6)], "1.00"),
    ],
)
def test_alpha_is_told_without_nonsense(table: list[list[float]], words: str) -> None:
    before, _ = agreement(ratings(table), pairwise=False)
    assert before.words == words


def test_disagreement_by_item() -> None:
    found = disagreement(ratings([[9, 1, 6, 5, 4], [7, 7, 8, 8, 7]]), pairwise=False)
    assert found == {0: pytest.approx(2.915, abs=1e-3), 1: pytest.approx(0.548, abs=1e-3)}
    assert disagreement(ratings([[0, 0, 1, 0]]), pairwise=True) == {0: 0.25}
