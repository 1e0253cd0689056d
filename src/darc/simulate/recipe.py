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
FILE = Path(__file__).parents[1] / "data" / "presets.toml"


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
        _whole(self, prompts=1, candidates=1, raters=1, crowd=0)
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
        _between(self, -math.inf, math.inf, "location gap lure harm low high")
        _between(self, 0, math.inf, "prompt_spread candidate_spread taste severity noise")
        _between(self, 0, math.inf, "uneven_prompts uneven step")
        _between(self, 0, 1, "leaning polarising exploiting")
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
        _whole(self, scorers=1, rewrites=0)
        if self.scorers > 100 or self.rewrites > 10_000:
            raise InputError(
                f"{self.scorers} scorers of {self.rewrites} rewrites are too many",
                "at most 100 and 10000",
            )
        _between(self, 0, math.inf, "error spread uneven")
        _between(self, 0, 1, "shared fooled fragility")
        _between(self, -math.inf, math.inf, "bias oddity")
        _between(self, -1, 1, "tracking")


def _whole(recipe: Recipe | ProxyRecipe, **least: int) -> None:
    for name, limit in least.items():
        value = getattr(recipe, name)
        if int(value) != value or value < limit:
            raise InputError(f"{name} must be a whole number of at least {limit}, not {value}")


def _between(recipe: Recipe | ProxyRecipe, low: float, high: float, names: str) -> None:
    words = f"lie in [{low}, {high}]"
    if math.isinf(high):
        words = "be finite" if math.isinf(low) else f"be {low} or larger"
    for name in names.split():
        value = getattr(recipe, name)
        if not low <= value <= high or math.isinf(value):
            raise InputError(f"{name} must {words}, not {value}")


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
        known, given = self.settings(), {}
        for name, value in settings.items():
            if name not in known:
                raise UnknownName("setting", name, known)
            if not _fits(value, known[name]):
                numbers = known[name] if isinstance(known[name], tuple) else (known[name],)
                usual = " ".join(f"{number:g}" for number in numbers)
                raise InputError(f"{name} cannot be {value!r}", f"here it is {usual} if not given")
            given[name] = type(known[name])(value)
        theirs = {name[6:]: value for name, value in given.items() if name.startswith("proxy.")}
        own = {name: value for name, value in given.items() if not name.startswith("proxy.")}
        return Preset(self.summary, replace(self.people, **own), replace(self.proxy, **theirs))


def _fits(value: Any, default: Any) -> bool:
    if isinstance(default, tuple):
        return isinstance(value, tuple)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return not isinstance(default, int) or float(value).is_integer()


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
