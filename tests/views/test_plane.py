import numpy as np

import darc
from darc.views import plane

SCORES = [
    [9.0, 1.0, 9.0, 9.0],
    [7.0, 6.0, 7.0, 7.0],
    [6.6, 6.6, 6.6, 6.6],
    [4.0, 5.0, 4.0, 5.0],
    [3.0, np.nan, np.nan, np.nan],
]


def test_points_frontier_and_choices() -> None:
    decision = darc.select(SCORES, "epsilon", candidate_ids=list("abcde"))
    data = plane(decision, [darc.select(SCORES, "mean")], "tea")
    assert [point.name for point in data.points] == ["a", "b", "c", "d"]
    chosen = {point.name: point.chosen_by for point in data.points}
    assert chosen == {"a": ("mean",), "b": (), "c": ("epsilon",), "d": ()}
    assert [point.name for point in data.points if point.feasible] == ["b", "c"]
    assert [point.name for point in data.points if point.on_frontier] == ["b", "c"]
    assert data.frontier[0] == (0.0, 6.6)
    assert data.floor is not None
    assert np.isclose(data.floor, decision.statistics.value[1] - 0.25)


def test_no_floor_for_other_rules() -> None:
    assert plane(darc.select(SCORES, "entropic")).floor is None


def test_candidates_ruled_out_early_are_marked_and_off_the_frontier() -> None:
    scores = np.array([[5.0] * 6, [9.0, -9.0, 9.0, 9.0, 9.0, 9.0], [4.9] * 6])
    lazy = darc.select_lazily(lambda pairs: [scores[pair] for pair in pairs], 3, 6, "entropic")
    assert lazy.bounded is not None
    data = plane(lazy)
    assert [point.bounded for point in data.points] == lazy.bounded.tolist()
    assert any(point.bounded for point in data.points)
    assert not any(point.on_frontier for point in data.points if point.bounded)
