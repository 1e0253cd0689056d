"""`darc rules`, `darc scorers`, `darc rewriters` and `darc generators`: what can be named."""

import json
from typing import TYPE_CHECKING, Any

from darc.cli.commands import Command
from darc.settings.lists import ListSettings

if TYPE_CHECKING:
    from darc.decide.rule import Rule
    from darc.registry import Maker, Makers


def list_rules(settings: ListSettings) -> None:
    """Print every rule with its parameters and the side inputs that it needs."""
    import darc.decide.rules  # noqa: F401  (registers the rules)
    from darc.decide.registry import rules

    for name in rules:
        rule = rules.get(name)
        if settings.as_json:
            print(json.dumps(_rule_fields(rule), default=str))
        else:
            _print_entry(_rule_form(rule), rule.summary, _rule_needs(rule))


def list_generators(settings: ListSettings) -> None:
    """Print every generator with its options."""
    import darc.parts.generators  # noqa: F401  (registers the generators)
    from darc.registry import generators

    _list_makers(generators, settings)


def list_rewriters(settings: ListSettings) -> None:
    """Print every rewriter with its options."""
    import darc.parts.rewriters  # noqa: F401  (registers the rewriters)
    from darc.registry import rewriters

    _list_makers(rewriters, settings)


def list_scorers(settings: ListSettings) -> None:
    """Print every scorer with its options."""
    import darc.parts.scorers  # noqa: F401  (registers the scorers)
    from darc.registry import scorers

    _list_makers(scorers, settings)


def _rule_fields(rule: "Rule") -> dict[str, Any]:
    """What is known about a rule, for JSON."""
    return {
        "name": rule.name,
        "summary": rule.summary,
        "parameters": rule.defaults,
        "needs": list(rule.required()),
        "lazy": rule.plan is not None,
    }


def _rule_form(rule: "Rule") -> str:
    """The name of a rule with its parameters and their defaults."""
    parameters = ", ".join(f"{name}={value}" for name, value in rule.defaults.items())
    if not parameters:
        return rule.name
    return f"{rule.name}({parameters})"


def _rule_needs(rule: "Rule") -> str:
    """Which side inputs a rule needs."""
    if not rule.required():
        return ""
    return f"needs: {', '.join(rule.required())}"


def _list_makers(makers: "Makers", settings: ListSettings) -> None:
    """Print how every part of one kind is written, what it is, and its options."""
    for name in makers:
        maker: Maker = makers.get(name)
        if settings.as_json:
            fields = {
                "name": maker.name,
                "form": maker.form,
                "summary": maker.summary,
                "options": maker.options,
            }
            print(json.dumps(fields, default=str))
        else:
            options = ", ".join(f"{key}={value}" for key, value in maker.options.items())
            _print_entry(maker.form, maker.summary, options)


def _print_entry(form: str, *lines: str) -> None:
    """Print how something is written, and below it what there is to say about it."""
    print(form)
    for line in lines:
        if line:
            print(f"    {line}")


COMMANDS = {
    "rules": Command(ListSettings, list_rules),
    "generators": Command(ListSettings, list_generators),
    "rewriters": Command(ListSettings, list_rewriters),
    "scorers": Command(ListSettings, list_scorers),
}
