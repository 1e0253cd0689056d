import importlib.metadata
import warnings
from typing import Any

import numpy as np
import pytest

import darc
import darc.parts.generators
import darc.parts.rewriters
import darc.parts.scorers
from darc.decide.rule import Rule
from darc.errors import InputError, UnknownName
from darc.registry import Makers, Registry, generators, parse_spec, rewriters, scorers


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
    monkeypatch.setattr("darc.registry.plugins.entry_points", lambda group: [point])
    registry: Registry[Rule] = Registry("rule", "darc.rules", Rule)
    with pytest.warns(RuntimeWarning, match="'broken' of .* was skipped"):
        assert list(registry) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(registry) == []


def test_rule_defined_on_the_spot_can_be_passed_itself() -> None:
    rule = Rule("first", lambda pools: darc.largest(pools, -np.arange(3.0)[None]))
    assert darc.select(np.zeros((3, 2)), rule).index == 0


def makers() -> Makers:
    made = Makers("thing", "darc.no_such_group")

    @made.register("plain")
    class Plain:
        """A plain thing."""

        def __init__(self, helper: Any = None, *, size: int = 3, share: float = 0.5) -> None:
            self.size = size
            self.share = share

    @made.register("remote", "MODEL@URL")
    def remote(place: str, *, key: str = "", fast: bool = False) -> tuple[str, str, bool]:
        """A thing elsewhere."""
        return place, key, fast

    @made.register("maybe", "[PATH]")
    def maybe(path: str = "home") -> str:
        return path

    return made


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("plain", ("plain", "", {})),
        ("a:b:c", ("a", "b:c", {})),
        ("openai:m@http://h:8/v1,n=false", ("openai", "m@http://h:8/v1", {"n": "false"})),
        ("p:a,b,c=1,d=x y", ("p", "a,b", {"c": "1", "d": "x y"})),
        ("http://host/score?a=b&c=d", ("http", "//host/score?a=b&c=d", {})),
        ("plain,size=2", ("plain", "", {"size": "2"})),
    ],
)
def test_texts_are_taken_apart(text: str, parts: tuple[str, str, dict[str, str]]) -> None:
    spec = parse_spec(text)
    assert (spec.name, spec.argument, spec.options) == parts
    assert list(spec.options) == list(parts[2])


def test_options_are_of_their_defaults_type() -> None:
    made = makers()
    assert made.make("plain,size=7").size == 7
    assert made.make("plain,share=1").share == 1.0
    assert made.make("remote:m@u,key=1,fast=true") == ("m@u", "1", True)
    assert made.make("maybe") == "home"
    assert made.make("maybe:away") == "away"
    assert made.get("maybe").form == "maybe[:PATH]"
    assert made.get("remote").form == "remote:MODEL@URL"
    assert made.get("plain").options == {"size": 3, "share": 0.5}
    assert made.get("plain").summary == "A plain thing."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("plane", "unknown thing 'plane'; did you mean 'plain'"),
        ("plain:x", "thing 'plain' takes no argument; write plain"),
        ("remote", "'remote' is not complete; write remote:MODEL@URL"),
        ("plain,sice=2", "unknown option 'sice' for thing 'plain'; did you mean 'size'"),
        ("plain,size=2.5", "size=2.5 for thing 'plain' cannot be used; such as size=3"),
        ("plain,share=big", "share=big for thing 'plain' cannot be used"),
        ("remote:x,fast=1", "fast=1 for thing 'remote' cannot be used"),
    ],
)
def test_what_cannot_be_made_is_told(text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        makers().make(text)
    assert words in str(caught.value)


def test_name_of_a_maker_cannot_be_taken_twice() -> None:
    again = makers()
    with pytest.raises(ValueError, match="already a thing named 'plain'"):
        again.register("plain")(int)


def test_plugin_adds_one_of_each() -> None:
    assert scorers.make("brevity,half=10").name == "brevity"
    assert generators.make("echo").name == "echo"
    assert rewriters.make("openings").name == "openings"
    assert {"brevity", "form"} <= set(scorers)
    with pytest.raises(UnknownName, match="did you mean 'brevity'"):
        scorers.make("brevitee")
