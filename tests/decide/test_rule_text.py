"""A rule with its parameters as text."""

import inspect

import pytest

import darc
from darc.decide.rule_text import split_rule_text

DIVISIVE = [[9, 9, 9, 9, 9, 2, 2, 2], [6] * 8]


def test_the_name_and_the_parameters_are_split() -> None:
    assert split_rule_text("mean") == ("mean", {})
    assert split_rule_text("epsilon: epsilon=0.5, beta=2") == (
        "epsilon",
        {"epsilon": 0.5, "beta": 2},
    )
    assert split_rule_text("auto:caution=none") == ("auto", {"caution": "none"})


@pytest.mark.parametrize(("caution", "index"), [("none", 0), ("low", 1), ("high", 1), ("2", 1)])
def test_python_takes_the_text_of_the_command_line(caution: str, index: int) -> None:
    assert darc.select(DIVISIVE, f"auto:caution={caution}").index == index
    assert darc.select_batch([DIVISIVE], f"auto:caution={caution}").index.tolist() == [index]


def test_a_parameter_that_is_not_the_rules_is_refused() -> None:
    with pytest.raises(darc.DarcError, match="did you mean"):
        darc.select(DIVISIVE, "epsilon:epsilom=1")


@pytest.mark.parametrize("function", [darc.select, darc.select_batch, darc.lazy_search])
def test_options_are_shown_in_the_signature(function: object) -> None:
    assert callable(function)
    parameters = inspect.signature(function).parameters
    assert {"beta", "normalize", "scale", "no_rating_below"} <= parameters.keys()
