"""`darc tune`: choose a rule and its strengths on ratings or on a run."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.parser import (
    Parser,
    add_calibration,
    add_columns,
    add_general,
    calibrations_of,
    columns_of,
)
from darc.files import jsonable

if TYPE_CHECKING:
    from darc.tuning.advice import Advice
    from darc.tuning.tune import Tuned

RULE_FORM = "NAME[:KEY=VALUE,...]"

DESCRIPTION = """\
Choose a rule and its strengths on a file of ratings or on a run folder. Half of the samples of each
candidate select, the other half judge; the setting for a fold of prompts is chosen on the others,
so that the gain over Best-of-K that is shown is not the tuned one. Where no setting gains beyond
noise, the rule auto is recommended, which then stays near Best-of-K."""
EPILOG = """\
objectives:
  tradeoff  mean - L sigma, averaged over prompts (default, where a half has a sigma to judge by)
  cvar      the mean of the lowest tenth of prompts
  mean      the mean (default otherwise); with --risk-cap, among settings whose average sigma
            keeps it

examples:
  darc tune ratings.csv
  darc tune ratings.csv --rule epsilon --grid fine --plot surface.png --out settings.toml
  darc select more.csv --config settings.toml"""


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(name, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("source", type=Path, help="file of ratings, or folder made by darc run")
    parser.add_argument("--objective", choices=("tradeoff", "cvar", "mean"), help="see below")
    parser.add_argument(
        "--lambda",
        dest="lam",
        type=float,
        metavar="L",
        help="weight of sigma in the tradeoff (default: 2)",
    )
    parser.add_argument(
        "--risk-cap", type=float, metavar="SIGMA", help="largest average sigma, with mean"
    )
    parser.add_argument(
        "--rule", action="append", metavar="NAME", help="tune this rule only (repeat for several)"
    )
    parser.add_argument(
        "--grid", default="coarse", choices=("coarse", "fine"), help="default: coarse"
    )
    parser.add_argument("--folds", type=int, default=5, help="of prompts (default: 5)")
    parser.add_argument(
        "--repeats", type=int, default=10, help="splits of the samples into halves (default: 10)"
    )
    parser.add_argument(
        "--split", default="auto", choices=("auto", "rater", "sample"), help="default: auto"
    )
    parser.add_argument("--seed", type=int, default=0, help="of folds and splits (default: 0)")
    add_calibration(parser)
    add_columns(parser)
    output = parser.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="one JSON object")
    output.add_argument("--out", type=Path, metavar="FILE", help="settings as TOML, for --config")
    output.add_argument("--plot", type=Path, metavar="FILE", help="the surface (.png, .svg, .pdf)")
    add_general(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, tune, tell."""
    from darc.cli.parser import progress
    from darc.evaluation.calibrating import leak
    from darc.evaluation.reading import read_any
    from darc.tables.write import atomic_path, atomic_writer
    from darc.tuning.advice import recommend, settings_toml
    from darc.tuning.crossfit import Objective
    from darc.tuning.surface import draw_tuned
    from darc.tuning.tune import tune
    from darc.views import check_picture, save_figure

    if arguments.plot is not None:
        check_picture(arguments.plot)
    lam, cap = 2.0 if arguments.lam is None else arguments.lam, arguments.risk_cap
    objective = None
    if (arguments.objective, arguments.lam, cap) != (None, None, None):
        objective = Objective(arguments.objective or "tradeoff", lam, risk_cap=cap)
    source = read_any(arguments.source, None, columns_of(arguments), arguments.system)
    calibrations = calibrations_of(arguments)
    with progress("tuning", " settings") as report:
        tuned = tune(
            source,
            objective,
            rules=arguments.rule,
            size=arguments.grid,
            folds=arguments.folds,
            repeats=arguments.repeats,
            seed=arguments.seed,
            split=arguments.split,
            calibrations=calibrations,
            progress=report,
        )
    if said := leak(source, calibrations):
        print(f"warning: {said}", file=sys.stderr)
    advice = recommend(tuned)
    if arguments.json:
        print(json.dumps(as_json(tuned, advice), ensure_ascii=False, allow_nan=False))
    else:
        print_tuned(tuned, advice)
    sys.stdout.flush()
    if arguments.out is not None:
        with atomic_writer(arguments.out) as file:
            file.write(settings_toml(tuned, advice.setting, takers()))
        print(f"the settings are {arguments.out}", file=sys.stderr)
    if arguments.plot is not None:
        with atomic_path(arguments.plot) as temporary:
            save_figure(draw_tuned(advice), temporary)
        print(f"the picture is {arguments.plot}", file=sys.stderr)


def takers() -> dict[str, bool]:
    """The commands that take a rule with its parameters, and whether they take several."""
    from darc.cli import COMMANDS, add_command

    commands = Parser().add_subparsers(parser_class=Parser)
    for name in COMMANDS:
        add_command(commands, name)
    found = {}
    for name, parser in commands.choices.items():
        for action in parser._actions:
            if action.dest == "rule" and action.metavar == RULE_FORM:
                found[name] = isinstance(action, argparse._AppendAction)
    return found


def print_tuned(tuned: "Tuned", advice: "Advice") -> None:
    """The recommendation, what being wrong would cost, and the table behind them."""
    from darc.views.text_table import text_table

    print("\n".join([advice.headline, " ".join([advice.cost, *advice.notes])]), end="\n\n")
    print(
        f"{tuned.name}: {tuned.prompts} prompts, {tuned.tried} settings, {tuned.folds} folds, "
        f"{tuned.repeats} splits; gain in {tuned.objective.words} over Best-of-K's "
        f"{tuned.baseline:.3f}"
    )
    print()
    header = ["rule", "setting", "gain", "low", "high", "in sample", "mean change", "sigma"]
    numbers = ("gain", "low", "high", "in_sample", "mean", "sigma")
    rows: list[list[object]] = [
        [row.rule, row.setting.text.partition(":")[2], *(getattr(row, each) for each in numbers)]
        for row in tuned.rows
    ]
    rows.append(["mean", "", 0.0, 0.0, 0.0, 0.0, 0.0, tuned.sigma])
    print(text_table(header, rows))
    if tuned.not_tuned:
        told = "; ".join(f"{name} {reason}" for name, reason in tuned.not_tuned.items())
        print(f"not tuned: {told}")


def as_json(tuned: "Tuned", advice: "Advice") -> dict[str, Any]:
    """Everything that is printed, and the settings of the folds."""
    return {
        "source": tuned.name,
        "objective": vars(tuned.objective),
        "prompts": tuned.prompts,
        "left_out": tuned.left_out,
        "settings": tuned.tried,
        "folds": tuned.folds,
        "repeats": tuned.repeats,
        "seed": tuned.seed,
        "best_of_k": {"objective": tuned.baseline, "sigma": jsonable(tuned.sigma)},
        "rules": [
            row.as_json()
            | {
                "in_sample": row.in_sample,
                "optimism": row.optimism,
                "sigma": jsonable(row.sigma),
                "by_fold": [setting.text for setting in row.by_fold],
            }
            for row in tuned.rows
        ],
        "not_tuned": tuned.not_tuned,
        **{name: value for name, value in advice.as_json().items() if name != "tested"},
    }
