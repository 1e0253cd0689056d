"""`darc export`: a run in the formats of others."""

import argparse
import sys
from pathlib import Path
from typing import Any

from darc.cli.parser import add_general

SUFFIXES = {"alpaca": ".json", "mt-bench": ".jsonl", "tidy": ".csv", "parquet": ".parquet"}


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        name,
        description="Write the chosen answers as alpaca_eval or MT-Bench read them, or every score "
        "as tidy ratings (CSV, Parquet) that darc select reads.",
    )
    parser.add_argument("folder", type=Path, help="a folder made by darc run")
    parser.add_argument("--format", default="alpaca", choices=SUFFIXES, help="default: alpaca")
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: FOLDER.FORMAT.json, ...")
    parser.add_argument("--name", default="", help="what the model is called in the file")
    add_general(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Write the file and print its path."""
    from darc.runs.exporting import export
    from darc.runs.folder import RunFolder, check_complete, check_finished

    folder = RunFolder(arguments.folder)
    if arguments.format in ("tidy", "parquet"):
        check_complete(folder)
    else:
        check_finished(folder)
    place = arguments.folder.resolve()
    beside = place.parent / f"{place.name}.{arguments.format}{SUFFIXES[arguments.format]}"
    path = arguments.out or beside
    count = export(folder, arguments.format, path, arguments.name)
    print(path)
    print(f"{count} entries", file=sys.stderr)
