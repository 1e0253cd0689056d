"""`darc cache`: the scores that are kept for later runs."""

import argparse
import json
from typing import Any

from darc.cli.parser import add_general


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(name)
    parser.add_argument("--clear", action="store_true", help="forget all scores")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    add_general(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the place and how much is there."""
    from darc.engine.scoring import ScoreCache

    with ScoreCache() as cache:
        if arguments.clear:
            cache.clear()
        size = cache.path.stat().st_size if cache.path.exists() else 0
        row = {"path": str(cache.path), "scores": len(cache), "bytes": size}
    if arguments.json:
        print(json.dumps(row))
    else:
        print(f"{row['path']}: {row['scores']} scores, {size / 1e6:.1f} MB")
