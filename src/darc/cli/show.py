"""`darc show`: the whole story of one decision of a run."""

import argparse
from pathlib import Path
from typing import Any

from darc.cli.parser import add_general


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(name, help="tell the story of one prompt of a run")
    parser.add_argument("folder", type=Path, help="a folder made by darc run")
    parser.add_argument("prompt", help="the prompt's id")
    parser.add_argument(
        "--rule", default="epsilon", metavar="NAME[:KEY=VALUE,...]", help="default: epsilon"
    )
    parser.add_argument("--beta", type=float, default=1.0, help="risk aversion (default: 1)")
    parser.add_argument("--gamma", type=float, default=1.0, help="hedge over scorers (default: 1)")
    parser.add_argument("--html", type=Path, metavar="FILE", help="a page with everything")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture (.png, .svg, .pdf)")
    add_general(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read the story and tell it."""
    from darc.cli.told import page_of, picture_of, print_story
    from darc.pipeline.folder import RunFolder
    from darc.pipeline.rule_spec import parse_rules
    from darc.pipeline.run import read_story

    (spec,) = parse_rules([arguments.rule], {}, arguments.beta, arguments.gamma)
    folder = RunFolder(arguments.folder)
    seed = int(folder.manifest()["settings"]["sampling"]["seed"])
    story = read_story(folder, arguments.prompt, spec, seed)
    if arguments.html is not None:
        page_of(story, arguments.html)
    if arguments.plot is not None:
        picture_of(story, arguments.plot)
    print_story(story)
