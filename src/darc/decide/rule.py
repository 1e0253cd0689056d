"""A selection rule: a function from pools to choices, with its parameters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from darc.decide.choice import Choice
from darc.decide.pools import Pools
from darc.decide.search.plans import Plan
from darc.decide.tuning_grid import Grid
from darc.errors import InputError, UnknownName
from darc.registry import keywords_of, summary_of

#: The names of side inputs, or a function that returns them for the parameters of a rule.
Needs = tuple[str, ...] | Callable[[Mapping[str, Any]], tuple[str, ...]]
#: A function that fits parameters to the first batch of prompts.
Calibrate = Callable[[Pools, Mapping[str, Any]], Mapping[str, Any]]

# What a method has besides the parameters of its rule; named in an error for an unknown one.
_COMMON_PARAMETERS = ("beta", "gamma", "normalize", "min_samples", "seed")


@dataclass(frozen=True)
class RuleInputs:
    """What a rule uses besides the samples."""

    #: Side inputs that it cannot do without.
    needs: Needs = ()
    #: Side inputs that it uses if they are there.
    takes: tuple[str, ...] = ()
    #: Whether it uses who gave a sample.
    raters: bool = False
    #: The fewest scorers that it makes sense with.
    min_scorers: int = 1


@dataclass(frozen=True)
class RuleWording:
    """How a rule's choice is explained. Texts are formatted with its parameters and facts."""

    #: Completes the sentence "it has ...".
    explanation: str = "the largest objective"
    #: Completes the sentence "it is ..." for a feasible set of one.
    alone: str = ""
    #: Takes the place of `explanation` where a flag is raised, by the name of the flag.
    instead: Mapping[str, str] = field(default_factory=dict)
    #: The statistic for which a rule that depends on beta passes over a candidate with the largest
    #: mean and value.
    weakness: str = "risk_premium"


@dataclass(frozen=True)
class Rule:
    """A named selection rule. The annotations of its parameters say which values they may have."""

    name: str
    #: Called as `function(pools, **parameters)`; its keyword-only arguments are the parameters.
    function: Callable[..., Choice]
    inputs: RuleInputs = RuleInputs()
    wording: RuleWording = RuleWording()
    #: Whether it depends on beta.
    by_value: bool = False
    #: Whether it allows for few samples itself, so that no candidate is left out for having few.
    allow_few_samples: bool = False
    #: Whether it is evaluated where no rule is named.
    evaluated_by_default: bool = True
    #: Parameters of which only one may be given.
    exclusive: tuple[str, ...] = ()
    #: Other names of parameters.
    aliases: Mapping[str, str] = field(default_factory=dict)
    #: Makes lazy search possible, None for a rule that needs every sample.
    plan: Plan | None = None
    #: The settings that `darc tune` tries, None for a rule that is not tuned.
    grid: Grid | None = None
    #: Returns parameters that are fitted once, on the first batch.
    calibrate: Calibrate | None = None
    #: The values of the parameters; those that are not given have their defaults.
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Complete the parameters with their defaults."""
        object.__setattr__(self, "parameters", {**self.defaults, **self.parameters})

    @property
    def summary(self) -> str:
        """The first line of the rule's docstring."""
        return summary_of(self.function)

    @property
    def defaults(self) -> Mapping[str, Any]:
        """The rule's own parameters and their defaults."""
        return keywords_of(self.function)

    @property
    def side_names(self) -> tuple[str, ...]:
        """Names of the side inputs that this rule, so bound, needs or can use."""
        return (*self.required(), *self.inputs.takes)

    def bind(self, **parameters: Any) -> "Rule":
        """Set some parameters.

        Args:
            **parameters: The values by name or alias.

        Raises:
            UnknownName: If the rule has no such parameter.
        """
        values = {self.aliases.get(name, name): value for name, value in parameters.items()}
        for name in values:
            if name not in self.defaults:
                all_names = [*self.defaults, *_COMMON_PARAMETERS]
                raise UnknownName("parameter", name, all_names, f" for rule {self.name!r}")
        return replace(self, parameters={**self.parameters, **values})

    def has_parameter(self, name: str) -> bool:
        """Whether the rule takes a parameter of this name or alias.

        Args:
            name: The name or alias.
        """
        return self.aliases.get(name, name) in self.defaults

    def fitted(self, pools: Pools) -> "Rule":
        """The same rule with what it learns from the pools, if it does.

        Args:
            pools: The pools that it learns from.
        """
        if self.calibrate is None:
            return self
        learnt = self.calibrate(pools, self.parameters)
        if not learnt:
            return self
        return self.bind(**learnt)

    def required(self) -> tuple[str, ...]:
        """Names of the side inputs that this rule, so bound, cannot do without."""
        if callable(self.inputs.needs):
            return self.inputs.needs(self.parameters)
        return self.inputs.needs

    def choose(self, pools: Pools) -> Choice:
        """Choose a candidate for each prompt.

        Args:
            pools: The samples of the prompts.

        Raises:
            InputError: If a side input is missing.
        """
        for name in self.required():
            if name not in pools.side:
                hint = f"give {name}=..., one row per candidate"
                if name == "dropout":
                    hint += " with a sample of each pass"
                raise InputError(f"rule {self.name!r} needs the side input {name!r}", hint)
        return self.function(pools, **self.parameters)
