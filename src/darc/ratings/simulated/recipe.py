"""What simulated people, and the proxy that stands in for them, are made of."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from darc.errors import InputError

#: The shares of two groups of people.
GROUPS = (0.7, 0.3)
# How many ratings may be simulated.
_LARGEST = 200_000_000
# The settings that are whole numbers, and the least that each may be.
_LEAST = {"prompts": 1, "candidates": 1, "raters": 1, "crowd": 0, "scorers": 1, "rewrites": 0}
_FINITE = ("location", "gap", "lure", "harm", "low", "high", "bias", "oddity")
_NOT_NEGATIVE = (
    "prompt_spread",
    "candidate_spread",
    "taste",
    "severity",
    "noise",
    "uneven_prompts",
    "uneven",
    "step",
    "error",
    "spread",
)
_SHARES = ("leaning", "polarising", "exploiting", "shared", "fooled", "fragility")
_CORRELATIONS = ("tracking",)


def _check_settings(settings: Mapping[str, Any]) -> None:
    """Raise an `InputError` where a setting is outside its limits."""
    for name, least in _LEAST.items():
        value = settings.get(name, least)
        if int(value) != value or value < least:
            raise InputError(f"{name} must be a whole number of at least {least}, not {value}")
    _check_range(settings, _FINITE, -math.inf, math.inf, "be finite")
    _check_range(settings, _NOT_NEGATIVE, 0, math.inf, "be 0 or larger")
    _check_range(settings, _SHARES, 0, 1, "lie in [0, 1]")
    _check_range(settings, _CORRELATIONS, -1, 1, "lie in [-1, 1]")


def _check_range(
    settings: Mapping[str, Any], names: tuple[str, ...], low: float, high: float, words: str
) -> None:
    for name in names:
        value = settings.get(name, 0)
        if not low <= value <= high or math.isinf(value):
            raise InputError(f"{name} must {words}, not {value}")


@dataclass(frozen=True)
class Recipe:
    """People, prompts and candidates; all spreads are in points of the scale.

    A candidate's quality is `location` plus an effect of its prompt plus one of its own.
    """

    #: The number of prompts, of candidates per prompt, and of raters per prompt.
    prompts: int = 500
    candidates: int = 5
    raters: int = 5
    #: How many people the raters of a prompt are drawn from: as many as `raters` means that the
    #: same ones rate all prompts, 0 that every prompt has its own.
    crowd: int = 0
    #: The shares of the groups that people belong to.
    groups: tuple[float, ...] = GROUPS
    #: The average quality.
    location: float = 7.0
    #: The deviation of the prompts' effects, and of the candidates' own.
    prompt_spread: float = 0.8
    candidate_spread: float = 0.5
    #: The deviation of each group's taste in every candidate.
    taste: float = 0.0
    #: The deviation of people's severities.
    severity: float = 0.2
    #: The scale of the noise of a rating, Student's t with `df` degrees of freedom (inf: normal).
    noise: float = 0.5
    df: float = math.inf
    #: The scale of the noise varies by exp(`uneven_prompts` z) between prompts and by
    #: exp(`uneven` z) between candidates.
    uneven_prompts: float = 0.0
    uneven: float = 0.0
    #: The correlation of one rater's noise over the candidates of a prompt.
    leaning: float = 0.0
    #: The share of candidates that divide the groups. They are worth `gap` less to the last group
    #: than to the others, around a mean raised by `lure`.
    polarising: float = 0.0
    gap: float = 0.0
    lure: float = 0.0
    #: The share of candidates with a feature of exponential size that costs people `harm` per
    #: unit, and that a proxy may like.
    exploiting: float = 0.0
    harm: float = 0.0
    #: The ends of the scale, to which ratings are clipped.
    low: float = 0.0
    high: float = 10.0
    #: Ratings are rounded to a multiple of this above `low` (0: not rounded).
    step: float = 0.5
    #: The share of ratings that are left out.
    missing: float = 0.0

    def __post_init__(self) -> None:
        _check_settings(vars(self))
        self._check_sizes()
        self._check_groups()
        if not 0 <= self.missing < 1:
            raise InputError(f"missing must lie in [0, 1), not {self.missing}")
        if not self.df > 2:
            raise InputError(f"df must be above 2, not {self.df}", "inf makes the noise normal")
        self._check_scale()

    def _check_sizes(self) -> None:
        size = self.prompts * self.candidates * max(self.raters, len(self.groups) * 20)
        if size > _LARGEST or self.crowd * self.prompts > _LARGEST:
            raise InputError(
                f"{self.prompts} prompts of {self.candidates} candidates and {self.raters} raters "
                "are too many",
                f"keep prompts * candidates * raters below {_LARGEST:,}",
            )
        if 0 < self.crowd < self.raters:
            raise InputError(
                f"a crowd of {self.crowd} cannot give {self.raters} raters per prompt",
                "give a larger crowd, or 0 for other people in every prompt",
            )

    def _check_groups(self) -> None:
        if not self.groups or any(not 0 < share <= 1 for share in self.groups):
            raise InputError("groups must be shares above 0", "such as 0.7 0.3")
        if abs(sum(self.groups) - 1) > 1e-9:
            raise InputError(f"the groups' shares sum to {sum(self.groups):g}, not to 1")

    def _check_scale(self) -> None:
        if not self.low < self.high:
            raise InputError(f"the scale from {self.low:g} to {self.high:g} is empty")
        if not self.step:
            return
        steps = (self.high - self.low) / self.step
        if abs(steps - round(steps)) > 1e-9 or not 1 <= steps <= 10_000:
            raise InputError(
                f"steps of {self.step:g} do not fill the scale from {self.low:g} to {self.high:g}",
                "such as 1, 0.5, or 0 for no rounding",
            )


@dataclass(frozen=True)
class ProxyRecipe:
    """Scorers that guess what people think, from an answer and its rewrites.

    Every scorer sees a candidate's true mean with an error that all rewrites have in common.
    """

    #: The number of scorers, and of rewrites per candidate.
    scorers: int = 1
    rewrites: int = 8
    #: The deviation of a scorer's error.
    error: float = 0.4
    #: The share of its variance that the error has in common with the other scorers.
    shared: float = 0.5
    #: The score of each text varies by this, times exp(`uneven` z).
    spread: float = 0.5
    uneven: float = 0.6
    #: The correlation of that z with the logarithm of the candidate's true sigma.
    tracking: float = 0.8
    #: How many points a fooled scorer adds per unit of the exploited feature.
    bias: float = 0.0
    #: The share of the scorers that are fooled.
    fooled: float = 1.0
    #: A rewrite removes a random part of the bias, up to this share.
    fragility: float = 0.5
    #: By how much the log-likelihood per token falls per unit of the exploited feature.
    oddity: float = 0.2

    def __post_init__(self) -> None:
        _check_settings(vars(self))
        if self.scorers > 100 or self.rewrites > 10_000:
            raise InputError(
                f"{self.scorers} scorers of {self.rewrites} rewrites are too many",
                "at most 100 and 10000",
            )
