"""Parameters that only the rule itself can judge are refused before anything is scored."""

from unittest import mock

import pytest

import darc
from darc.decide import method as method_module
from darc.decide.method import Method
from darc.decide.options import SelectOptions
from darc.decide.trial import check_parameters


def test_a_bad_parameter_is_refused() -> None:
    rule = darc.rules.get("epsilon").bind(epsilon=-1.0)
    with pytest.raises(darc.InputError, match="epsilon"):
        check_parameters(rule, SelectOptions())


def test_an_engine_refuses_it_when_it_is_made() -> None:
    with pytest.raises(darc.InputError, match="epsilon"):
        darc.Engine(rule="epsilon:epsilon=-1", scorers=["form"], guard=False)


def test_a_public_search_refuses_it() -> None:
    with pytest.raises(darc.InputError, match="epsilon"):
        darc.lazy_search(3, 2, "epsilon", epsilon=-1.0)


def test_a_rule_that_needs_side_inputs_is_not_tried() -> None:
    Method.parse("rbon").check_parameters()


def test_no_prompt_decides_a_made_up_pool() -> None:
    answers = ["The Moon pulls on the sea.", "It does.", "Because of the Moon."]
    with darc.Engine(rule="epsilon", scorers=["form"], n_aug=2, guard=False) as engine:
        with mock.patch.object(method_module, "check_parameters") as tried:
            engine.choose("Why are there tides?", answers)
        assert not tried.called
