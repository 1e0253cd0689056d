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
