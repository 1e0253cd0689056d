"""`darc tune`: choose a rule and its parameters, tested on prompts held out."""

import sys
from typing import TYPE_CHECKING, Any

from darc.cli.choosing import note_wording
from darc.cli.commands import Command
from darc.cli.output import draw, print_json, print_table, progress, say
from darc.cli.sources import load_source, read_calibrations
from darc.errors import InputError
from darc.settings.tune import TuneSettings

if TYPE_CHECKING:
    from darc.analysis.tune.advice import Advice
    from darc.analysis.tune.objective import Objective
    from darc.analysis.tune.tuning import Tuned

# The commands that take a rule with its parameters, and whether they take several.
RULE_COMMANDS = {
    "ask": False,
    "run": False,
    "serve": False,
    "mcp": False,
    "show": False,
    "view": True,
    "diff": True,
    "select": True,
    "eval": True,
    "simulate": True,
}


def run(settings: TuneSettings) -> None:
    """Read the ratings, tune, and say what was found."""
    if settings.risk is not None:
        _tune_risk(settings, settings.risk)
    else:
        _tune_rule(settings)


def _tune_rule(settings: TuneSettings) -> None:
    """Tune a rule and its parameters."""
    from darc.analysis.calibrating import leak_warning
    from darc.analysis.tune.advice import recommend
    from darc.analysis.tune.plot import draw_tuned
    from darc.analysis.tune.tuning import tune

    source = load_source(settings.source, settings)
    calibrations = read_calibrations(settings.calibration)
    if settings.caution is not None and not source.has_raters:
        note_wording("rewrite")
    with progress("tuning", " settings") as report:
        tuned = tune(
            source,
            _objective(settings),
            folds=settings.folds,
            splits=settings.splits,
            seed=settings.seed,
            split=settings.split,
            rules=settings.rules or None,
            size=settings.grid,
            calibrations=calibrations,
            caution=settings.caution,
            progress=report,
        )
    warning = leak_warning(source, calibrations)
    if warning:
        say(f"warning: {warning}")
    advice = recommend(tuned)
    if settings.as_json:
        print_json(as_json(tuned, advice))
    else:
        print_tuned(tuned, advice)
    sys.stdout.flush()
    _write_settings(tuned, advice, settings)
    draw(settings.plot, lambda: draw_tuned(advice))


def _tune_risk(settings: TuneSettings, risk: str) -> None:
    """Find which answers to hold back."""
    from darc.analysis.calibrating import leak_warning
    from darc.analysis.tune.risk import tune_risk
    from darc.decide.caution import MEDIUM, parse_caution

    for name in ("objective", "risk_cap", "rules", "plot"):
        if getattr(settings, name):
            flag = name.removesuffix("s").replace("_", "-")
            raise InputError(f"--risk goes without --{flag}", "leave one of them out")
    source = load_source(settings.source, settings)
    calibrations = read_calibrations(settings.calibration)
    warning = leak_warning(source, calibrations)
    if warning:
        say(f"warning: {warning}")
    caution = MEDIUM
    if settings.caution is not None:
        caution = parse_caution(settings.caution)
    tuning = tune_risk(
        source,
        risk,
        settings.level,
        settings.promise,
        calibrations=calibrations,
        caution=caution,
        split=settings.split,
        seed=settings.seed,
    )
    if settings.as_json:
        print_json(tuning.as_json())
    else:
        print("\n".join(tuning.sentences()))
    sys.stdout.flush()
    if settings.out is not None:
        tuning.calibrations.save(settings.out)
        say(f"wrote the calibration with the promise to {settings.out}")


def _objective(settings: TuneSettings) -> "Objective | None":
    """The objective, None if nothing is said about it."""
    from darc.analysis.tune.objective import Objective

    is_given = settings.objective is not None or settings.risk_cap is not None
    if not is_given and "lam" not in settings.model_fields_set:
        return None
    name = settings.objective or "tradeoff"
    return Objective(name, settings.lam, risk_cap=settings.risk_cap)


def _write_settings(tuned: "Tuned", advice: "Advice", settings: TuneSettings) -> None:
    """Write the recommended settings, if a file is wanted."""
    from darc.analysis.tune.advice import settings_toml
    from darc.files import atomic_writer

    if settings.out is None:
        return
    with atomic_writer(settings.out) as file:
        file.write(settings_toml(tuned, advice.setting, RULE_COMMANDS))
    say(f"wrote the settings to {settings.out}")


def print_tuned(tuned: "Tuned", advice: "Advice") -> None:
    """The recommendation, what being wrong would cost, and the table behind them."""
    print("\n".join([advice.headline, " ".join([advice.cost, *advice.notes])]), end="\n\n")
    print(
        f"{tuned.name}: {tuned.prompts} prompts, {tuned.tried} settings, {tuned.folds} folds, "
        f"{tuned.splits} splits; gain in {tuned.objective.words} over Best-of-K's "
        f"{tuned.baseline:.3f}\n"
    )
    header = ["rule", "setting", "gain", "low", "high", "in sample", "mean change", "sigma"]
    numbers = ("gain", "low", "high", "in_sample", "mean", "sigma")
    rows: list[list[object]] = []
    for row in tuned.rows:
        parameters = row.setting.text.partition(":")[2]
        rows.append([row.rule, parameters, *(getattr(row, name) for name in numbers)])
    rows.append(["mean", "", 0.0, 0.0, 0.0, 0.0, 0.0, tuned.sigma])
    print_table(header, rows)
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
        "splits": tuned.splits,
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


COMMAND = Command(TuneSettings, run)
