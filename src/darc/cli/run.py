"""`darc run`: many prompts, stage by stage, into a folder."""

import argparse
import json
import math
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.choice import DEFAULT_GENERATOR, add_choice
from darc.cli.parser import add_general
from darc.cli.show import saved_words

if TYPE_CHECKING:
    from darc.engine.engine import Engine
    from darc.runs.folder import RunFolder

STAGES = ("candidates", "variants", "scores", "side", "decisions")
DESCRIPTION = """\
Take every prompt of a file through all stages: write answers, rewrite them, score everything (or
have a panel grade the answers), decide. Each stage is a plain JSONL file in the folder; running the
same command again goes on where it stopped. The settings are kept in the folder's run.toml."""
EPILOG = """\
prompts are JSON lines (prompt, instruction, question or text; turns; messages), an alpaca_eval
list, MT-Bench questions, answers for --generator given:FILE, or one text a line; "examples" stands
for 40 prompts that come with DARC, and a folder for answers that are there, a file for each system

examples:
  darc run --prompts questions.jsonl --out run
  darc run --prompts questions.jsonl --out run --rule tau --from decisions
  darc run --prompts examples --out run --lazy -k 4 --max-tokens 64
  darc show run 81
  darc export run --format alpaca"""


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(name, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--prompts", required=True, metavar="FILE")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument(
        "--from",
        dest="restart",
        choices=STAGES,
        help="do this stage and the later ones again; leave it out to go on",
    )
    parser.add_argument("--sample", type=int, metavar="N", help="only N of the prompts, by --seed")
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument(
        "--lazy", action="store_true", help="leave out what cannot change the decision"
    )
    extent.add_argument(
        "--complete", action="store_true", help="make what a lazy run of this folder left out"
    )
    files = parser.add_argument_group("files and machine")
    files.add_argument(
        "--shard-size",
        type=int,
        default=1000,
        metavar="N",
        help="prompts a shard: what is in memory, and what is done again when a file is damaged "
        "(default: 1000)",
    )
    files.add_argument(
        "--keep",
        default="all",
        choices=("all", "scores", "decisions"),
        help="what is left of a finished shard (default: all)",
    )
    files.add_argument(
        "--compress", action="store_true", help="pack the files of finished shards (zstd)"
    )
    files.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="processes for rewriting and embedded scorers (default: one a core; 0: none), with "
        "--engine ray those and the CPUs of each worker (default: none, and one)",
    )
    cluster = parser.add_argument_group("a cluster")
    cluster.add_argument(
        "--engine",
        default="local",
        choices=("local", "ray"),
        help="what does the shards: this process, or the workers of a Ray cluster that share the "
        "folder (default: local)",
    )
    cluster.add_argument(
        "--address", metavar="A", help="of the cluster (default: RAY_ADDRESS, or this machine)"
    )
    cluster.add_argument(
        "--ray-actors",
        type=int,
        default=0,
        metavar="N",
        help="N workers that keep their models, in place of as many as there are CPUs",
    )
    cluster.add_argument(
        "--ray-cpus",
        type=float,
        metavar="C",
        help="CPUs of each worker, such as 0.5 where it waits for servers (default: --workers)",
    )
    cluster.add_argument(
        "--ray-gpus", type=float, default=0.0, metavar="G", help="GPUs of each (with --ray-actors)"
    )
    add_choice(parser)
    parser.add_argument("--json", action="store_true", help="the summary as one JSON object")
    add_general(parser)
    parser.set_defaults(run=run, interrupted="go on with the same command")


def run(arguments: argparse.Namespace) -> None:
    """Open the folder, run, print the summary."""
    from darc.cli.choice import engine_of, options_of, say_cost
    from darc.cli.parser import stages
    from darc.runs.folder import RunFolder, keep_calibration, manifest
    from darc.runs.questions import EXAMPLES, find_questions
    from darc.runs.run import run as run_all
    from darc.runs.run import summary

    on_ray = arguments.engine == "ray"
    _check_cluster(arguments)
    lazy = arguments.lazy and not arguments.complete
    outputs = arguments.prompts != EXAMPLES and Path(arguments.prompts).is_dir()
    if outputs and arguments.generator == DEFAULT_GENERATOR:
        arguments.generator = f"given:{arguments.prompts}"
    questions = find_questions(arguments.prompts, arguments.sample, arguments.seed)
    folder = RunFolder(arguments.out)
    many = 0 if on_ray else os.cpu_count() or 1
    workers = many if arguments.workers is None else arguments.workers
    filling = {"lazy": lazy, "keep": arguments.keep, "pack": arguments.compress}
    with engine_of(arguments, workers=workers) as engine:
        normalize = _normalize(arguments, engine, folder)
        engine.deciding = replace(engine.deciding, normalize=normalize)
        engine.deciding.scale(engine.tools.scores((), 0), lazily=lazy)
        try:
            made = manifest(questions.digest, engine)
            folder.open({**made, "shard_size": arguments.shard_size}, arguments.restart)
            arguments.calibration = keep_calibration(folder, engine)
            say_cost(engine, engine.sampling.k, full=not lazy)
            _write_settings(arguments, normalize)
            with stages() as report:
                if on_ray:
                    from darc.runs.on_ray import Cluster, run_on_ray

                    rule = (arguments.rule, arguments.beta, arguments.gamma)
                    recipe = {**options_of(arguments), "rule": rule, "normalize": normalize}
                    recipe["calibration"] = engine.deciding.spec.calibrations
                    where = Cluster(
                        arguments.address,
                        max(1, workers) if arguments.ray_cpus is None else arguments.ray_cpus,
                        arguments.ray_gpus,
                        arguments.ray_actors,
                    )
                    run_on_ray(
                        folder, questions, {**recipe, "workers": workers}, where, report, **filling
                    )
                else:
                    run_all(folder, questions, engine, **filling, report=report)
            told = summary(folder, engine.deciding)
        finally:
            folder.close()
    if arguments.json:
        print(json.dumps({**told, "folder": str(arguments.out)}, ensure_ascii=False))
    else:
        _print(told)
    print(f"the run is in {arguments.out}", file=sys.stderr)


def _check_cluster(arguments: argparse.Namespace) -> None:
    """Refuse options of a cluster that mean nothing."""
    from darc.errors import InputError

    if arguments.engine != "ray" and (
        arguments.address or arguments.ray_actors or arguments.ray_gpus or arguments.ray_cpus
    ):
        raise InputError(
            "--address, --ray-actors, --ray-cpus and --ray-gpus are Ray's", "add --engine ray"
        )
    if arguments.ray_cpus is not None and not 0 < arguments.ray_cpus < math.inf:
        raise InputError(f"--ray-cpus is {arguments.ray_cpus:g}", "give more than 0")
    if arguments.ray_actors < 0 or arguments.ray_gpus < 0:
        raise InputError("--ray-actors and --ray-gpus are 0 or more", "give 0 or more")
    if arguments.ray_gpus and not arguments.ray_actors:
        raise InputError("GPUs are held by actors", "say how many: --ray-actors N")


def _normalize(arguments: argparse.Namespace, engine: "Engine", folder: "RunFolder") -> str:
    """The scale, settled once for a run, so that completing a lazy one changes no choice."""
    if arguments.normalize != "auto":
        return str(arguments.normalize)
    if arguments.complete:
        return str(folder.manifest()["settings"]["decision"]["normalize"])
    described = engine.tools.scores((), 0)
    if len(described.scorers) == 1:
        return "none"
    return "fixed" if arguments.lazy and described.constants is not None else "prompt"


def _write_settings(arguments: argparse.Namespace, normalize: str) -> None:
    """Keep the settings beside the run, as --config takes them."""
    from darc.errors import InputError
    from darc.files import append_private

    left_out = {"out", "restart", "lazy", "complete", "json", "config", "log_level", "run"}
    left_out |= {"command", "version", "interrupted", "no_cache", "timeout", "workers", "keep"}
    left_out |= {"shard_size", "compress", "engine", "address", "ray_actors"}
    left_out |= {"ray_cpus", "ray_gpus"}
    settings = {k: v for k, v in sorted(vars(arguments).items()) if k not in left_out}
    path = Path(arguments.prompts)
    settings["prompts"] = str(path.resolve()) if path.is_file() else arguments.prompts
    settings["normalize"] = normalize
    if arguments.calibration is not None:
        settings["calibration"] = str(arguments.calibration.resolve())
    settings["panel"] = [
        str(Path(each).resolve()) if each.endswith(".toml") else each
        for each in arguments.panel or ()
    ]
    # A JSON string, number, truth value or list of them is also TOML.
    kept = {key: value for key, value in settings.items() if value is not None and value != []}
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in kept.items()]
    target = arguments.out / "run.toml"
    if target.is_dir():
        raise InputError(f"cannot write {target}: it is a folder", "remove it")
    temporary = target.with_name(target.name + ".new")
    temporary.unlink(missing_ok=True)
    append_private(temporary, "\n".join(["[run]", *lines, ""]).encode("utf-8"))
    temporary.replace(target)


def _print(told: dict[str, Any]) -> None:
    """Print the summary as text."""
    from darc.views.text_table import text_table

    numbers = ", ".join(
        f"{name} {'-' if value is None else format(value, '.3f')}"
        for name, value in told["choices"].items()
    )
    print(f"{told['prompts']} prompts by {told['rule']}; choices: {numbers}")
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
        print(f"flagged {name}: {count}")
    if not told["complete"]:
        print("scores that cannot matter were left out")
    total = sum(stage["seconds"] for stage in told["cost"].values()) or 1.0
    rows: list[list[object]] = []
    for name, stage in told["cost"].items():
        counts = ", ".join(f"{n:.0f} {unit}" for unit, n in stage.items() if unit != "seconds")
        rows.append([name, f"{stage['seconds']:.2f}", f"{stage['seconds'] / total:.0%}", counts])
    print()
    print(text_table(["stage", "seconds", "share", ""], rows))
