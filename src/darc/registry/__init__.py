"""Names for rules, generators, rewriters and scorers, in the tree or in other packages."""

from collections.abc import Callable
from typing import Any

from darc.registry.names import Maker, Makers, Registry, parse_spec
from darc.selection.rule import Choice, Rule

# What decides where nobody names a rule.
DEFAULT_RULE = "auto"
BEST_OF_K = dict.fromkeys(("best-of-k", "best-of-n", "bok", "bon"), "mean")

rules: Registry[Rule] = Registry("rule", "darc.rules", Rule, BEST_OF_K)
generators = Makers("generator", "darc.generators")
rewriters = Makers("rewriter", "darc.rewriters")
scorers = Makers("scorer", "darc.scorers")

generator = generators.register
rewriter = rewriters.register
scorer = scorers.register


def rule(name: str, **traits: Any) -> Callable[[Callable[..., Choice]], Rule]:
    """Decorator that makes and registers a `Rule` from a function; traits are its fields."""

    def decorate(function: Callable[..., Choice]) -> Rule:
        return rules.add(name, Rule(name, function, **traits))

    return decorate


__all__ = [
    "DEFAULT_RULE",
    "Maker",
    "Makers",
    "Registry",
    "generator",
    "generators",
    "parse_spec",
    "rewriter",
    "rewriters",
    "rule",
    "rules",
    "scorer",
    "scorers",
]
