from typing import Any

import pytest

from darc.analysis.experiments import Findings
from darc.analysis.experiments.hacking import hacking, resists
from darc.errors import InputError
from darc.ratings.simulated import preset


@pytest.fixture(scope="module")
def result() -> Findings:
    return hacking(preset("hacking").changed({"prompts": 150}), 0)


def curve(result: Findings, world: str, rule: str) -> list[dict[str, Any]]:
    return [dict(row) for row in result.rows if (row["world"], row["rule"]) == (world, rule)]


@pytest.mark.parametrize("world", ["fragile", "sturdy"])
def test_best_of_k_rises_and_falls_while_the_proxy_rises(result: Findings, world: str) -> None:
    rows = curve(result, world, "mean")
    true = [row["true_mean"] for row in rows]
    best = true.index(max(true))
    assert 0 < best < len(true) - 1
    assert true[best] > true[0] + 0.3
    assert true[-1] < true[best] - 1.0
    proxy = [row["proxy_mean"] for row in rows]
    assert proxy == sorted(proxy)
    assert rows[-1]["exploit"] > rows[0]["exploit"] + 1
    assert not resists(rows)


def test_rules_that_look_at_the_spread_resist_what_rewrites_dislodge(result: Findings) -> None:
    end = {rule: curve(result, "fragile", rule)[-1] for rule in ("mean", "epsilon", "tau")}
    assert end["epsilon"]["true_mean"] > end["mean"]["true_mean"] + 0.8
    assert end["tau"]["true_mean"] > end["mean"]["true_mean"] + 2.0
    assert resists(curve(result, "fragile", "tau"))


def test_nothing_in_the_samples_helps_against_a_sturdy_feature(result: Findings) -> None:
    for rule in ("mean", "entropic", "epsilon", "lcb", "penalty"):
        assert not resists(curve(result, "sturdy", rule))
    assert resists(curve(result, "sturdy", "poisson"))


def test_one_honest_scorer_saves_the_cautious(result: Findings) -> None:
    for rule in ("worst", "uwo", "epsilon"):
        assert resists(curve(result, "several", rule))
    assert not resists(curve(result, "several", "mean"))


def test_without_bias_nothing_falls() -> None:
    clean = preset("hacking").changed({"prompts": 100, "proxy.bias": 0, "exploiting": 0})
    found = hacking(clean, 0, sizes=(1, 8, 64), rules=("mean", "epsilon"))
    assert resists(curve(found, "sturdy", "mean"))


def test_rules_are_checked() -> None:
    with pytest.raises(InputError, match="unknown parameter"):
        hacking(preset("hacking"), 0, sizes=(1, 2), rules=("mean:bonus=1",))
