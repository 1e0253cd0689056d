"""Populations worth a name."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from darc.errors import InputError, UnknownName
from darc.simulate.recipe import ProxyRecipe, Recipe


@dataclass(frozen=True)
class Preset:
    """People and a proxy of them, with a sentence on what they are like."""

    summary: str
    people: Recipe
    proxy: ProxyRecipe

    def settings(self) -> dict[str, Any]:
        """All settings by name, those of the proxy after "proxy."."""
        own = {field.name: getattr(self.people, field.name) for field in fields(Recipe)}
        theirs = {field.name: getattr(self.proxy, field.name) for field in fields(ProxyRecipe)}
        return own | {f"proxy.{name}": value for name, value in theirs.items()}

    def changed(self, settings: Mapping[str, Any]) -> "Preset":
        """The preset with other settings, named as `settings` names them."""
        known = self.settings()
        for name, value in settings.items():
            if name not in known:
                raise UnknownName("setting", name, known)
            if not _fits(value, known[name]):
                raise InputError(
                    f"{name} cannot be {value!r}", f"here it is {_shown(known[name])} if not given"
                )
        given = {name: _like(value, known[name]) for name, value in settings.items()}
        theirs = {name[6:]: value for name, value in given.items() if name.startswith("proxy.")}
        own = {name: value for name, value in given.items() if not name.startswith("proxy.")}
        return replace(
            self, people=replace(self.people, **own), proxy=replace(self.proxy, **theirs)
        )


def preset(name: str) -> Preset:
    """The preset of this name."""
    if name not in PRESETS:
        raise UnknownName("preset", name, PRESETS)
    return PRESETS[name]


def _fits(value: Any, default: Any) -> bool:
    if isinstance(default, tuple):
        return isinstance(value, tuple)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return not isinstance(default, int) or float(value).is_integer()


def _like(value: Any, default: Any) -> Any:
    return value if isinstance(default, tuple) else type(default)(value)


def _shown(value: Any) -> str:
    return " ".join(f"{part:g}" for part in value) if isinstance(value, tuple) else f"{value:g}"


_PAPER = Recipe(
    location=7.1,
    noise=0.33,
    df=8.0,
    uneven_prompts=0.6,
    uneven=0.15,
    leaning=0.4,
    severity=0.1,
    polarising=0.03,
    gap=1.5,
)
_PAPER_PROXY = ProxyRecipe(error=0.4, spread=0.4, uneven=0.9, tracking=0.92)

PRESETS = {
    "paper": Preset(
        "disagreement and proxy as in the paper: few contentious prompts, in half points",
        _PAPER,
        _PAPER_PROXY,
    ),
    "noise": Preset(
        "all differences of sigma are chance: people agree equally on every answer",
        Recipe(location=5.0, noise=0.6),
        replace(_PAPER_PROXY, tracking=0.0),
    ),
    "polarised": Preset(
        "a third of the answers please most people and put off the others, a little better liked",
        Recipe(
            prompts=200,
            candidates=8,
            raters=9,
            location=6.2,
            candidate_spread=0.8,
            prompt_spread=0.0,
            polarising=0.3,
            gap=4.0,
            lure=0.5,
            noise=0.7,
            severity=0.3,
            step=1.0,
        ),
        ProxyRecipe(error=0.5, spread=0.5, uneven=0.6, tracking=0.8),
    ),
    "hacking": Preset(
        "some answers have a feature that the scorers like and people do not",
        Recipe(
            prompts=300,
            candidates=16,
            location=6.0,
            prompt_spread=0.5,
            candidate_spread=0.8,
            noise=0.8,
            exploiting=0.1,
            harm=0.8,
        ),
        ProxyRecipe(
            scorers=3, error=0.4, spread=0.2, uneven=0.3, tracking=0.5, bias=2.0, fooled=0.67
        ),
    ),
    "panel": Preset(
        "eight people of two kinds, with habits of their own, rate everything from 1 to 5",
        Recipe(
            prompts=100,
            candidates=16,
            raters=8,
            crowd=8,
            groups=(0.625, 0.375),
            location=3.8,
            prompt_spread=0.3,
            candidate_spread=0.4,
            taste=0.3,
            severity=0.4,
            noise=0.6,
            uneven=0.2,
            low=1.0,
            high=5.0,
            step=1.0,
        ),
        ProxyRecipe(error=0.3, spread=0.3, uneven=0.5, tracking=0.5),
    ),
}


def two_minds(
    prompts: int = 40, candidates: int = 8, raters: int = 9, polarising: float = 0.3
) -> Recipe:
    """Two groups of people who rate everything from 0 to 10, and answers that divide them."""
    return Recipe(
        prompts=prompts,
        candidates=candidates,
        raters=raters,
        crowd=raters,
        groups=(0.7, 0.3),
        location=6.2,
        prompt_spread=0.0,
        candidate_spread=0.8,
        polarising=polarising,
        gap=4.0,
        lure=0.5,
        noise=0.7,
        severity=0.3,
        step=1.0,
    )
