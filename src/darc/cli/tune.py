"""`darc tune`: choose a rule and its strengths on ratings or on a run."""

import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.decision_view import note_wording
from darc.cli.output import draw, print_json, print_table, progress, say
from darc.cli.parser import Parser, add_calibration, add_columns, calibrations_of, load_input

if TYPE_CHECKING:
    from darc.analysis.tune.advice import Advice
    from darc.analysis.tune.tuning import Tuned

# The commands that take a rule with its parameters, and whether they take several.
TAKERS = dict.fromkeys(("ask", "run", "serve", "show"), False)
TAKERS |= dict.fromkeys(("select", "eval", "simulate"), True)


def add(parser: Parser) -> None:
    """Add the options."""
    from darc.cli.options import add_options
    from darc.engine.options import PeopleOptions

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
    parser.add_argument("--grid", default="coarse", choices=("coarse", "fine"), help="of settings")
    parser.add_argument("--folds", type=int, default=5, help="of prompts")
    parser.add_argument("--repeats", type=int, default=10, help="splits of the samples into halves")
    splits = ("auto", "rater", "sample")
    parser.add_argument("--split", default="auto", choices=splits, help="what is split")
    parser.add_argument("--seed", type=int, default=0, help="of folds and splits")
    add_options(parser, PeopleOptions, "caution")
    add_calibration(parser)
    add_columns(parser)
    output = parser.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="one JSON object")
    output.add_argument("--out", type=Path, metavar="FILE", help="settings as TOML, for --config")
    output.add_argument("--plot", type=Path, metavar="FILE", help="the surface (.png, .svg, .pdf)")


def run(arguments: Namespace) -> None:
    """Read, tune, tell."""
    from darc.analysis.calibrating import leak_warning
    from darc.analysis.tune.advice import recommend, settings_toml
    from darc.analysis.tune.objective import Objective
    from darc.analysis.tune.plot import draw_tuned
    from darc.analysis.tune.tuning import tune
    from darc.files import atomic_writer

    lam, cap = 2.0 if arguments.lam is None else arguments.lam, arguments.risk_cap
    objective = None
    if (arguments.objective, arguments.lam, cap) != (None, None, None):
        objective = Objective(arguments.objective or "tradeoff", lam, risk_cap=cap)
    source, calibrations = load_input(arguments), calibrations_of(arguments)
    names = ("folds", "repeats", "seed", "split")
    options = {name: getattr(arguments, name) for name in names}
    options |= {"rules": arguments.rule, "size": arguments.grid, "calibrations": calibrations}
    options["caution"] = arguments.caution
    if arguments.caution is not None and not source.has_raters:
        note_wording("rewrite")
    with progress("tuning", " settings") as report:
        tuned = tune(source, objective, **options, progress=report)
    if said := leak_warning(source, calibrations):
        say(f"warning: {said}")
    advice = recommend(tuned)
    if arguments.json:
        print_json(as_json(tuned, advice))
    else:
        print_tuned(tuned, advice)
    sys.stdout.flush()
    if arguments.out is not None:
        with atomic_writer(arguments.out) as file:
            file.write(settings_toml(tuned, advice.setting, TAKERS))
        say(f"the settings are {arguments.out}")
    draw(arguments.plot, lambda: draw_tuned(advice))


def print_tuned(tuned: "Tuned", advice: "Advice") -> None:
    """The recommendation, what being wrong would cost, and the table behind them."""
    print("\n".join([advice.headline, " ".join([advice.cost, *advice.notes])]), end="\n\n")
    print(
        f"{tuned.name}: {tuned.prompts} prompts, {tuned.tried} settings, {tuned.folds} folds, "
        f"{tuned.repeats} splits; gain in {tuned.objective.words} over Best-of-K's "
        f"{tuned.baseline:.3f}\n"
    )
    header = ["rule", "setting", "gain", "low", "high", "in sample", "mean change", "sigma"]
    numbers = ("gain", "low", "high", "in_sample", "mean", "sigma")
    rows: list[list[object]] = [
        [row.rule, row.setting.text.partition(":")[2], *(getattr(row, each) for each in numbers)]
        for row in tuned.rows
    ]
    print_table(header, [*rows, ["mean", "", 0.0, 0.0, 0.0, 0.0, 0.0, tuned.sigma]])
    if tuned.not_tuned:
        print("not tuned: " + "; ".join(f"{name} {why}" for name, why in tuned.not_tuned.items()))


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
        "best_of_k": {"objective": tuned.baseline, "sigma": tuned.sigma},
        "rules": [
            row.as_json()
            | {
                "in_sample": row.in_sample,
                "optimism": row.optimism,
                "sigma": row.sigma,
                "by_fold": [setting.text for setting in row.by_fold],
            }
            for row in tuned.rows
        ],
        "not_tuned": tuned.not_tuned,
        **{name: value for name, value in advice.as_json().items() if name != "tested"},
    }
