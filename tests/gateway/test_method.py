from typing import Any

import pytest

from darc.gateway.method import check_rule, read_method, split_model
from darc.gateway.settings import Settings
from darc.web.problems import Problem

SETTINGS = Settings(k=5)


def test_model_names_a_rule() -> None:
    assert split_model("darc-epsilon/org/model") == ("epsilon", "org/model")
    assert split_model("darc/model") == ("", "model")
    assert split_model("org/model") == ("", "org/model")
    assert split_model("darcy/model") == ("", "darcy/model")


def test_request_wins_over_name_over_settings() -> None:
    assert read_method(None, "", SETTINGS).spec.rule.name == "auto"
    assert read_method(None, "tau", SETTINGS).spec.rule.name == "tau"
    method = read_method({"rule": "penalty", "lam": 2, "k": 3, "beta": 0.5}, "tau", SETTINGS)
    assert (method.spec.rule.name, method.spec.rule.parameters["lam"]) == ("penalty", 2)
    assert (method.k, method.spec.beta, method.n_aug) == (3, 0.5, 8)
    assert read_method({"rule": "epsilon:epsilon=0.5"}, "", SETTINGS).spec.rule.parameters == {
        "epsilon": 0.5
    }


@pytest.mark.parametrize(
    "given",
    [
        [], "epsilon", {"rule": "nonsense"}, {"rule": 3}, {"k": 0}, {"k": 65}, {"k": True},
        {"k": 2.5}, {"n_aug": -1}, {"beta": -1}, {"beta": "x"}, {"lam": 1}, {"nonsense": 1},
        {"epsilon": [1]}, {"budget": 3}, {"budget": {"calls": -1}}, {"budget": {"other": 1}},
        {"policy": "ajar"}, {"metadata": 7}, {"full": "yes"}, {"normalize": "z"}, {"wave": 0},
        {"rule": "x" * 1000}, {"include_original": 1}, {"include_original": False, "n_aug": 0},
        {"include_original": False, "rule": "poisson", "reward": "original"},
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_a_400(given: Any) -> None:
    with pytest.raises(Problem) as caught:
        read_method(given, "", SETTINGS)
    assert caught.value.status == 400


@pytest.mark.parametrize(
    "given",
    [
        {"lam": -1}, {"rule": "epsilon", "epsilon": -1}, {"rule": "epsilon", "epsilon": "x"},
        {"rule": "cvar", "alpha": 0}, {"rule": "cvar:alpha=x"},
        {"rule": "tau", "quantile": 3}, {"rule": "tau", "objective": "x"},
    ],
)  # fmt: skip
def test_parameters_that_the_rule_refuses_are_a_400(given: Any) -> None:
    with pytest.raises(Problem) as caught:
        check_rule(read_method(given, "", SETTINGS))
    assert caught.value.status == 400


def test_every_rule_can_be_checked() -> None:
    from darc.registry import rules

    for name in rules:
        if rules.get(name).calibrate is None:
            check_rule(read_method({"rule": name}, "", SETTINGS))
