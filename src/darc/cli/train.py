"""`darc train`: policies from preference pairs, a preference, the model of atypical answers."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from darc.cli.output import draw, print_json, print_table, progress, say
from darc.cli.parser import Parser, texts_of
from darc.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from darc.parts.scorers.caution_models import CautionModel

POLICIES = {
    "dpo": "plain DPO, to compare with",
    "cdpo": "DPO with label smoothing",
    "rdpo": "robust DPO, in two forms",
}


def add(parser: Parser) -> None:
    """Add what it can train."""
    kinds = parser.add_actions("kind")
    for kind, text in POLICIES.items():
        _add_policy(kinds.add_parser(kind, help=text, **texts_of("train")), kind)
    texts = texts_of("train caution")
    _add_caution(kinds.add_parser("caution", help="a model of atypical answers", **texts))
    texts = texts_of("train head")
    _add_head(kinds.add_parser("head", help="a preference of your own", **texts))
    listed = kinds.add_parser("presets", help="print the presets: base model, data, every number")
    listed.add_argument("--json", action="store_true", help="one JSON object a line")
    listed.set_defaults(run=run_presets)


def _add_policy(parser: Parser, kind: str) -> None:
    from darc.cli.options import add_options
    from darc.train.losses import NOISE
    from darc.train.recipe import OPTIONS, PRESETS, TrainingRecipe

    parser.add_argument(
        "--data", required=True, metavar="FILE", help=".jsonl, .parquet, or OWNER/NAME of the hub"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    if kind == "rdpo":
        parser.add_argument(
            "--form",
            default="sup",
            choices=("sup", "unbiased"),
            help="the worst case over smoothing, or unbiased under flips",
        )
    if kind != "dpo":
        parser.add_argument(
            "--noise", type=float, default=NOISE, help="share of wrong labels, below 0.5"
        )
    parser.add_argument(
        "--preset",
        default="paper",
        choices=tuple(PRESETS),
        help="paper: QLoRA of meta-llama/Llama-3.1-8B-Instruct on a GPU; cpu-small: the embedded "
        "model here; see darc train presets",
    )
    add_options(parser, TrainingRecipe, *OPTIONS, unset="the preset's")
    parser.add_argument("--held-out", type=float, default=0.1, help="share of prompts kept apart")
    parser.add_argument("--json", action="store_true", help="what came out as one JSON object")
    parser.set_defaults(run=run_policy, loss=kind, interrupted="go on with the same command")


def _add_caution(parser: Parser) -> None:
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
        "a transformer encoder, into a folder",
    )
    parser.add_argument("--encoder", metavar="MODEL", help="for --form encoder")
    parser.add_argument(
        "--target", default="", metavar="MODEL", help="a reward model, for --form features"
    )
    parser.add_argument("--epochs", type=int, default=5, help="at most, for --form encoder")
    parser.add_argument("--seed", type=int, default=7, help="of splits and negatives")
    parser.add_argument("--json", action="store_true", help="the report as one JSON object")
    parser.set_defaults(run=run_caution)


def _add_head(parser: Parser) -> None:
    parser.add_argument("pairs", type=Path, metavar="PAIRS", help="pairs, or ratings with texts")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="ends in .npz")
    parser.add_argument("--texts", type=Path, metavar="FILE", help="the texts of rated candidates")
    parser.add_argument("--seed", type=int, default=0, help="of the division")
    parser.add_argument("--json", action="store_true", help="the report as one JSON object")
    parser.set_defaults(run=run_head)


def run_presets(arguments: Namespace) -> None:
    """Print what each preset stands for."""
    from darc.train.recipe import DATA, PRESETS

    for name, recipe in PRESETS.items():
        settings = {**recipe.model_dump(), "data": DATA[name]}
        if arguments.json:
            print_json({"preset": name, **settings})
            continue
        print(name)
        for key in ("model", "data"):
            print(f"    {key}: {settings.pop(key)}")
        print("    " + ", ".join(f"{key}={value}" for key, value in settings.items()))


def run_policy(arguments: Namespace) -> None:
    """Check, read, train, draw, tell."""
    from darc.train.curves import draw_curves
    from darc.train.dpo import train
    from darc.train.losses import Loss
    from darc.train.machine import check_training
    from darc.train.preferences import read_preferences, split
    from darc.train.recipe import OPTIONS, PRESETS

    form = arguments.form if arguments.loss == "rdpo" else arguments.loss
    loss = Loss(form) if form == "dpo" else Loss(form, arguments.noise)
    changes = {name: getattr(arguments, name) for name in OPTIONS}
    recipe = PRESETS[arguments.preset].changed(**changes)
    check_training(recipe)
    rows, held_out = split(read_preferences(arguments.data), arguments.held_out, recipe.seed)
    with progress(f"training {form}", " steps") as report:
        done = train(rows, held_out, recipe, loss, arguments.out, report, say)
    try:
        draw(done.path / "training.png", lambda: draw_curves(done.history, form), "drew")
    except MissingExtra as problem:
        say(f"no picture was drawn: {problem}")
    if arguments.json:
        told = {"path": str(done.path), "steps": done.steps, "resumed_after": done.resumed}
        print_json({**told, "before": done.before, "after": done.after, "form": form})
    else:
        print(f"{form}: {done.steps} steps on {len(rows)} pairs, {len(held_out)} held out")
        if done.before is not None and done.after is not None:
            names = ("loss", "margin", "accuracy")
            table = [
                [when, *(f"{numbers[name]:.4f}" for name in names)]
                for when, numbers in (("before", done.before), ("after", done.after))
            ]
            print_table(["held out", *names], table)
    say(f"use it: --generator transformers:{done.path}")


def _check_out(path: Path, suffix: str) -> None:
    if path.suffix != suffix:
        raise InputError(f"{path} does not end in {suffix}", f"name a {suffix} file")
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent}", "create it first")


def run_caution(arguments: Namespace) -> None:
    """Read, fit, write, tell."""
    from darc.parts.scorers.caution_models import write_model
    from darc.train.caution import fit_classifier, fit_predictor
    from darc.train.caution_encoder import fit_encoder
    from darc.train.examples import read_examples

    encoder = arguments.form == "encoder"
    if encoder != (arguments.encoder is not None):
        raise InputError(
            "--encoder and --form encoder go together", "give both: --form encoder --encoder MODEL"
        )
    if arguments.target and arguments.form != "features":
        raise InputError("--target is for --form features", "leave it out")
    if not encoder:
        _check_out(arguments.out, ".json")
    elif arguments.out.is_file():
        raise InputError(f"{arguments.out} is a file", "give a folder")
    pairs, seed, out = read_examples(arguments.data), arguments.seed, arguments.out
    model: CautionModel
    if encoder:
        model = fit_encoder(
            pairs, arguments.encoder, out, seed=seed, epochs=arguments.epochs, tell=say
        )
    else:
        if arguments.form == "features":
            model = fit_predictor(pairs, seed, target=arguments.target, tell=say)
        else:
            model = fit_classifier(pairs, seed, tell=say)
        write_model(model, out)
    known = {kind: round(value, 4) for kind, value in model.report["auc"].items()}
    if arguments.json:
        print_json({**model.report, "auc": known, "form": model.form})
    else:
        print(f"{model.form}: {model.report['fitted']} typical answers fitted")
        print(f"AUC on {model.report['held_out']} held-out answers against negatives:")
        for kind, value in known.items():
            print(f"  {kind:12} {value:.3f}")
    say(f"use it: --rule caution --side atypicality=caution:{arguments.out}")


def run_head(arguments: Namespace) -> None:
    """Read, fit, write, tell."""
    from darc.parts.scorers.head import write_preference
    from darc.train.head import fit_head, read_pairs

    _check_out(arguments.out, ".npz")
    pairs = read_pairs(arguments.pairs, arguments.texts)
    model = fit_head(pairs, seed=arguments.seed, tell=say)
    write_preference(model, arguments.out)
    report = model.report
    if arguments.json:
        print_json(report)
    else:
        print(f"fitted to {report['pairs']} pairs of {report['prompts']} prompts")
        print(
            f"right about {report['accuracy']:.3f} of held-out pairs "
            f"(95 % interval {report['low']:.3f} to {report['high']:.3f}; 0.5 is chance)"
        )
    say(f"use it: --scorer head:{arguments.out}")
