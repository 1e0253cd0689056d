"""The registry of rules."""

from collections.abc import Callable
from typing import Any

from darc.decide.rule import Choice, Rule
from darc.registry import Registry

# What decides where nobody names a rule.
DEFAULT_RULE = "auto"
BEST_OF_K = dict.fromkeys(("best-of-k", "best-of-n", "bok", "bon"), "mean")

rules: Registry[Rule] = Registry("rule", "darc.rules", Rule, BEST_OF_K)


def rule(name: str, **traits: Any) -> Callable[[Callable[..., Choice]], Rule]:
    """Decorator that makes and registers a `Rule` from a function; traits are its fields."""

    def decorate(function: Callable[..., Choice]) -> Rule:
        return rules.add(name, Rule(name, function, **traits))

    return decorate
