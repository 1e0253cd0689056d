"""`darc run`: many prompts, stage by stage, into a folder."""

import json
import math
import os
from argparse import Namespace
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from darc.cli.choice import AnswerOptions, ChoiceOptions, WorkOptions, add_choice, say_cost
from darc.cli.decision_view import note_wording
from darc.cli.options import add_options, options_of
from darc.cli.output import print_json, print_table, progress, say
from darc.cli.parser import Parser
from darc.cli.show import saved_words
from darc.cli.toy_model import toy_model_note
from darc.errors import InputError
from darc.settings.model import SettingsModel, option
from darc.settings.validation import validate_settings

if TYPE_CHECKING:
    from darc.engine.engine import Engine
    from darc.runs.folder import RunFolder
    from darc.runs.on_ray import Cluster

STAGES = ("candidates", "variants", "scores", "side", "decisions")


class RunSettings(ChoiceOptions):
    """What a run is made of, as the folder's run.toml has it."""

    prompts: str = option(..., "see below", "FILE")
    sample: int | None = option(None, "only N of the prompts, by --seed", "N")


class ExtentOptions(SettingsModel):
    """How much is made."""

    lazy: bool = option(False, "leave out what cannot change the decision")
    complete: bool = option(False, "make what a lazy run of this folder left out")


class FileOptions(SettingsModel):
    """What is kept, and how many processes make it."""

    shard_size: int = option(
        1000, "prompts a shard: in memory at a time, and done again when a file is damaged", "N"
    )
    keep: Literal["all", "scores", "decisions"] = option("all", "what is left of a finished shard")
    compress: bool = option(False, "pack the files of finished shards (zstd)")
    workers: int | None = option(
        None,
        "processes for rewriting and embedded scorers (default: one a core; 0: none), with "
        "--engine ray those and the CPUs of each worker (default: none, and one)",
        "N",
    )


class ClusterOptions(SettingsModel):
    """What does the shards."""

    engine: Literal["local", "ray"] = option(
        "local", "what does the shards: this process, or Ray workers that share the folder"
    )
    address: str | None = option(
        None, "of the cluster (default: RAY_ADDRESS, or this machine)", "A"
    )
    ray_actors: int = option(
        0, "N workers that keep their models, in place of as many as there are CPUs", "N"
    )
    ray_cpus: float | None = option(
        None,
        "CPUs of each worker, such as 0.5 where it waits for servers (default: --workers)",
        "C",
    )
    ray_gpus: float = option(0.0, "GPUs of each (with --ray-actors)", "G")


def add(parser: Parser) -> None:
    """Add the options."""
    add_options(parser, RunSettings, "prompts", "sample")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument(
        "--from",
        dest="restart",
        choices=STAGES,
        help="do this stage and the later ones again; leave it out to go on",
    )
    add_options(parser.add_mutually_exclusive_group(), ExtentOptions)
    add_options(parser.add_argument_group("files and machine"), FileOptions)
    add_options(parser.add_argument_group("a cluster"), ClusterOptions)
    add_choice(parser)
    parser.add_argument("--json", action="store_true", help="the summary as one JSON object")
    parser.set_defaults(interrupted="go on with the same command")


def run(arguments: Namespace) -> None:
    """Open the folder, run, print the summary."""
    from darc.runs.folder import RunFolder
    from darc.runs.manifest import keep_calibration, make_manifest
    from darc.runs.on_ray import run_on_ray
    from darc.runs.questions import EXAMPLES, find_questions
    from darc.runs.run import run as run_all
    from darc.runs.summary import summarize_run

    lazy, on_ray = arguments.lazy and not arguments.complete, arguments.engine == "ray"
    many = 0 if on_ray else os.cpu_count() or 1
    workers = many if arguments.workers is None else arguments.workers
    where = _cluster(arguments, max(1, workers))
    settings = validate_settings(RunSettings, options_of(arguments, RunSettings))
    outputs = settings.prompts != EXAMPLES and Path(settings.prompts).is_dir()
    if outputs and settings.generator == AnswerOptions().generator:
        settings = settings.model_copy(update={"generator": f"given:{settings.prompts}"})
    questions = find_questions(settings.prompts, settings.sample, settings.seed)
    folder = RunFolder(arguments.out)
    filling = {"lazy": lazy, "keep": arguments.keep, "pack": arguments.compress}
    with settings.engine(workers=workers) as engine, closing(folder):
        if settings.caution is not None and engine.parts.panel is None:
            note_wording("rewrite")
        normalize = _normalize(arguments, engine, folder)
        engine.method = replace(engine.method, normalize=normalize)
        engine.method.scale(engine.tools.empty_scores((), 0), lazily=lazy)
        made_of = {**make_manifest(questions.digest, engine), "shard_size": arguments.shard_size}
        folder.open(made_of, arguments.restart)
        kept = {"normalize": normalize, "calibration": keep_calibration(folder, engine)}
        settings = settings.model_copy(update=kept)
        if note := toy_model_note(settings.generator, "darc run ..."):
            say(note)
        say_cost(engine, engine.sampling.k, full=not lazy)
        _write_settings(settings, arguments.out)
        with progress("", " prompts") as report:
            if on_ray:
                recipe = {
                    **settings.engine_options(),
                    "rule": (
                        settings.rule,
                        settings.rule_parameters,
                        settings.beta,
                        settings.gamma,
                    ),
                    "calibration": engine.method.calibrations,
                    "workers": workers,
                }
                run_on_ray(folder, questions, recipe, where, report, **filling)
            else:
                run_all(folder, questions, engine, **filling, report=report)
        told = summarize_run(folder, engine.method)
    if arguments.json:
        print_json({**told, "folder": str(arguments.out)})
    else:
        _print(told)
    say(f"the run is in {arguments.out}")


def _cluster(arguments: Namespace, workers: int) -> "Cluster":
    """Where to work; options of a cluster that mean nothing are refused."""
    from darc.runs.on_ray import Cluster

    actors, cpus, gpus = arguments.ray_actors, arguments.ray_cpus, arguments.ray_gpus
    if arguments.engine != "ray" and (arguments.address or actors or gpus or cpus):
        raise InputError(
            "--address, --ray-actors, --ray-cpus and --ray-gpus are Ray's", "add --engine ray"
        )
    if cpus is not None and not 0 < cpus < math.inf:
        raise InputError(f"--ray-cpus is {cpus:g}", "give more than 0")
    if actors < 0 or gpus < 0:
        raise InputError("--ray-actors and --ray-gpus are 0 or more", "give 0 or more")
    if gpus and not actors:
        raise InputError("GPUs are held by actors", "say how many: --ray-actors N")
    return Cluster(arguments.address, workers if cpus is None else cpus, gpus, actors)


def _normalize(arguments: Namespace, engine: "Engine", folder: "RunFolder") -> str:
    """The scale, settled once for a run, so that completing a lazy one changes no choice."""
    if arguments.normalize != "auto":
        return str(arguments.normalize)
    if arguments.complete:
        return str(folder.manifest()["settings"]["decision"]["normalize"])
    described = engine.tools.empty_scores((), 0)
    if len(described.scorers) == 1:
        return "none"
    return "fixed" if arguments.lazy and described.constants is not None else "prompt"


def _write_settings(settings: RunSettings, folder: Path) -> None:
    """Keep the settings beside the run, as --config takes them."""
    from darc.files import atomic_writer

    def whole(text: str) -> str:
        return str(Path(text).resolve())

    kept = settings.model_dump(mode="json", exclude=set(WorkOptions.model_fields))
    kept["panel"] = [whole(each) if each.endswith(".toml") else each for each in settings.panel]
    if Path(settings.prompts).is_file():
        kept["prompts"] = whole(settings.prompts)
    if settings.calibration is not None:
        kept["calibration"] = whole(kept["calibration"])
    # A JSON string, number, truth value or list of them is also TOML.
    lines = [
        f"{key} = {json.dumps(value, ensure_ascii=False)}"
        for key, value in sorted(kept.items())
        if value is not None and value != []
    ]
    with atomic_writer(folder / "run.toml", private=True) as file:
        file.write("\n".join(["[run]", *lines, ""]))


def _print(told: dict[str, Any]) -> None:
    """Print the summary as text."""
    mean = told["choices"]["mean"]
    sentence = f"{told['prompts']} prompts by {told['rule']}"
    if mean is not None:
        sentence += f"; mean of the choices {mean:.3f}"
    if told["unhappy"] is not None:
        sentence += f"; {told['unhappy']:.1%} of their ratings are of unhappy raters"
    print(sentence)
    refused = sum(told["refused"].values())
    if told["saved"]:
        print(saved_words(told["answers"], told["saved"]))
    if told["accepted"] + refused:
        rate = told["accepted"] / (told["accepted"] + refused)
        reasons = ", ".join(f"{name} {count}" for name, count in told["refused"].items())
        why = f" ({reasons})" if reasons else ""
        print(f"rewrites: {told['accepted']} accepted ({rate:.0%}), {refused} refused{why}")
    if told["clipped"]:
        print(f"scores beyond their scorer's bounds, clipped: {told['clipped']:.1%}")
    for name, count in told["flags"].items():
        meaning = ": none of the answers is good" if name == "held" else ""
        print(f"flagged {name}: {count}{meaning}")
    if not told["complete"]:
        print("scores that cannot matter were left out")
    total = sum(stage["seconds"] for stage in told["cost"].values()) or 1.0
    rows: list[list[object]] = []
    for name, stage in told["cost"].items():
        counts = ", ".join(f"{n:.0f} {unit}" for unit, n in stage.items() if unit != "seconds")
        rows.append([name, f"{stage['seconds']:.2f}", f"{stage['seconds'] / total:.0%}", counts])
    print()
    print_table(["stage", "seconds", "share", ""], rows)
