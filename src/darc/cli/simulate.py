"""`darc simulate`: simulated raters whose true opinions are known, and experiments on them."""

import sys
import textwrap
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from darc.cli.commands import Command
from darc.cli.output import draw, print_json, print_table, progress, say
from darc.errors import InputError
from darc.files import atomic_writer
from darc.settings.simulate import SimulateSettings

# The numbers of a preset that have options, by the names of the options.
_PRESET_NUMBERS = {
    "n_prompts": "prompts",
    "n_candidates": "candidates",
    "n_raters": "raters",
    "crowd": "crowd",
    "polarising": "polarising",
    "gap": "gap",
    "rating_noise": "noise",
    "df": "df",
    "severity": "severity",
    "missing_share": "missing",
    "step": "step",
}


def run(settings: SimulateSettings) -> None:
    """List the presets, write ratings or run an experiment."""
    if settings.list_presets:
        _list()
    elif settings.experiment is not None:
        _experiment(settings)
    else:
        for flag, value in (
            ("--json", settings.as_json),
            ("--plot", settings.plot),
            ("--rule", settings.rules),
            ("--replay", settings.replay),
        ):
            if value:
                raise InputError(f"{flag} needs an experiment", "add --experiment NAME")
        _write(settings)


def _changes(settings: SimulateSettings) -> dict[str, Any]:
    """The numbers of the preset that the options change."""
    from darc.decide.standards import parse_scale
    from darc.registry import parse_pairs

    changes = parse_pairs(settings.changes, "--set")
    for option, number in _PRESET_NUMBERS.items():
        value = getattr(settings, option)
        if value is not None:
            changes[number] = value
    if settings.groups:
        changes["groups"] = settings.groups
    if settings.scale is not None:
        low, high = parse_scale(settings.scale)
        changes["low"] = low
        changes["high"] = high
    return changes


def _write(settings: SimulateSettings) -> None:
    """Write the ratings and what else is wanted, completely or not at all."""
    from darc.ratings.simulated import preset, proxy_scores, simulate
    from darc.ratings.simulated.write import write_proxy, write_ratings, write_truth

    chosen = preset(settings.people or "paper").changed(_changes(settings))
    people = simulate(chosen.people, settings.seed)
    out = settings.out
    files: list[tuple[Path, Any, Any]] = []
    if out is not None and (out.is_dir() or not out.suffix):
        out.mkdir(parents=True, exist_ok=True)
        files.append((out / "ratings.csv", write_ratings, people))
        files.append((out / "truth.csv", write_truth, people))
        files.append((out / "proxy.csv", write_proxy, proxy_scores(people, chosen.proxy)))
    elif out is not None:
        files.append((out, write_ratings, people))
    if settings.truth is not None:
        files.append((settings.truth, write_truth, people))
    with ExitStack() as stack:
        for path, write, data in files:
            write(stack.enter_context(atomic_writer(path)), data)
    if out is None:
        write_ratings(sys.stdout, people)
    for path, _, _ in files:
        say(f"wrote {path}")


def _experiment(settings: SimulateSettings) -> None:
    """Run an experiment, and print its table and what it found."""
    from darc.analysis.experiments import EXPERIMENTS
    from darc.analysis.experiments.plot import draw_findings
    from darc.ratings.simulated import preset

    name = settings.experiment
    assert name is not None
    experiment = EXPERIMENTS[name]
    changes = {"prompts": experiment.prompts, **_changes(settings)}
    chosen = preset(settings.people or experiment.preset).changed(changes)
    inputs = {**_experiment_rules(settings), **_experiment_ratings(settings)}
    with progress(name, " steps") as report:
        result = experiment.run(chosen, settings.seed, report=report, **inputs)
    draw(settings.plot, lambda: draw_findings(result))
    if settings.as_json:
        for row in result.rows:
            print_json(row)
        return
    print_table(result.header, result.table)
    if result.notes:
        print("", *result.notes, sep="\n")


def _experiment_rules(settings: SimulateSettings) -> dict[str, Any]:
    """The rules that an experiment takes, by the name of its parameter."""
    rules = settings.rules
    if not rules:
        return {}
    if settings.experiment == "hacking":
        return {"rules": list(rules)}
    if settings.experiment == "buckets" and len(rules) == 1:
        return {"rule": rules[0]}
    raise InputError(
        f"the experiment {settings.experiment!r} does not take {len(rules)} --rule",
        "hacking takes several, buckets one, the others none",
    )


def _experiment_ratings(settings: SimulateSettings) -> dict[str, Any]:
    """The ratings of real people that an experiment takes, by the name of its parameter."""
    from darc.analysis.reading import load_ratings

    path = settings.replay
    if path is None:
        return {}
    if settings.experiment != "asking":
        raise InputError(
            f"the experiment {settings.experiment!r} does not take --replay",
            "only asking replays real ratings",
        )
    if settings.people is not None or _changes(settings):
        raise InputError(
            "with --replay no people are simulated", "leave out --people and its numbers"
        )
    ratings = load_ratings(path, None, {}, "")
    for note in ratings.notes:
        say(f"note: {ratings.name}: {note}")
    return {"ratings": ratings}


def _list() -> None:
    """Print each preset with what sets it apart, then all numbers and their defaults."""
    from darc.ratings.simulated import PRESETS, Preset, ProxyRecipe, Recipe

    defaults = Preset("", Recipe(), ProxyRecipe()).settings()
    for name, preset in PRESETS.items():
        numbers = preset.settings()
        changed = {key: value for key, value in numbers.items() if value != defaults[key]}
        _print_numbers(f"{name}: {preset.summary}", changed)
    _print_numbers("all settings, where a preset says nothing else:", defaults)


def _print_numbers(title: str, numbers: dict[str, Any]) -> None:
    """Print names with their numbers, wrapped."""
    print(title)
    parts = [f"{name}={_number_text(value)}" for name, value in numbers.items()]
    text = textwrap.fill(" ".join(parts), 92, break_on_hyphens=False)
    print(textwrap.indent(text, " " * 4))


def _number_text(value: Any) -> str:
    """A number, or several with commas between them."""
    if isinstance(value, tuple):
        return ",".join(f"{number:g}" for number in value)
    return f"{value:g}"


COMMAND = Command(SimulateSettings, run)
