from typing import Any

import pytest

import darc.generators
import darc.perturb
import darc.scorers  # noqa: F401
from darc.errors import InputError, UnknownName
from darc.registry import Makers, generators, parse_spec, rewriters, scorers


def makers() -> Makers:
    made = Makers("thing", "darc.no_such_group")

    @made.register("plain")
    class Plain:
        """A plain thing."""

        def __init__(self, helper: Any = None, *, size: int = 3, share: float = 0.5) -> None:
            self.size, self.share = size, share

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


def test_name_cannot_be_taken_twice() -> None:
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
