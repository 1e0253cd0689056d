"""`darc run`: many prompts, stage by stage, into a folder."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.choice import add_choice
from darc.cli.parser import add_general

if TYPE_CHECKING:
    from darc.pipeline.engine import Engine
    from darc.pipeline.folder import RunFolder

STAGES = ("candidates", "variants", "scores", "side", "decisions")
DESCRIPTION = """\
Take every prompt of a file through all stages: write answers, rewrite them, score everything,
decide. Each stage is a plain JSONL file in the folder; running the same command again goes on where
it stopped. The settings are kept in the folder's run.toml."""
EPILOG = """\
prompts are JSON lines (prompt, instruction, question or text; turns; messages), an alpaca_eval
list, MT-Bench questions, answers for --generator given:FILE, or one text a line; "examples" stands
for 40 prompts that come with DARC

examples:
  darc run --prompts questions.jsonl --out run
  darc run --prompts questions.jsonl --out run --rule tau --from decisions
  darc run --prompts examples --out run --lazy -k 4 --max-tokens 64
  darc show run 81
  darc export run --format alpaca"""


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        name, help="answer a file of prompts", description=DESCRIPTION, epilog=EPILOG
    )
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
    add_choice(parser)
    parser.add_argument("--json", action="store_true", help="the summary as one JSON object")
    add_general(parser)
    parser.set_defaults(run=run, interrupted="go on with the same command")


def run(arguments: argparse.Namespace) -> None:
    """Open the folder, run, tell."""
    from darc.cli.choice import cache_of, generator_of, parts_of, rule_of, sampling_of
    from darc.cli.progress import stages
    from darc.pipeline.deciding import Deciding
    from darc.pipeline.folder import RunFolder
    from darc.pipeline.manifest import manifest
    from darc.pipeline.questions import find_questions, sampled
    from darc.pipeline.run import run as run_all
    from darc.pipeline.stages import Job
    from darc.pipeline.summary import summary

    spec, parts = rule_of(arguments), parts_of(arguments)
    lazy = arguments.lazy and not arguments.complete
    questions = find_questions(arguments.prompts)
    if arguments.sample is not None:
        questions = sampled(questions, arguments.sample, arguments.seed)
    side = parts.side_maker()
    side.check(spec.rule)
    engine, generator = parts.engine(cache_of(arguments)), generator_of(arguments)
    sampling = sampling_of(arguments, generator)
    folder = RunFolder(arguments.out)
    normalize = _normalize(arguments, engine, folder)
    deciding = Deciding(
        *(spec, engine.bounds, engine.constants, normalize, arguments.seed),
        include_original=parts.include_original,
    )
    deciding.scale(lazily=lazy)
    try:
        made = manifest(questions, generator, sampling, parts, engine, deciding)
        folder.open(made, arguments.restart)
        _write_settings(arguments, normalize)
        job = Job(generator, sampling, engine, deciding, side, lazy)
        with stages() as report:
            run_all(folder, questions, job, report)
        told = summary(folder, deciding)
    finally:
        folder.close()
    if arguments.json:
        print(json.dumps({**told, "folder": str(arguments.out)}, ensure_ascii=False))
    else:
        _print(told)
    print(f"the run is in {arguments.out}", file=sys.stderr)


def _normalize(arguments: argparse.Namespace, engine: "Engine", folder: "RunFolder") -> str:
    """The scale, settled once for a run, so that completing a lazy one changes no choice."""
    if arguments.normalize != "auto":
        return str(arguments.normalize)
    if arguments.complete:
        return str(folder.manifest()["settings"]["decision"]["normalize"])
    if len(engine.scorers) == 1:
        return "none"
    return "fixed" if arguments.lazy and engine.constants is not None else "prompt"


def _write_settings(arguments: argparse.Namespace, normalize: str) -> None:
    """Keep the settings beside the run, as --config takes them."""
    from darc.config import write_settings

    left_out = {"out", "restart", "lazy", "complete", "json", "config", "log_level", "run"}
    left_out |= {"command", "version", "interrupted", "no_cache", "timeout"}
    settings = {k: v for k, v in sorted(vars(arguments).items()) if k not in left_out}
    path = Path(arguments.prompts)
    settings["prompts"] = str(path.resolve()) if path.is_file() else arguments.prompts
    settings["normalize"] = normalize
    write_settings(arguments.out / "run.toml", "run", settings)


def _print(told: dict[str, Any]) -> None:
    """Print the summary as text."""
    from darc.views.text_table import text_table

    numbers = ", ".join(
        f"{name} {'-' if value is None else format(value, '.3f')}"
        for name, value in told["choices"].items()
    )
    print(f"{told['prompts']} prompts by {told['rule']}; choices: {numbers}")
    refused = sum(told["refused"].values())
    rate = told["accepted"] / max(1, told["accepted"] + refused)
    print(f"rewrites: {told['accepted']} accepted ({rate:.0%}), {refused} refused", end="")
    reasons = ", ".join(f"{name} {count}" for name, count in told["refused"].items())
    print(f" ({reasons})" if reasons else "")
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
