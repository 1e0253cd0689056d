import re

import numpy as np
import pytest

import darc
from darc.decide.trade_off_words import trade_off_in_words

POOL = [[5.0, 5.1, 4.9, 5.0], [8.0, 3.0, 7.5, 4.0], [6.0, 5.5, 6.5, 5.0]]


def test_the_weights_said_choose_the_candidate() -> None:
    decision = darc.select(POOL, "penalty", lam=0.5)
    weights = re.search(
        r"for lam (?:at least )?([\d.]+)(?: to ([\d.]+))?$", (trade_off_in_words(decision))
    )
    assert weights
    low = float(weights[1])
    high = float(weights[2] or low + 1)
    assert low <= 0.5 <= high
    middle = (low + high) / 2
    assert darc.select(POOL, "penalty", lam=middle).index == decision.index


@pytest.mark.parametrize("rule", ["mean", "auto", "lcb"])
def test_rules_that_do_not_go_by_value_have_no_trade_off(rule: str) -> None:
    assert trade_off_in_words(darc.select(POOL, rule)) == ""


def test_details_name_the_cost_of_the_rule() -> None:
    assert "sigma" in trade_off_in_words(darc.select(POOL, "epsilon"))
    details = darc.select(np.array(POOL), "tau").explain(details=True)
    assert "trade-off" in details
    assert "risk premium" in trade_off_in_words(darc.select(POOL, "tau"))
