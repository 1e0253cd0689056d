"""`darc export`: a run's answers or scores, for other tools."""

from argparse import Namespace
from pathlib import Path

from darc.cli.output import say
from darc.cli.parser import Parser

SUFFIXES = {"alpaca": ".json", "mt-bench": ".jsonl", "tidy": ".csv", "parquet": ".parquet"}


def add(parser: Parser) -> None:
    """Add the options."""
    parser.add_argument("folder", type=Path, help="a folder made by darc run")
    parser.add_argument("--format", default="alpaca", choices=SUFFIXES, help="of the file")
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: FOLDER.FORMAT.json, ...")
    parser.add_argument("--name", default="", help="what the model is called in the file")


def run(arguments: Namespace) -> None:
    """Write the file and print its path."""
    from darc.runs.export import export_run
    from darc.runs.folder import RunFolder, check_complete, check_finished

    folder, form = RunFolder(arguments.folder), arguments.format
    (check_complete if form in ("tidy", "parquet") else check_finished)(folder)
    place = arguments.folder.resolve()
    path = arguments.out or place.parent / f"{place.name}.{form}{SUFFIXES[form]}"
    count = export_run(folder, form, path, arguments.name)
    print(path)
    say(f"{count} entries")
