"""`darc show`: one decision of a run, with everything behind it."""

import argparse
import json
from pathlib import Path
from typing import Any

from darc.cli.choice import add_rule
from darc.cli.parser import add_general, calibrations_of


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(name)
    parser.add_argument("folder", type=Path, help="a folder made by darc run")
    parser.add_argument("prompt", help="the prompt's id")
    add_rule(parser, own=True)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--html", type=Path, metavar="FILE", help="a page with everything")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture (.png, .svg, .pdf)")
    add_general(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read the outcome and print it."""
    from darc.cli.print_outcome import page_of, picture_of, print_outcome
    from darc.engine.deciding import parse_rules
    from darc.runs.folder import RunFolder, deciding_of
    from darc.runs.replay import read_outcome
    from darc.views import check_picture

    if arguments.plot is not None:
        check_picture(arguments.plot)
    folder = RunFolder(arguments.folder)
    own = deciding_of(folder).spec
    beta = own.beta if arguments.beta is None else arguments.beta
    gamma = own.gamma if arguments.gamma is None else arguments.gamma
    given = calibrations_of(arguments)
    (spec,) = parse_rules([arguments.rule or own.label], {}, beta, gamma, given)
    outcome = read_outcome(folder, arguments.prompt, deciding_of(folder, spec))
    if arguments.html is not None:
        page_of(outcome, arguments.html)
    if arguments.plot is not None:
        picture_of(outcome, arguments.plot)
    if arguments.json:
        assert outcome.decision is not None
        data = {**outcome.decision.to_dict(), "answer": outcome.answer}
        print(json.dumps(data, ensure_ascii=False))
    else:
        print_outcome(outcome)
