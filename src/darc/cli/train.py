"""`darc train`: policies and preferences from pairs, and the model of atypical answers."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.parser import Parser, add_general

if TYPE_CHECKING:
    from darc.training.dpo import Trained

EPILOG = """\
examples:
  darc train cdpo --data pairs.jsonl --out policy --preset cpu-small --steps 5
  darc train rdpo --form unbiased --data pairs.jsonl --out policy --model owner/name
  darc run --prompts questions.jsonl --out run --generator transformers:policy
  darc train caution --data run --out caution.json
  darc train head pairs.jsonl --out head.npz"""

OPTIONS = (
    *("model", "dtype", "beta", "learning_rate", "epochs", "steps", "batch", "accumulation"),
    *("rank", "alpha", "dropout", "prompt_tokens", "response_tokens", "every", "seed"),
)


def add(commands: Any, name: str) -> None:
    """Add the command and what it can train."""
    from darc.cli.train_caution import add_caution
    from darc.cli.train_head import add_head

    parser = commands.add_parser(name, epilog=EPILOG)
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True, parser_class=Parser)
    told = {
        "dpo": "plain DPO, to compare with",
        "cdpo": "DPO with label smoothing",
        "rdpo": "robust DPO, in two forms",
    }
    for kind, text in told.items():
        _add_policy(kinds.add_parser(kind, help=text, epilog=EPILOG), kind)
    add_caution(kinds)
    add_head(kinds)
    listed = kinds.add_parser("presets", help="print the presets: base model, data, every number")
    listed.add_argument("--json", action="store_true", help="one JSON object a line")
    add_general(listed)
    listed.set_defaults(run=run_presets)


def _add_policy(parser: argparse.ArgumentParser, kind: str) -> None:
    from darc.config import add_options
    from darc.training.recipe import NOISE, PRESETS, TrainingRecipe

    parser.add_argument(
        "--data", required=True, metavar="FILE", help=".jsonl, .parquet, or OWNER/NAME of the hub"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    if kind == "rdpo":
        parser.add_argument(
            "--form",
            default="sup",
            choices=("sup", "unbiased"),
            help="the worst case over smoothing, or unbiased under flips (default: sup)",
        )
    if kind != "dpo":
        parser.add_argument(
            "--noise",
            type=float,
            default=NOISE,
            help=f"share of wrong labels, below 0.5 (default: {NOISE:g})",
        )
    parser.add_argument(
        "--preset",
        default="paper",
        choices=tuple(PRESETS),
        help="paper: QLoRA of meta-llama/Llama-3.1-8B-Instruct on a GPU; cpu-small: the embedded "
        "model here; see darc train presets (default: paper)",
    )
    add_options(parser, TrainingRecipe, *OPTIONS, unset="the preset's")
    parser.add_argument(
        "--held-out", type=float, default=0.1, help="share of prompts kept apart (default: 0.1)"
    )
    parser.add_argument("--json", action="store_true", help="what came out as one JSON object")
    add_general(parser)
    parser.set_defaults(run=run_policy, loss=kind, interrupted="go on with the same command")


def run_presets(arguments: argparse.Namespace) -> None:
    """Print what each preset stands for."""
    from darc.training.recipe import DATA, PRESETS

    for name, recipe in PRESETS.items():
        settings = {**recipe.plain(), "data": DATA[name]}
        if arguments.json:
            print(json.dumps({"preset": name, **settings}))
            continue
        print(name)
        for key in ("model", "data"):
            print(f"    {key}: {settings.pop(key)}")
        print("    " + ", ".join(f"{key}={value}" for key, value in settings.items()))


def run_policy(arguments: argparse.Namespace) -> None:
    """Check, read, train, draw, tell."""
    from darc.cli.parser import progress
    from darc.training.dpo import check_training, train
    from darc.training.preferences import read_preferences, split
    from darc.training.recipe import Loss, preset

    form = arguments.form if arguments.loss == "rdpo" else arguments.loss
    loss = Loss(form) if form == "dpo" else Loss(form, arguments.noise)
    changes = {name: getattr(arguments, name) for name in OPTIONS}
    recipe = preset(arguments.preset).changed(**changes)
    check_training(recipe)
    rows, held_out = split(read_preferences(arguments.data), arguments.held_out, recipe.seed)
    with progress(f"training {form}", " steps") as report:
        done = train(rows, held_out, recipe, loss, arguments.out, report, _say)
    _draw(done, form)
    if arguments.json:
        print(json.dumps({**_plain(done), "form": form}))
    else:
        _print(done, form, len(rows), len(held_out))
    print(f"use it: --generator transformers:{done.path}", file=sys.stderr)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _draw(done: "Trained", form: str) -> None:
    from darc.errors import MissingExtra
    from darc.files import atomic_path
    from darc.training.dpo import curves, draw_curves
    from darc.views import save_figure

    path = done.path / "training.png"
    try:
        figure = draw_curves(curves(done.history), form)
    except MissingExtra as problem:
        _say(f"no picture was drawn: {problem}")
        return
    with atomic_path(path) as temporary:
        save_figure(figure, temporary)
    _say(f"drew {path}")


def _plain(done: "Trained") -> dict[str, Any]:
    return {
        "path": str(done.path),
        "steps": done.steps,
        "resumed_after": done.resumed,
        "before": done.before,
        "after": done.after,
    }


def _print(done: "Trained", form: str, pairs: int, held_out: int) -> None:
    from darc.views.text_table import text_table

    print(f"{form}: {done.steps} steps on {pairs} pairs, {held_out} held out")
    if done.before is not None and done.after is not None:
        rows: list[list[object]] = [
            [when, *(f"{numbers[name]:.4f}" for name in ("loss", "margin", "accuracy"))]
            for when, numbers in (("before", done.before), ("after", done.after))
        ]
        print(text_table(["held out", "loss", "margin", "accuracy"], rows))
