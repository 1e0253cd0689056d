"""`darc cache`: the scores that are kept."""

from argparse import Namespace

from darc.cli.output import print_json
from darc.cli.parser import Parser


def add(parser: Parser) -> None:
    """Add the options."""
    parser.add_argument("--clear", action="store_true", help="forget all scores")
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(arguments: Namespace) -> None:
    """Print the place of the kept scores and how much is there."""
    from darc.engine.score_cache import ScoreCache

    with ScoreCache() as cache:
        if arguments.clear:
            cache.clear()
        size = cache.path.stat().st_size if cache.path.exists() else 0
        row = {"path": str(cache.path), "scores": len(cache), "bytes": size}
    if arguments.json:
        print_json(row)
    else:
        print(f"{row['path']}: {row['scores']} scores, {size / 1e6:.1f} MB")
