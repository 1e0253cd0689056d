import numpy as np
import pytest

from darc.analysis.experiments import Findings
from darc.analysis.experiments.asking import ALIKE, IN_WAVES, ONE_BY_ONE, asking, ratings_needed
from darc.ratings.simulated import preset


@pytest.fixture(scope="module")
def result() -> Findings:
    return asking(preset("doubtful").changed({"prompts": 1000, "candidates": 16}), 0)


@pytest.mark.slow
def test_two_fifths_of_the_ratings_are_saved(result: Findings) -> None:
    rows = {(row["asking"], row["budget"], row["price"]): row for row in result.rows}
    for row in (rows[IN_WAVES, 2.0, 0.0], rows[ONE_BY_ONE, None, 0.005]):
        assert row["saved"] > 0.4
        assert row["low"] < row["saved"] < row["high"]
        assert row["ratings"] == pytest.approx((1 - row["saved"]) * row["as_good_as"])
    assert sum("saved (" in note for note in result.notes) == 2


@pytest.mark.slow
def test_more_ratings_of_each_choose_better(result: Findings) -> None:
    gains = [row["gain"] for row in result.rows if row["asking"] == ALIKE]
    assert len(gains) == 12
    assert gains[0] < gains[2] < gains[5] < gains[11]


def test_how_many_ratings_gain_as_much() -> None:
    curve = np.array([0.2, 0.4, 0.35, 0.6])
    assert ratings_needed(curve, 0.1) == (0.5, False)
    assert ratings_needed(curve, 0.3) == (1.5, False)
    assert ratings_needed(curve, 0.5) == (3.5, False)
    assert ratings_needed(curve, 0.7) == (4.0, True)
