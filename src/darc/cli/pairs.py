"""`darc pairs`: preference pairs from ratings or from a run."""

import json
from argparse import Namespace
from pathlib import Path

from darc.cli.output import print_json, say
from darc.cli.parser import Parser


def add(parser: Parser) -> None:
    """Add the options."""
    from darc.cli.options import add_options
    from darc.train.pairs import PairChoosing

    parser.add_argument("source", type=Path, help="a file of ratings, or a folder of darc run")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSON lines")
    parser.add_argument("--texts", type=Path, metavar="FILE", help="the candidates' texts")
    add_options(parser, PairChoosing)
    parser.add_argument("--json", action="store_true", help="the counts as one JSON object")


def run(arguments: Namespace) -> None:
    """Read, pair, write, count."""
    from darc.analysis.reading import load_ratings
    from darc.cli.options import options_of
    from darc.errors import InputError
    from darc.files import atomic_writer
    from darc.settings.validation import validate_settings
    from darc.train.pairs import PairChoosing, make_pairs

    choosing = validate_settings(PairChoosing, options_of(arguments, PairChoosing))
    source = load_ratings(arguments.source, arguments.texts)
    if not source.texts or not any(source.questions):
        raise InputError(
            f"{arguments.source} has no texts", "give them in a file after --texts; see --help"
        )
    tally = dict.fromkeys(("pairs", "prompts", "contentious", "without"), 0)
    with atomic_writer(arguments.out) as file:
        for row in make_pairs(source.samples, source.questions, source.texts, choosing, tally):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        if not tally["pairs"]:
            raise InputError("no two candidates make a pair", "lower --margin or --agreement")
    if arguments.json:
        print_json(tally)
    else:
        print(f"{tally['pairs']} pairs of {tally['prompts']} prompts; {tally['without']} have none")
        fate = {"keep": "kept", "drop": "dropped", "soft": "kept with soft labels"}
        print(f"{tally['contentious']} contentious pairs were {fate[arguments.contentious]}")
    say(f"wrote {arguments.out}")
