"""`darc rules`: what can be chosen by."""

import argparse
import json
from typing import Any

from darc.cli.parser import add_general


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(name)
    parser.add_argument("--json", action="store_true", help="one JSON object a rule and line")
    add_general(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print each rule's name, parameters, side inputs and summary."""
    import darc.rules  # noqa: F401
    from darc.registry import rules

    for name in rules:
        rule = rules.get(name)
        if arguments.json:
            row = {
                "name": name,
                "summary": rule.summary,
                "parameters": rule.defaults,
                "needs": list(rule.required()),
                "lazy": rule.plan is not None,
            }
            print(json.dumps(row))
            continue
        given = ", ".join(f"{key}={value}" for key, value in rule.defaults.items())
        print(f"{name}({given})" if given else name)
        print(f"    {rule.summary}")
        if rule.required():
            print(f"    needs: {', '.join(rule.required())}")
