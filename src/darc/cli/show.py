"""`darc show`, `darc export`, `darc cache`: what a run decided, for eyes and tools; kept scores."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.cli.choice import add_rule
from darc.cli.parser import add_general, calibrations_of

if TYPE_CHECKING:
    from darc.engine.outcome import Outcome

NUMBERS = ("value", "mean", "sigma", "risk_premium")
SUFFIXES = {"alpaca": ".json", "mt-bench": ".jsonl", "tidy": ".csv", "parquet": ".parquet"}
EXPORT = """\
Write the chosen answers as alpaca_eval or MT-Bench read them, or every score as tidy ratings (CSV,
Parquet) that darc select reads."""


def add(commands: Any, name: str) -> None:
    """Add one of the commands to the parser."""
    parser = commands.add_parser(name, description=EXPORT if name == "export" else None)
    if name == "cache":
        parser.add_argument("--clear", action="store_true", help="forget all scores")
        parser.add_argument("--json", action="store_true", help="one JSON object")
        parser.set_defaults(run=run_cache)
    else:
        parser.add_argument("folder", type=Path, help="a folder made by darc run")
    if name == "show":
        parser.add_argument("prompt", help="the prompt's id")
        add_rule(parser, own=True)
        add_output(parser)
        parser.set_defaults(run=run_show)
    if name == "export":
        parser.add_argument("--format", default="alpaca", choices=SUFFIXES, help="default: alpaca")
        parser.add_argument(
            "--out", type=Path, metavar="FILE", help="default: FOLDER.FORMAT.json, ..."
        )
        parser.add_argument("--name", default="", help="what the model is called in the file")
        parser.set_defaults(run=run_export)
    add_general(parser)


def run_show(arguments: argparse.Namespace) -> None:
    """Read the outcome and print it."""
    from darc.engine.deciding import parse_rules
    from darc.runs.folder import RunFolder, deciding_of
    from darc.runs.results import read_outcome

    check_output(arguments)
    folder = RunFolder(arguments.folder)
    own = deciding_of(folder).spec
    beta = own.beta if arguments.beta is None else arguments.beta
    gamma = own.gamma if arguments.gamma is None else arguments.gamma
    given = calibrations_of(arguments)
    (spec,) = parse_rules([arguments.rule or own.label], {}, beta, gamma, given)
    write_outcome(read_outcome(folder, arguments.prompt, deciding_of(folder, spec)), arguments)


def run_export(arguments: argparse.Namespace) -> None:
    """Write the file and print its path."""
    from darc.runs.folder import RunFolder, check_complete, check_finished
    from darc.runs.results import export

    folder = RunFolder(arguments.folder)
    (check_complete if arguments.format in ("tidy", "parquet") else check_finished)(folder)
    place = arguments.folder.resolve()
    beside = place.parent / f"{place.name}.{arguments.format}{SUFFIXES[arguments.format]}"
    path = arguments.out or beside
    count = export(folder, arguments.format, path, arguments.name)
    print(path)
    print(f"{count} entries", file=sys.stderr)


def run_cache(arguments: argparse.Namespace) -> None:
    """Print the place of the kept scores and how much is there."""
    from darc.engine.scoring import ScoreCache

    with ScoreCache() as cache:
        if arguments.clear:
            cache.clear()
        size = cache.path.stat().st_size if cache.path.exists() else 0
        row = {"path": str(cache.path), "scores": len(cache), "bytes": size}
    if arguments.json:
        print(json.dumps(row))
    else:
        print(f"{row['path']}: {row['scores']} scores, {size / 1e6:.1f} MB")


def add_output(parser: "argparse.ArgumentParser | argparse._ArgumentGroup") -> None:
    """Add what is made of an outcome."""
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--html", type=Path, metavar="FILE", help="a page with everything")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture (.png, .svg, .pdf)")


def check_output(arguments: argparse.Namespace) -> None:
    """Refuse a picture that cannot be drawn, before anything is done."""
    if arguments.plot is not None:
        from darc.views import check_picture

        check_picture(arguments.plot)


def write_outcome(outcome: "Outcome", arguments: argparse.Namespace, **more: Any) -> None:
    """Write the page and the picture that are wanted, and print the outcome; `more` is for JSON."""
    from darc.files import atomic_path, atomic_writer
    from darc.views import draw_plane, plane, save_figure

    assert outcome.decision is not None
    if arguments.html is not None:
        with atomic_writer(arguments.html) as file:
            file.write(outcome.to_html())
        print(f"the page is {arguments.html}", file=sys.stderr)
    if arguments.plot is not None:
        figure = draw_plane(plane(outcome.decision, (), outcome.prompt.question[:70]))
        with atomic_path(arguments.plot) as temporary:
            save_figure(figure, temporary)
        print(f"the picture is {arguments.plot}", file=sys.stderr)
    if arguments.json:
        data = {**outcome.decision.to_dict(), "answer": outcome.answer, **more}
        print(json.dumps(data, ensure_ascii=False))
    else:
        print_outcome(outcome)


def print_outcome(outcome: "Outcome") -> None:
    """Print the answer, then the candidates and why they were not chosen."""
    from darc.views.text_table import text_table

    print(outcome.answer)
    print()
    decision = outcome.decision
    assert decision is not None
    statistics = decision.statistics
    order = np.argsort(-np.nan_to_num(statistics.value), kind="stable").tolist()
    rows: list[list[object]] = []
    for k in order:
        seen = int((~np.isnan(outcome.scores.values[:, k])).all(axis=0).sum())
        own = [float(getattr(statistics, name)[k]) for name in NUMBERS]
        numbers: list[object] = ["" if np.isnan(number) else f"{number:.3f}" for number in own]
        if decision.bounded is not None and decision.bounded[k]:
            numbers = [f"<{numbers[0]}", "", "", ""]
        opening = " ".join(outcome.candidates[k].text.split())[:34]
        name = outcome.candidates[k].name or k
        rows.append([name, *numbers, seen, outcome.why_not(k) or "chosen", opening])
    print(text_table(["", "value", "mean", "sigma", "premium", "scored", "", "begins"], rows))
    print()
    print(outcome.explain())
    if outcome.best_of_k is not None:
        print(outcome.beside_best_of_k())
    if outcome.limits:
        print(outcome.limits, file=sys.stderr)
    if "stopped_early" in outcome.flags:
        print(saved_words(len(outcome.candidates), outcome.saved), file=sys.stderr)
    spent = ", ".join(f"{name} {ms / 1000:.1f} s" for name, ms in outcome.milliseconds.items())
    if outcome.rated:
        print(_differing(outcome), file=sys.stderr)
    did = ("asked for", "grades") if outcome.rated else ("scored", "texts")
    print(f"{did[0]} {outcome.calls} of {outcome.most} {did[1]}; {spent}", file=sys.stderr)


def saved_words(written: int, saved: int) -> str:
    """How many answers were written, and how many were not."""
    return f"wrote {written} of {written + saved} answers; {saved} were not worth their cost"


def _differing(outcome: "Outcome") -> str:
    """How much raters differ on the choice, and from themselves."""
    told = outcome.panel()
    between, noise = told["disagreement"][outcome.index], told["noise"]
    words = "" if between is None else f"raters differ by {between:.2f} on the choice"
    own = "" if noise is None else f"each differs by {noise:.2f} from itself"
    return "; ".join(each for each in (words, own) if each) or "one grade each: nothing to compare"
