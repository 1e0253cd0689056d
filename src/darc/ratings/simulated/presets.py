"""Presets of simulated people and proxies."""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from darc.errors import InputError, UnknownName
from darc.ratings.simulated.recipe import GROUPS, ProxyRecipe, Recipe

_FILE = Path(__file__).with_name("presets.toml")
_PROXY = "proxy."


@dataclass(frozen=True)
class Preset:
    """People and a proxy of them."""

    #: A sentence on what they are like.
    summary: str
    people: Recipe
    proxy: ProxyRecipe

    def settings(self) -> dict[str, Any]:
        """All settings by name, those of the proxy after "proxy."."""
        proxy = {f"{_PROXY}{name}": value for name, value in asdict(self.proxy).items()}
        return asdict(self.people) | proxy

    def changed(self, settings: Mapping[str, Any]) -> "Preset":
        """The preset with other settings, named as `settings` names them.

        Args:
            settings: The new values, by the names of the settings.

        Raises:
            UnknownName: There is no such setting.
            InputError: A value is of the wrong kind, or outside its limits.
        """
        usual = self.settings()
        people = {}
        proxy = {}
        for name, value in settings.items():
            if name not in usual:
                raise UnknownName("setting", name, usual)
            converted = _converted(name, value, usual[name])
            if name.startswith(_PROXY):
                proxy[name.removeprefix(_PROXY)] = converted
            else:
                people[name] = converted
        return Preset(self.summary, replace(self.people, **people), replace(self.proxy, **proxy))


def _converted(name: str, value: Any, usual: Any) -> Any:
    """A value in the type of the usual one.

    Raises:
        InputError: It is of another kind.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(usual, tuple):
        fits = isinstance(value, tuple)
        words = " ".join(f"{number:g}" for number in usual)
    else:
        needs_whole = isinstance(usual, int)
        fits = is_number and (not needs_whole or float(value).is_integer())
        words = f"{usual:g}"
    if not fits:
        raise InputError(f"{name} cannot be {value!r}", f"here it is {words} if not given")
    return type(usual)(value)


def _read_presets() -> dict[str, Preset]:
    presets = {}
    for name, content in tomllib.loads(_FILE.read_text(encoding="utf-8")).items():
        people = content["people"]
        groups = tuple(people.get("groups", GROUPS))
        presets[name] = Preset(
            summary=content["summary"],
            people=Recipe(**people | {"groups": groups}),
            proxy=ProxyRecipe(**content["proxy"]),
        )
    return presets


PRESETS = _read_presets()


def preset(name: str) -> Preset:
    """The preset of this name.

    Args:
        name: A name that `darc simulate --list` prints.

    Returns:
        The preset.

    Raises:
        UnknownName: If there is none.
    """
    if name not in PRESETS:
        raise UnknownName("preset", name, PRESETS)
    return PRESETS[name]


def two_minds(
    prompts: int = 40, candidates: int = 8, raters: int = 9, polarising: float = 0.3
) -> Recipe:
    """Two groups of people who rate everything from 0 to 10, and answers that divide them.

    Args:
        prompts: The number of prompts.
        candidates: The number of candidates per prompt.
        raters: The number of raters per candidate.
        polarising: The share of candidates that divide the groups.

    Returns:
        A recipe for `simulate`.
    """
    return replace(
        PRESETS["polarised"].people,
        prompts=prompts,
        candidates=candidates,
        raters=raters,
        crowd=raters,
        polarising=polarising,
    )
