"""Rules as users write them: a name, and after a colon some parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import darc.rules  # noqa: F401  (registers the rules)
from darc.engine.calibrations import Calibrations
from darc.errors import InputError
from darc.registry import rules
from darc.registry.names import parse_pairs
from darc.selection.calibration import DEFAULT
from darc.selection.rule import Rule

GENERAL = ("beta", "gamma")
CALIBRATION = "calibration"


@dataclass(frozen=True)
class RuleSpec:
    """A rule with its parameters, the beta and gamma it sees, and the label it was asked by.

    `calibrations` are what it has learnt before, for a rule that learns.
    """

    label: str
    rule: Rule
    beta: float
    gamma: float
    calibrations: Calibrations | None = None

    @property
    def learns(self) -> bool:
        """Whether the rule takes a calibration."""
        return CALIBRATION in self.rule.defaults

    def calibrated(self, calibrations: Calibrations | None) -> "RuleSpec":
        """The same with these calibrations, if the rule takes any."""
        return replace(self, calibrations=calibrations) if self.learns else self

    def rule_for(self, scorers: Sequence[str]) -> Rule:
        """The rule with the calibrations of these scorers."""
        if self.calibrations is None:
            return self.rule
        return self.rule.bind(calibration=self.calibrations.of(scorers))


def as_spec(rule: str | RuleSpec, calibrations: Calibrations | None = None) -> RuleSpec:
    """The rule of a text, or the given one, with these calibrations if there are any."""
    if isinstance(rule, str):
        return parse_rules([rule], {}, calibrations=calibrations)[0]
    return rule if calibrations is None else rule.calibrated(calibrations)


def parse_rules(
    texts: Sequence[str],
    shared: Mapping[str, Any],
    beta: float = 1.0,
    gamma: float = 1.0,
    calibrations: Calibrations | None = None,
) -> list[RuleSpec]:
    """The rules of texts such as "mean" or "epsilon:epsilon=0.5,beta=2".

    `shared` parameters go to each rule that takes them, and at least one must; a rule's own text
    wins over them. So do `calibrations`, of which a text can give the default one only.
    """
    specs: list[RuleSpec] = []
    used: set[str] = set()
    for text in texts:
        name, _, rest = text.partition(":")
        rule = rules.get(name.strip())
        own = parse_pairs([part for part in rest.split(",") if part.strip()], f"rule {name!r}:")
        general = {"beta": beta, "gamma": gamma}
        general |= {key: own.pop(key) for key in GENERAL if key in own}
        taken = {key: value for key, value in shared.items() if key in rule.defaults}
        used |= taken.keys()
        if {**taken, **own}.get(CALIBRATION, DEFAULT.name) != DEFAULT.name:
            raise InputError(f"rule {name!r} is not calibrated so", "use --calibration FILE")
        bound = rule.bind(**{**taken, **own})
        spec = RuleSpec(text, bound, general["beta"], general["gamma"])
        specs.append(spec.calibrated(calibrations))
    for key in shared.keys() - used:
        names = ", ".join(spec.rule.name for spec in specs)
        takers = ", ".join(name for name in rules if key in rules.get(name).defaults)
        raise InputError(
            f"{key!r} is no parameter of {names}",
            f"it belongs to {takers}" if takers else "see: darc rules",
        )
    if calibrations is not None and not any(spec.learns for spec in specs):
        names = ", ".join(spec.rule.name for spec in specs)
        takers = ", ".join(name for name in rules if CALIBRATION in rules.get(name).defaults)
        raise InputError(f"{names} takes no calibration", f"leave it out, or use --rule {takers}")
    repeated = {spec.label for spec in specs if texts.count(spec.label) > 1}
    if repeated:
        raise InputError(f"rule {min(repeated)!r} is given twice", "give each rule once")
    return specs
