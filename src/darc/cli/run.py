"""`darc run`: many prompts, stage by stage, into a folder."""

import argparse
import sys
from pathlib import Path
from typing import Any

from darc.cli.ask import add_choice
from darc.cli.parser import add_general

DESCRIPTION = """\
Take every prompt of a file through all stages: write answers with the embedded model, rewrite them,
score everything, decide. Each stage is a plain JSONL file in the folder; running the same command
again goes on where it stopped."""
EPILOG = """\
prompts are JSON lines (prompt, instruction, question or text; turns; messages), an alpaca_eval
list, MT-Bench questions, or one text a line

examples:
  darc run --prompts questions.jsonl --out run
  darc run --prompts questions.jsonl --out run --rule tau --from decisions
  darc show run 81"""


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        name, help="answer a file of prompts", description=DESCRIPTION, epilog=EPILOG
    )
    parser.add_argument("--prompts", type=Path, required=True, metavar="FILE")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument(
        "--from",
        dest="restart",
        choices=("candidates", "variants", "scores", "decisions"),
        help="do this stage and the later ones again",
    )
    add_choice(parser)
    add_general(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Open the folder, run, tell."""
    from darc.cli.ask import settings_of
    from darc.cli.progress import progress
    from darc.generators.embedded import EmbeddedGenerator
    from darc.models.installed import require
    from darc.pipeline.embedded import embedded_engine
    from darc.pipeline.folder import RunFolder
    from darc.pipeline.questions import read_questions
    from darc.pipeline.rule_spec import parse_rules
    from darc.pipeline.run import manifest, summary
    from darc.pipeline.run import run as run_all

    (spec,) = parse_rules([arguments.rule], {}, arguments.beta, arguments.gamma)
    questions, settings = read_questions(arguments.prompts), settings_of(arguments)
    model = require()
    folder = RunFolder(arguments.out)
    parts = {
        "generator": {"name": "embedded", "model": model.name, "sha256": model.sha256},
        "sampling": vars(settings),
        "rewrites": {"n_aug": arguments.n_aug, "family": arguments.family, "rewriter": "rules"},
    }
    folder.open(manifest(parts, questions))
    engine = embedded_engine(arguments.n_aug, arguments.family, arguments.seed)
    with progress("answering", " prompts") as report:
        run_all(
            folder,
            questions,
            EmbeddedGenerator(),
            settings,
            engine,
            spec,
            restart=arguments.restart,
            report=report,
        )
    print(summary(folder))
    print(f"the run is in {arguments.out}", file=sys.stderr)
