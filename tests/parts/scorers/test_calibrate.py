"""The constants in the code are those that the calibration prints."""

import json

import numpy as np
from tests.parts.scorers.calibrate import order_counts, ordinary_pairs
from tests.parts.scorers.test_scorers import all_three

from darc.language.data_files import DATA


def test_stored_counts_and_constants_are_current() -> None:
    stored = (DATA / "order.json").read_text(encoding="utf-8")
    assert json.loads(stored) == order_counts()
    pairs = ordinary_pairs()
    for one in all_three():
        scores = one.score(pairs)
        assert one.location is not None
        assert one.scale is not None
        assert abs(np.mean(scores) - one.location) < 0.002, one.name
        assert abs(np.std(scores, ddof=1) - one.scale) < 0.002, one.name
