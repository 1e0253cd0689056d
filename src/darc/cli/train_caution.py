"""`darc train caution`: the model of atypical answers."""

import argparse
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.parser import add_general

if TYPE_CHECKING:
    from darc.scorers.base import Pair
    from darc.scorers.caution import Model

DESCRIPTION = """\
Fit a model that tells typical answers from atypical ones: answers to another prompt, cut off, with
their sentences shuffled, or with a strange sentence. It gives the rule `caution` its penalty."""
EPILOG = """\
examples:
  darc train caution --data run --out caution.json
  darc train caution --data answers.jsonl --out caution.json --form features
  darc run --prompts q.jsonl --out run --rule caution --side atypicality=caution:caution.json"""


def add_caution(kinds: Any) -> None:
    """Add the kind to the parser of `darc train`."""
    parser = kinds.add_parser(
        "caution", help="a model of atypical answers", description=DESCRIPTION, epilog=EPILOG
    )
    parser.add_argument(
        "--data",
        type=Path,
        required=True,
        metavar="SOURCE",
        help="a folder of darc run, or JSON lines with prompt and response",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="ends in .json")
    parser.add_argument(
        "--form",
        default="classifier",
        choices=("classifier", "features", "encoder"),
        help="a classifier of the embedded features; a prediction of features, whose error counts; "
        "a transformer encoder, into a folder (default: classifier)",
    )
    parser.add_argument("--encoder", metavar="MODEL", help="for --form encoder")
    parser.add_argument(
        "--target", default="", metavar="MODEL", help="a reward model, for --form features"
    )
    parser.add_argument(
        "--epochs", type=int, default=5, help="at most, for --form encoder (default: 5)"
    )
    parser.add_argument("--seed", type=int, default=7, help="of splits and negatives (default: 7)")
    parser.add_argument("--json", action="store_true", help="the report as one JSON object")
    add_general(parser)
    parser.set_defaults(run=run_caution)


def run_caution(arguments: argparse.Namespace) -> None:
    """Read, fit, write, tell."""
    from darc.training.caution.examples import read_examples

    _check(arguments)
    model = _fitted(arguments, read_examples(arguments.data))
    known = {k: None if math.isnan(v) else round(v, 4) for k, v in model.report["auc"].items()}
    if arguments.json:
        print(json.dumps({**model.report, "auc": known, "form": model.form}))
    else:
        print(f"{model.form}: {model.report['fitted']} typical answers fitted")
        print(f"AUC on {model.report['held_out']} held-out answers against negatives:")
        for kind, value in known.items():
            print(f"  {kind:12} {'-' if value is None else format(value, '.3f')}")
    print(f"use it: --rule caution --side atypicality=caution:{arguments.out}", file=sys.stderr)


def _fitted(arguments: argparse.Namespace, pairs: "list[Pair]") -> "Model":
    from darc.scorers.caution import write_model
    from darc.training.caution.train import fit_classifier, fit_predictor

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    if arguments.form == "encoder":
        from darc.training.caution.encoder import fit_encoder

        return fit_encoder(
            pairs,
            arguments.encoder,
            arguments.out,
            seed=arguments.seed,
            epochs=arguments.epochs,
            tell=say,
        )
    if arguments.form == "features":
        model: Model = fit_predictor(pairs, arguments.seed, target=arguments.target, tell=say)
    else:
        model = fit_classifier(pairs, arguments.seed, tell=say)
    write_model(model, arguments.out)
    return model


def _check(arguments: argparse.Namespace) -> None:
    from darc.errors import InputError

    encoder = arguments.form == "encoder"
    if encoder != (arguments.encoder is not None):
        raise InputError(
            "--encoder and --form encoder go together", "give both: --form encoder --encoder MODEL"
        )
    if arguments.target and arguments.form != "features":
        raise InputError("--target is for --form features", "leave it out")
    if not encoder and arguments.out.suffix != ".json":
        raise InputError(f"{arguments.out} does not end in .json", "name a .json file")
    if encoder and arguments.out.is_file():
        raise InputError(f"{arguments.out} is a file", "give a folder")
    if not encoder and not arguments.out.parent.is_dir():
        raise InputError(f"there is no folder {arguments.out.parent}", "create it first")
