import importlib.metadata
import warnings

import numpy as np
import pytest

import darc
from darc.errors import UnknownName
from darc.registry import Registry
from darc.selection.rule import Rule


def test_plugin_adds_a_rule_through_its_entry_point() -> None:
    points = importlib.metadata.entry_points(group="darc.rules")
    assert "median" in {point.name for point in points}
    scores = [[1.0, 1.0, 9.0], [2.0, 2.0, 2.0]]
    assert darc.select(scores, "median").index == 1
    assert darc.select(scores, "median", bonus=10.0).index == 0
    assert "median" in darc.rules


def test_unknown_names_are_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'entropic'"):
        darc.rules.get("entropy")
    with pytest.raises(UnknownName, match=r"known: .*caution, cvar"):
        darc.rules.get("zzzz")


@pytest.mark.parametrize("name", ["best-of-k", "Best-of-N", "bok", "BoN"])
def test_best_of_k_is_known_by_its_other_names(name: str) -> None:
    assert darc.rules.get(name) is darc.rules.get("mean")
    assert darc.select([[1.0, 2.0], [2.0, 3.0]], name).rule.name == "mean"
    assert name not in list(darc.rules)


def test_name_cannot_be_taken_twice() -> None:
    with pytest.raises(ValueError, match="already a rule named 'mean'"):
        darc.rule("mean")(lambda pools: darc.largest(pools, pools.statistics.mean))


@pytest.mark.parametrize("value", ["no_such_module:rule", "darc.errors:DISTRIBUTION"])
def test_broken_plugin_is_skipped_with_a_warning(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = importlib.metadata.EntryPoint("broken", value, "darc.rules")
    monkeypatch.setattr("darc.registry.names.entry_points", lambda group: [point])
    registry: Registry[Rule] = Registry("rule", "darc.rules", Rule)
    with pytest.warns(RuntimeWarning, match="'broken' of .* was skipped"):
        assert list(registry) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(registry) == []


def test_rule_defined_on_the_spot_can_be_passed_itself() -> None:
    rule = Rule("first", lambda pools: darc.largest(pools, -np.arange(3.0)[None]))
    assert darc.select(np.zeros((3, 2)), rule).index == 0
