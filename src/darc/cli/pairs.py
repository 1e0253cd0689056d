"""`darc pairs`: preference pairs from ratings or from a run."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from darc.cli.parser import add_general

DESCRIPTION = """\
Make preference pairs, prompt, chosen and rejected, of the candidates of a file of ratings or of a
run folder, for darc train and for any other trainer that reads TRL's format."""
EPILOG = """\
texts are JSON lines with prompt_id, candidate_id, prompt, response; they are found beside the
ratings as NAME.texts.jsonl(.gz)

examples:
  darc pairs run --out pairs.jsonl --by value
  darc pairs ratings.csv --out pairs.jsonl --margin 1 --contentious drop
  darc pairs ratings.csv --out pairs.jsonl --which all --contentious soft"""


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    from darc.config import add_options
    from darc.training.preferences import PairChoosing

    parser = commands.add_parser(name, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("source", type=Path, help="a file of ratings, or a folder of darc run")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSON lines")
    parser.add_argument("--texts", type=Path, metavar="FILE", help="the candidates' texts")
    add_options(parser, PairChoosing, *PairChoosing.model_fields)
    parser.add_argument("--json", action="store_true", help="the counts as one JSON object")
    add_general(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, pair, write, count."""
    from darc.config import made, options_of
    from darc.errors import InputError
    from darc.evaluation.reading import read_any
    from darc.files import atomic_writer
    from darc.training.preferences import PairChoosing, make_pairs, rows_of

    choosing = made(PairChoosing, options_of(arguments, PairChoosing))
    source = read_any(arguments.source, arguments.texts)
    if not source.texts or not any(source.questions):
        raise InputError(
            f"{arguments.source} has no texts", "give them in a file after --texts; see --help"
        )
    found = make_pairs(source.samples, choosing, source.texts)
    if not found.pairs:
        raise InputError("no two candidates make a pair", "lower --margin or --agreement")
    with atomic_writer(arguments.out) as file:
        for row in rows_of(found, source.questions, source.texts):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    told = {
        "pairs": len(found.pairs),
        "prompts": len({pair.prompt for pair in found.pairs}),
        "contentious": found.contentious,
        "without": found.without,
    }
    if arguments.json:
        print(json.dumps(told))
    else:
        print(f"{told['pairs']} pairs of {told['prompts']} prompts; {told['without']} have none")
        fate = {"keep": "kept", "drop": "dropped", "soft": "kept with soft labels"}
        print(f"{told['contentious']} contentious pairs were {fate[arguments.contentious]}")
    print(f"wrote {arguments.out}", file=sys.stderr)
