"""What simulated people and the proxy that stands in for them are made of, and presets of both."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from darc.errors import InputError, UnknownName

LARGEST = 200_000_000
GROUPS = (0.7, 0.3)
FILE = Path(__file__).with_name("presets.toml")
# The settings that are whole numbers, with the least of each; and what others must lie in.
WHOLE = {"prompts": 1, "candidates": 1, "raters": 1, "crowd": 0, "scorers": 1, "rewrites": 0}
LIMITS = (
    ("be finite", -math.inf, math.inf, "location gap lure harm low high bias oddity"),
    ("be 0 or larger", 0, math.inf, "prompt_spread candidate_spread taste severity noise"),
    ("be 0 or larger", 0, math.inf, "uneven_prompts uneven step error spread"),
    ("lie in [0, 1]", 0, 1, "leaning polarising exploiting shared fooled fragility"),
    ("lie in [-1, 1]", -1, 1, "tracking"),
)


def _check(settings: Mapping[str, Any]) -> None:
    """Raise an `InputError` where a setting is outside its limits."""
    for name, least in WHOLE.items():
        value = settings.get(name, least)
        if int(value) != value or value < least:
            raise InputError(f"{name} must be a whole number of at least {least}, not {value}")
    for words, low, high, names in LIMITS:
        for name in names.split():
            value = settings.get(name, 0)
            if not low <= value <= high or math.isinf(value):
                raise InputError(f"{name} must {words}, not {value}")


@dataclass(frozen=True)
class Recipe:
    """People, prompts and candidates; all spreads are in points of the scale.

    A candidate's quality is `location` + a prompt's effect (deviation `prompt_spread`) + its own
    (`candidate_spread`). People belong to groups of the shares `groups`; each group has a taste of
    deviation `taste` in every candidate, each person a severity of deviation `severity`. A rating
    carries noise of the scale `noise`, Student's t with `df` degrees of freedom (inf: normal), and
    that scale varies between prompts and candidates by factors exp(`uneven_prompts` z) and
    exp(`uneven` z); `leaning` is the correlation of one rater's noise over the candidates of a
    prompt. A share `polarising` of the candidates is worth `gap` less to the last group
    than to the others, around a mean raised by `lure`. A share `exploiting` has a feature of
    exponential size that costs people `harm` a unit, and that a proxy may like. Ratings are clipped
    to [`low`, `high`] and rounded to a multiple of `step` above `low` (0: not rounded), and a share
    `missing` of them is left out. The raters of a prompt are drawn from a `crowd` of people: as
    many as `raters` means that the same ones rate all prompts, 0 that every prompt has its own.
    """

    prompts: int = 500
    candidates: int = 5
    raters: int = 5
    crowd: int = 0
    groups: tuple[float, ...] = GROUPS
    location: float = 7.0
    prompt_spread: float = 0.8
    candidate_spread: float = 0.5
    taste: float = 0.0
    severity: float = 0.2
    noise: float = 0.5
    df: float = math.inf
    uneven_prompts: float = 0.0
    uneven: float = 0.0
    leaning: float = 0.0
    polarising: float = 0.0
    gap: float = 0.0
    lure: float = 0.0
    exploiting: float = 0.0
    harm: float = 0.0
    low: float = 0.0
    high: float = 10.0
    step: float = 0.5
    missing: float = 0.0

    def __post_init__(self) -> None:
        _check(vars(self))
        size = self.prompts * self.candidates * max(self.raters, len(self.groups) * 20)
        if size > LARGEST or self.crowd * self.prompts > LARGEST:
            raise InputError(
                f"{self.prompts} prompts of {self.candidates} candidates and {self.raters} raters "
                "are too many",
                f"keep prompts * candidates * raters below {LARGEST:,}",
            )
        if 0 < self.crowd < self.raters:
            raise InputError(
                f"a crowd of {self.crowd} cannot give {self.raters} raters a prompt",
                "give a larger crowd, or 0 for other people in every prompt",
            )
        if not self.groups or any(not 0 < share <= 1 for share in self.groups):
            raise InputError("groups must be shares above 0", "such as 0.7 0.3")
        if abs(sum(self.groups) - 1) > 1e-9:
            raise InputError(f"the groups' shares sum to {sum(self.groups):g}, not to 1")
        if not 0 <= self.missing < 1:
            raise InputError(f"missing must lie in [0, 1), not {self.missing}")
        if not self.df > 2:
            raise InputError(f"df must be above 2, not {self.df}", "inf makes the noise normal")
        if not self.low < self.high:
            raise InputError(f"the scale from {self.low:g} to {self.high:g} is empty")
        steps = (self.high - self.low) / self.step if self.step else 1.0
        if abs(steps - round(steps)) > 1e-9 or not 1 <= steps <= 10_000:
            raise InputError(
                f"steps of {self.step:g} do not fill the scale from {self.low:g} to {self.high:g}",
                "such as 1, 0.5, or 0 for no rounding",
            )


@dataclass(frozen=True)
class ProxyRecipe:
    """Scorers that guess what people think, from an answer and its rewrites.

    Every scorer sees a candidate's true mean with an error of deviation `error` that all rewrites
    have in common, a share `shared` of its variance in common with the other scorers. Its score of
    each of the `rewrites` + 1 texts varies by `spread`, times exp(`uneven` z), where z correlates
    by `tracking` with the logarithm of the candidate's true sigma. A share `fooled` of the scorers
    adds `bias` points a unit of the exploited feature; a rewrite removes a random part of that, up
    to `fragility`. Per token, the candidates' log-likelihood falls by `oddity` a unit of it.
    """

    scorers: int = 1
    rewrites: int = 8
    error: float = 0.4
    shared: float = 0.5
    spread: float = 0.5
    uneven: float = 0.6
    tracking: float = 0.8
    bias: float = 0.0
    fooled: float = 1.0
    fragility: float = 0.5
    oddity: float = 0.2

    def __post_init__(self) -> None:
        _check(vars(self))
        if self.scorers > 100 or self.rewrites > 10_000:
            raise InputError(
                f"{self.scorers} scorers of {self.rewrites} rewrites are too many",
                "at most 100 and 10000",
            )


@dataclass(frozen=True)
class Preset:
    """People and a proxy of them, with a sentence on what they are like."""

    summary: str
    people: Recipe
    proxy: ProxyRecipe

    def settings(self) -> dict[str, Any]:
        """All settings by name, those of the proxy after "proxy."."""
        theirs = {f"proxy.{name}": value for name, value in asdict(self.proxy).items()}
        return asdict(self.people) | theirs

    def changed(self, settings: Mapping[str, Any]) -> "Preset":
        """The preset with other settings, named as `settings` names them."""
        known = self.settings()
        given: dict[str, dict[str, Any]] = {"": {}, "proxy": {}}
        for name, value in settings.items():
            if name not in known:
                raise UnknownName("setting", name, known)
            usual = known[name]
            number = isinstance(value, int | float) and not isinstance(value, bool)
            whole = not isinstance(usual, int) or (number and float(value).is_integer())
            if not (isinstance(value, tuple) if isinstance(usual, tuple) else number and whole):
                words = " ".join(f"{x:g}" for x in (usual if isinstance(usual, tuple) else [usual]))
                raise InputError(f"{name} cannot be {value!r}", f"here it is {words} if not given")
            owner, _, own = name.rpartition(".")
            given[owner][own] = type(usual)(value)
        changed = replace(self.people, **given[""]), replace(self.proxy, **given["proxy"])
        return Preset(self.summary, *changed)


PRESETS = {
    name: Preset(
        found["summary"],
        Recipe(**found["people"] | {"groups": tuple(found["people"].get("groups", GROUPS))}),
        ProxyRecipe(**found["proxy"]),
    )
    for name, found in tomllib.loads(FILE.read_text(encoding="utf-8")).items()
}


def preset(name: str) -> Preset:
    """The preset of this name."""
    if name not in PRESETS:
        raise UnknownName("preset", name, PRESETS)
    return PRESETS[name]


def two_minds(
    prompts: int = 40, candidates: int = 8, raters: int = 9, polarising: float = 0.3
) -> Recipe:
    """Two groups of people who rate everything from 0 to 10, and answers that divide them."""
    people = PRESETS["polarised"].people
    own = replace(people, prompts=prompts, candidates=candidates, raters=raters, crowd=raters)
    return replace(own, polarising=polarising)
