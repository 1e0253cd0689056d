from functools import cache
from typing import Any

import numpy as np

from darc.analysis.experiments.raters_needed import RULES, choices_by_truth, raters_needed
from darc.ratings.simulated import preset, simulate


@cache
def by_rule(name: str, prompts: int = 1000) -> dict[tuple[Any, Any], Any]:
    result = raters_needed(preset(name).changed({"prompts": prompts}), 0)
    return {(row["n"], row["rule"]): row for row in result.rows}


def test_more_raters_help_epsilon_where_sigma_is_real() -> None:
    rows = by_rule("polarised")
    gains = [rows[n, "epsilon"]["cvar_gain"] for n in (2, 4, 16)]
    assert gains == sorted(gains)
    assert rows[64, "epsilon"]["cvar_gain"] > rows[2, "epsilon"]["cvar_gain"] + 0.4
    assert rows[64, "epsilon"]["value"] > rows[64, "mean"]["value"]
    assert rows[64, "mean"]["mean"] > rows[64, "epsilon"]["mean"]


def test_epsilon_loses_where_sigma_is_chance() -> None:
    rows = by_rule("noise")
    for n in (2, 5, 16):
        row = rows[n, "epsilon"]
        assert row["value_gain"] < -row["value_half"]


def test_knowing_the_truth_is_best() -> None:
    for name in ("paper", "polarised"):
        rows = by_rule(name, 300)
        for n in (2, 5, 64):
            for rule in RULES:
                assert rows[None, "mean"]["mean"] >= rows[n, rule]["mean"]
                assert rows[None, "entropic"]["value"] >= rows[n, rule]["value"]


def test_rules_on_the_truth() -> None:
    true = simulate(preset("polarised").changed({"prompts": 50}).people, 0).truth
    chosen = choices_by_truth(true)
    value = true.value(1.0)
    for p, k in enumerate(chosen["epsilon"].tolist()):
        near = np.flatnonzero(value[p] >= value[p].max() - 0.25)
        assert k == near[np.argmin(true.sigma[p, near])]


def test_auto_gains_where_sigma_is_real_and_costs_little_where_it_is_chance() -> None:
    real = by_rule("polarised")
    chance = by_rule("noise")
    assert real[16, "auto"]["tradeoff_gain"] > real[16, "auto"]["tradeoff_half"]
    for n in (2, 5, 16):
        for rule in ("epsilon", "tau", "penalty"):
            assert chance[n, "auto"]["tradeoff_gain"] > chance[n, rule]["tradeoff_gain"]
        assert chance[n, "auto"]["tradeoff_gain"] > -0.02
