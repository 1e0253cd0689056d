import math

import pytest

from darc.decide.search.rows import (
    ABSENT,
    BARRED,
    DOUBTFUL,
    GAP,
    SURE,
    WAITING,
    Cell,
    Row,
    SearchFrame,
    View,
)
from darc.decide.statistics.risk import entropic_value

FRAME = SearchFrame((0.0,), (10.0,), beta=1.0, gamma=1.0, min_samples=None, n_samples=4)


def row(*cells: float | Cell | None) -> Row:
    return Row(FRAME, [(each,) if isinstance(each, float) else each for each in cells])


def test_a_row_knows_what_is_seen_and_what_may_come() -> None:
    partly = row(4.0, GAP, None, 6.0)
    assert (partly.seen, partly.unseen, partly.total, partly.complete) == (2, 1, 3, False)
    assert (partly.samples, partly.average) == (((4.0, 6.0),), (5.0,))
    assert partly.top.mean == pytest.approx(20 / 3)
    assert partly.top.value == pytest.approx(float(entropic_value([4.0, 6.0, 10.0])))
    guessed = partly.guessed((2,), (5.0,))
    assert guessed.complete
    assert guessed.top.mean == pytest.approx(5.0)
    assert partly.guessed((2,), (5.0,)) is guessed


def test_bounds_hold_however_a_row_is_completed() -> None:
    partly = row(4.0, 6.0, None, None)
    for fill in (0.0, 3.0, 5.0, 7.0, 10.0):
        whole = row(4.0, 6.0, fill, fill)
        assert whole.top.value <= partly.top.value + 1e-12
        assert whole.least_sigma >= partly.least_sigma - 1e-12
        assert whole.least_premium >= partly.least_premium - 1e-12
        assert whole.best_penalty(1.0) <= partly.best_penalty(1.0) + 1e-9
        assert whole.best_lcb(0.5) <= partly.best_lcb(0.5) + 1e-9
        assert whole.best_cvar(0.5) <= partly.best_cvar(0.5) + 1e-12
    assert row(GAP, GAP, GAP, GAP).best_cvar(0.5) == -math.inf


def test_the_standing_of_candidates() -> None:
    rows = [
        row(1.0, 1.0, 1.0, 1.0),
        row(1.0, None, None, None),
        row(GAP, GAP, GAP, GAP),
        row(1.0, GAP, GAP, GAP),
    ]
    # Half of four samples are needed once one candidate has them all.
    assert View(FRAME, rows).standing == [SURE, WAITING, BARRED, BARRED]
    few = [row(1.0, GAP, GAP, None), row(1.0, GAP, GAP, GAP), row(None, None, None, None)]
    assert View(FRAME, few).standing == [WAITING, DOUBTFUL, WAITING]
    assert View(FRAME, [row(GAP, GAP, GAP, GAP)]).standing == [ABSENT]
