"""`darc rules`, `darc scorers`, `darc rewriters`, `darc generators`: what can be named."""

import json
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from darc.cli.parser import Parser

if TYPE_CHECKING:
    from darc.decide.rule import Rule
    from darc.registry import Maker


def add(parser: Parser) -> None:
    """Add the options."""
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(arguments: Namespace) -> None:
    """Print how each is written, what it is, its options, and the side inputs of rules."""
    import darc.decide.rules
    import darc.parts.generators
    import darc.parts.rewriters
    import darc.parts.scorers  # noqa: F401
    from darc.decide.registry import rules
    from darc.registry import generators, rewriters, scorers

    registries: dict[str, Any] = {
        "rules": rules,
        "generators": generators,
        "rewriters": rewriters,
        "scorers": scorers,
    }
    known = registries[arguments.command]
    for name in known:
        row, form, more = (_rule if arguments.command == "rules" else _maker)(known.get(name))
        if arguments.json:
            print(json.dumps(row, default=str))
        else:
            print(form, *(f"    {line}" for line in (row["summary"], more) if line), sep="\n")


def _rule(rule: "Rule") -> tuple[dict[str, Any], str, str]:
    row = {
        "name": rule.name,
        "summary": rule.summary,
        "parameters": rule.defaults,
        "needs": list(rule.required()),
        "lazy": rule.plan is not None,
    }
    given = ", ".join(f"{key}={value}" for key, value in rule.defaults.items())
    needs = f"needs: {', '.join(rule.required())}" if rule.required() else ""
    return row, f"{rule.name}({given})" if given else rule.name, needs


def _maker(maker: "Maker") -> tuple[dict[str, Any], str, str]:
    row = {"name": maker.name, "form": maker.form, "summary": maker.summary}
    options = ", ".join(f"{key}={value}" for key, value in maker.options.items())
    return {**row, "options": maker.options}, maker.form, options
