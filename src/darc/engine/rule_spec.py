"""Rules as users write them: a name, and after a colon some parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import darc.rules  # noqa: F401  (registers the rules)
from darc.errors import InputError
from darc.registry import rules
from darc.registry.names import parse_pairs
from darc.selection.rule import Rule

GENERAL = ("beta", "gamma")


@dataclass(frozen=True)
class RuleSpec:
    """A rule with its parameters, the beta and gamma it sees, and the label it was asked by."""

    label: str
    rule: Rule
    beta: float
    gamma: float


def parse_rules(
    texts: Sequence[str], shared: Mapping[str, Any], beta: float = 1.0, gamma: float = 1.0
) -> list[RuleSpec]:
    """The rules of texts such as "mean" or "epsilon:epsilon=0.5,beta=2".

    `shared` parameters go to each rule that takes them, and at least one must; a rule's own text
    wins over them.
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
        specs.append(RuleSpec(text, rule.bind(**{**taken, **own}), **general))
    for key in shared.keys() - used:
        names = ", ".join(spec.rule.name for spec in specs)
        takers = ", ".join(name for name in rules if key in rules.get(name).defaults)
        raise InputError(
            f"{key!r} is no parameter of {names}",
            f"it belongs to {takers}" if takers else "see: darc rules",
        )
    repeated = {spec.label for spec in specs if texts.count(spec.label) > 1}
    if repeated:
        raise InputError(f"rule {min(repeated)!r} is given twice", "give each rule once")
    return specs
