"""`darc train head`: a linear preference fitted to your own pairs or ratings."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.parser import add_general

if TYPE_CHECKING:
    from darc.training.head import AnswerPair

DESCRIPTION = """\
Fit a small linear preference over embeddings to pairs of answers (JSON lines with prompt, chosen
and rejected, also .gz) or to a file of ratings with texts, in seconds and without torch. It is told
how often it is right about prompts that it was not fitted to, by cross-validation."""
EPILOG = """\
examples:
  darc train head pairs.jsonl --out head.npz
  darc train head ratings.csv --texts answers.jsonl --out head.npz
  darc ask "Why is the sky blue?" --answers a.jsonl --scorer relevance --scorer head:head.npz"""


def add_head(kinds: Any) -> None:
    """Add the kind to the parser of `darc train`."""
    parser = kinds.add_parser(
        "head", help="a preference of your own", description=DESCRIPTION, epilog=EPILOG
    )
    parser.add_argument("pairs", type=Path, metavar="PAIRS", help="pairs, or ratings with texts")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="ends in .npz")
    parser.add_argument("--texts", type=Path, metavar="FILE", help="the texts of rated candidates")
    parser.add_argument("--seed", type=int, default=0, help="of the division (default: 0)")
    parser.add_argument("--json", action="store_true", help="the report as one JSON object")
    add_general(parser)
    parser.set_defaults(run=run_head)


def run_head(arguments: argparse.Namespace) -> None:
    """Read, fit, write, tell."""
    from darc.errors import InputError
    from darc.scorers.head import write_preference
    from darc.training.head import fit_head

    out = arguments.out
    if out.suffix != ".npz":
        raise InputError(f"{out} does not end in .npz", "name a .npz file")
    if not out.parent.is_dir():
        raise InputError(f"there is no folder {out.parent}", "create it first")
    pairs = _pairs(arguments)
    model = fit_head(pairs, seed=arguments.seed, tell=lambda text: print(text, file=sys.stderr))
    write_preference(model, out)
    report = model.report
    if arguments.json:
        print(json.dumps(report))
    else:
        print(f"fitted to {report['pairs']} pairs of {report['prompts']} prompts")
        print(
            f"right about {report['accuracy']:.3f} of held-out pairs "
            f"(95 % interval {report['low']:.3f} to {report['high']:.3f}; 0.5 is chance)"
        )
    print(f"use it: --scorer head:{out}", file=sys.stderr)


def _pairs(arguments: argparse.Namespace) -> "list[AnswerPair]":
    from darc.errors import InputError
    from darc.training.head import has_pairs, rated_pairs, read_pairs

    if arguments.pairs.is_file() and has_pairs(arguments.pairs):
        return read_pairs(arguments.pairs)
    from darc.evaluation.reading import read_any

    source = read_any(arguments.pairs, arguments.texts)
    if not source.texts or not any(source.questions):
        raise InputError(
            f"{arguments.pairs} has neither pairs nor ratings with texts",
            "write prompt, chosen, rejected a line, or give the texts of ratings by --texts",
        )
    return rated_pairs(source.samples, source.questions, source.texts)
