"""A rule: a function from pools to choices, with its parameters bound and its tuning grid."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from darc.decide.pools import Pools
from darc.errors import InputError, UnknownName
from darc.registry import keywords_of, summary_of
from darc.typing import Array, Integers, Mask

Knob = float | str
Variants = list[dict[str, Knob]]
Grid = Callable[["Scale", str], Variants]

BETAS, STRENGTHS = {"coarse": 8, "fine": 45}, {"coarse": 9, "fine": 66}


@dataclass(frozen=True)
class Scale:
    """What the grids are scaled by.

    `unit` is the typical deviation of a prompt's samples in the units the rules see, `candidates`
    the largest K, `spreads` the typical deviation of each side input within a prompt. Units and
    spreads are rounded to 1, 2 or 5 times a power of ten, so that they hardly depend on the data.
    """

    unit: float
    candidates: int
    spreads: tuple[tuple[str, float], ...] = ()

    def spread(self, name: str) -> float:
        """The spread of a side input, 1 where it is not known."""
        return dict(self.spreads).get(name, 1.0)


def steps(low: float, high: float, count: int, unit: float = 1.0) -> list[float]:
    """0 and `count` numbers from low to high in equal ratios, times the unit, in few digits."""
    digits = 1 if count < 20 else 2
    found = (float(f"{step:.{digits}e}") for step in np.geomspace(low, high, count))
    return [0.0, *(float(f"{step * unit:.5g}") for step in found)]


def knob(name: str, low: float, high: float, power: int = 0, per: str = "") -> Grid:
    """A grid of one parameter: 0, then low to high in equal ratios, the mildest first.

    They are times the samples' unit to this power, and over the spread of the side input `per`.
    """

    def variants(scale: Scale, size: str) -> Variants:
        unit = scale.unit**power / (scale.spread(per) if per else 1.0)
        return [{name: v} for v in steps(low, high, STRENGTHS[size], unit)]

    return variants


def no_knobs(scale: Scale, size: str) -> Variants:
    """The rule as it is, or under every beta where it depends on beta."""
    return [{}]


if TYPE_CHECKING:
    from darc.decide.search.plans import Plan


@dataclass(frozen=True)
class Choice:
    """A rule's choices for P prompts.

    `objective` (P, K) is what the rule compared, larger being better, NaN where undefined;
    `feasible` (P, K) is the set it chose from; `flags` names conditions (P,) that a user must hear
    of; `facts` are numbers or texts (P,) for the explanation, such as the threshold used.
    """

    index: Integers
    objective: Array
    feasible: Mask
    flags: Mapping[str, Mask] = field(default_factory=dict)
    facts: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def one(self, position: int) -> "Choice":
        """The choice for one prompt, as a batch of one."""
        part = slice(position, position + 1)
        arrays = self.index[part], self.objective[part], self.feasible[part]
        told = ({name: each[part] for name, each in d.items()} for d in (self.flags, self.facts))
        return Choice(*arrays, *told)


def pick(keys: Sequence[Array], among: Mask, tolerance: Array) -> Integers:
    """Index (P,) of the candidate that is best by the first key, ties by the next, then the lowest.

    Keys are (P, K), larger is better, NaN is worst. Two candidates tie when they differ by no more
    than the larger of their two tolerances (P, K).
    """
    left = among
    rows = np.arange(len(among))
    for key in keys:
        ranked = np.where(left & ~np.isnan(key), key, -np.inf)
        top = ranked.argmax(axis=1)
        best = ranked[rows, top][:, None]
        slack = np.maximum(tolerance, tolerance[rows, top][:, None])
        with np.errstate(invalid="ignore"):
            tied = left & (ranked >= best - slack)
        left = np.where(np.isneginf(best), left, tied)
    return left.argmax(axis=1)


def largest(
    pools: Pools,
    objective: Array,
    among: Mask | None = None,
    fallback: Array | None = None,
    flags: Mapping[str, Mask] | None = None,
    facts: Mapping[str, NDArray[Any]] | None = None,
) -> Choice:
    """The `Choice` with the largest objective, ties to the larger mean, then to the lower index.

    Where no candidate of `among` (default: the eligible ones) has a defined objective, as with a
    single sample and no sigma, `fallback` takes its place and the flag `no_sigma` is set.
    """
    feasible = pools.eligible if among is None else among
    raised = dict(flags or {})
    if fallback is not None:
        undefined = ~np.any(feasible & ~np.isnan(objective), axis=1)
        objective = np.where(undefined[:, None], fallback, objective)
        raised["no_sigma"] = undefined
    index = pick([objective, pools.statistics.mean], feasible, pools.tolerance)
    return Choice(index, objective, feasible, raised, facts or {})


Needs = tuple[str, ...] | Callable[[Mapping[str, Any]], tuple[str, ...]]


@dataclass(frozen=True)
class Rule:
    """A named selection rule.

    `function(pools, **parameters)` returns a `Choice`. `needs` names the side inputs it cannot do
    without (or is a function of the parameters), `takes` those it uses if they are there. `because`
    completes the sentence "it has ...", formatted with the parameters and facts, `instead` does so
    where a flag is raised, and `alone` the sentence "it is ..." for a feasible set of one.
    `plan` makes lazy search possible; `calibrate(pools, parameters)` returns parameters that are
    fitted once, on the first batch. `by_value` marks rules that depend on beta; `weakness` is the
    statistic for which such a rule passes over a candidate with the largest mean and value. `few`
    marks a rule that allows for few samples itself, so that none is left out for having few;
    `raters` one that wants to know who gave a sample, and `unasked` one that is evaluated beside
    the others where no rule is named. Of the parameters that are `exclusive` one may be given, and
    `aliases` maps other names of parameters to their own. How a parameter is annotated says what it
    may be, and so what services and pages offer. `grid` lists
    the settings that `darc tune` tries, None for a rule that is not tuned, and `scorers` the fewest
    that it makes sense with.
    """

    name: str
    function: Callable[..., Choice]
    needs: Needs = ()
    takes: tuple[str, ...] = ()
    because: str = "the largest objective"
    alone: str = ""
    instead: Mapping[str, str] = field(default_factory=dict)
    by_value: bool = False
    weakness: str = "risk_premium"
    plan: "Plan | None" = None
    few: bool = False
    exclusive: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    raters: bool = False
    unasked: bool = True
    grid: Grid | None = None
    scorers: int = 1
    calibrate: Callable[[Pools, Mapping[str, Any]], Mapping[str, Any]] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """The first line of the rule's docstring."""
        return summary_of(self.function)

    @property
    def defaults(self) -> dict[str, Any]:
        """The rule's own parameters and their defaults."""
        return dict(keywords_of(self.function))

    def bind(self, **parameters: Any) -> "Rule":
        """The same rule with some parameters set; an unknown one raises `UnknownName`."""
        known = self.defaults
        parameters = {self.aliases.get(name, name): value for name, value in parameters.items()}
        for name in parameters:
            if name not in known:
                everything = [*known, "beta", "gamma", "normalize", "min_samples", "seed"]
                raise UnknownName("parameter", name, everything, f" for rule {self.name!r}")
        return replace(self, parameters={**known, **self.parameters, **parameters})

    def has_parameter(self, name: str) -> bool:
        """Whether the rule takes a parameter of this name or alias."""
        return self.aliases.get(name, name) in self.defaults

    def fitted(self, pools: Pools) -> "Rule":
        """The same rule with every parameter set, and what it learns from the pools."""
        bound = self.bind()
        if self.calibrate is None:
            return bound
        return bound.bind(**self.calibrate(pools, bound.parameters))

    def required(self) -> tuple[str, ...]:
        """Names of the side inputs that this rule, so bound, cannot do without."""
        if callable(self.needs):
            return self.needs({**self.defaults, **self.parameters})
        return self.needs

    @property
    def side_names(self) -> tuple[str, ...]:
        """Names of the side inputs that this rule, so bound, needs or can use."""
        return (*self.required(), *self.takes)

    def choose(self, pools: Pools) -> Choice:
        """The rule's `Choice` for the pools; a missing side input raises `InputError`."""
        for name in self.required():
            if name not in pools.side:
                raise InputError(
                    f"rule {self.name!r} needs the side input {name!r}",
                    f"give {name}=..., one row a candidate"
                    + (" with a sample of each pass" if name == "dropout" else ""),
                )
        return self.function(pools, **self.parameters)
