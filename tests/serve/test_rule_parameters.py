import pytest

import darc
from darc.decide.registry import rules
from darc.decide.rule import Rule
from darc.serve.requests import RequestReader
from darc.serve.rule_parameters import parameter_types
from darc.serve.settings import ServeSettings
from darc.web.problems import Problem

READER = RequestReader(ServeSettings())


def test_a_rule_offers_what_it_declares() -> None:
    assert parameter_types(rules.get("auto")).keys() == {"caution"}
    assert parameter_types(rules.get("tau")).keys() == {"tau", "quantile", "objective"}
    with pytest.raises(Problem) as caught:
        READER.read_method({"rule": "cvar", "alpha": 1.5})
    assert caught.value.param == "darc.alpha"


def test_a_parameter_without_annotation_has_the_type_of_its_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def plain(pools: darc.Pools, *, level=0.5, strict=False):  # type: ignore[no-untyped-def]
        return darc.largest(pools, level * pools.statistics.mean)

    monkeypatch.setitem(rules._items, "plain", Rule("plain", plain))
    request_method = READER.read_method({"rule": "plain", "level": 2})
    assert request_method.method.rule.parameters["level"] == 2
    for name, value in (("level", "high"), ("strict", 1)):
        with pytest.raises(Problem) as caught:
            READER.read_method({"rule": "plain", name: value})
        assert (caught.value.status, caught.value.param) == (400, f"darc.{name}")


def test_values_that_only_the_rule_can_judge_are_a_400_before_anything_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trials = []

    def even(pools: darc.Pools, *, level: float = 2) -> darc.Choice:
        trials.append(level)
        if level % 2:
            raise darc.InputError(f"level is {level}, which is odd")
        return darc.largest(pools, pools.statistics.mean)

    monkeypatch.setitem(rules._items, "even", Rule("even", even))
    for given in ({"rule": "even", "level": 3}, {"rule": "even:level=5"}):
        with pytest.raises(Problem) as caught:
            READER.read_method(given)
        assert caught.value.status == 400
        assert "odd" in str(caught.value)
    trials.clear()
    READER.read_method({"rule": "even", "level": 4})
    READER.read_method({"rule": "even", "level": 4})
    assert trials == [4]


def test_a_rule_that_cannot_be_tried_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def needs_three(pools: darc.Pools, *, level: float = 0.5) -> darc.Choice:
        if pools.samples.shape[3] < 3:
            raise ValueError("needs three samples")
        return darc.largest(pools, pools.statistics.mean)

    monkeypatch.setitem(rules._items, "needs_three", Rule("needs_three", needs_three))
    method = READER.read_method({"rule": "needs_three", "level": 1}).method
    assert method.rule.parameters["level"] == 1


@pytest.mark.parametrize("rule", ["epsilon:beta=-1", "epsilon:beta=nan", "entropic:gamma=-2"])
def test_levels_in_the_text_of_a_rule_are_checked(rule: str) -> None:
    with pytest.raises(Problem) as caught:
        READER.read_method({"rule": rule})
    assert caught.value.status == 400
