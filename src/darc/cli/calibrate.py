"""`darc calibrate`: what ratings teach the rule auto, kept in a file and told in words."""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.parser import add_columns, add_general, columns_of

if TYPE_CHECKING:
    from darc.engine.deciding import Calibrations
    from darc.evaluation.source import Source
    from darc.selection.calibration import Calibration

DESCRIPTION = """\
Learn from a file of ratings, a run folder or a gateway's audit log what the rule auto goes by: how
much disagreement counts, how far few ratings are drawn to the average, how severe each rater is,
and how good each system. Every command that decides takes the file with --calibration.

Rewrites show how wording moves a scorer, not whether people disagree. With a run and people's
ratings of its answers, the disagreement of rewrites counts as far as those ratings bear out."""
EPILOG = """\
examples:
  darc calibrate ratings.csv --out calibration.json
  darc select more.csv --rule auto --calibration calibration.json
  darc calibrate run ratings.csv --out calibration.json
  darc calibrate audit.jsonl --out calibration.json
  darc calibrate --show calibration.json"""
NORMAL = 1.96


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        name, help="learn what the rule auto goes by", description=DESCRIPTION, epilog=EPILOG
    )
    parser.add_argument(
        "source", nargs="?", type=Path, help="a file of ratings, a run folder or an audit log"
    )
    parser.add_argument("ratings", nargs="?", type=Path, help="people's ratings of a run's answers")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the calibration there")
    parser.add_argument(
        "--show",
        nargs="?",
        const="",
        metavar="FILE",
        help="tell what a calibration says, without FILE the one that DARC begins with",
    )
    parser.add_argument(
        "--lam", type=float, default=2.0, help="what a unit of sigma is worth (default: 2)"
    )
    add_columns(parser)
    parser.add_argument(
        "--top", type=int, default=5, metavar="N", help="raters and systems shown (default: 5)"
    )
    parser.add_argument("--json", action="store_true", help="everything as one JSON object")
    add_general(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Learn or read, write, tell."""
    from darc.engine.deciding import Calibrations
    from darc.errors import InputError
    from darc.selection.calibration import DEFAULT

    if (arguments.show is None) == (arguments.source is None):
        raise InputError("give a source to learn from, or --show", "see darc calibrate --help")
    if arguments.top < 1:
        raise InputError(f"--top is {arguments.top}", "give 1 or more")
    if arguments.show is not None:
        learnt = (
            Calibrations.load(arguments.show) if arguments.show else Calibrations({"": DEFAULT})
        )
        title = arguments.show or "the calibration that DARC begins with"
    else:
        learnt, title = _learnt(arguments)
        if arguments.out is not None:
            learnt.save(arguments.out)
    if arguments.json:
        print(json.dumps(as_json(learnt), ensure_ascii=False, allow_nan=False))
    else:
        print(title)
        for name, one in learnt.by_scorer.items():
            print(f"\nscorer {name}" if name else "")
            _print(one, arguments.top)
    if arguments.show is None and arguments.out is not None:
        sys.stdout.flush()
        print(f"the calibration is {arguments.out}", file=sys.stderr)


def _learnt(arguments: argparse.Namespace) -> "tuple[Calibrations, str]":
    from darc.errors import InputError
    from darc.evaluation.calibrating import calibrate_against, calibrate_source
    from darc.evaluation.reading import read_any

    if not arguments.lam >= 0:
        raise InputError(f"--lam is {arguments.lam}", "give 0 or more")
    columns = columns_of(arguments)
    source = read_any(arguments.source, None, columns, arguments.system)
    if len(source.prompt_ids) < 2:
        raise InputError(f"{arguments.source} has one prompt", "give the ratings of many prompts")
    if arguments.ratings is not None:
        people = read_any(arguments.ratings, None, columns, arguments.system)
        learnt = calibrate_against(source, people, arguments.lam)
        return learnt, f"{_counted(source)}; judged by {_counted(people)}"
    return calibrate_source(source, arguments.lam), _counted(source)


def _counted(source: "Source") -> str:
    """A source's name and size in words."""
    import numpy as np

    ratings = int((~np.isnan(source.samples)).sum())
    candidates = int((~np.isnan(source.samples)).any(axis=(1, 3)).sum())
    told = f"{source.name}: {len(source.prompt_ids)} prompts, {candidates} candidates, "
    if source.rated:
        return f"{told}{ratings} ratings by {len(source.giver_names)} raters"
    return f"{told}{ratings} scores"


def _print(one: "Calibration", top: int) -> None:
    """What a calibration says, as text."""
    from darc.selection.calibration import LOST
    from darc.views.text_table import text_table

    print(
        f"Reliability of disagreement: {_with(one.reliability, one.intervals.get('reliability'))}"
    )
    counts = list(one.weight) or [2, 3, 5, 10, 20]
    weight, shrink = one.by_count(max(counts), one.lam)
    print(f"Weight of disagreement beside the mean, at lam = {one.lam:g}:")
    rows: list[list[object]] = [[n, f"{weight[n]:.3f}", f"{shrink[n]:.2f}"] for n in counts[:20]]
    print(text_table(["ratings", "weight", "share of the mean kept"], rows))
    if len(counts) > 20:
        print(f"and {len(counts) - 20} more")
    if "weight" in one.intervals:
        low, high = one.intervals["weight"]
        print(f"95 % interval at the commonest number of ratings: [{low:.3f}, {high:.3f}]")
    if one.check < LOST:
        print(
            f"Choosing by disagreement lost to the mean on other raters (z {one.check:.1f}), so it "
            "has no weight."
        )
    _print_raters(one, top)
    _print_systems(one, top)


def _print_raters(one: "Calibration", top: int) -> None:
    rows = _rows(one.raters, one.rater_errors)
    if not rows:
        print("No rater is known.")
        return
    if not any(offset for _, offset, *_ in rows):
        print(f"Severity: {len(rows)} raters, none found more severe than another.")
        return
    print(f"Severity: how far below or above others each of {len(rows)} raters rates")
    _print_ends(rows, top, ("most severe", "most lenient"))


def _print_systems(one: "Calibration", top: int) -> None:
    from darc.selection.calibration import PANEL

    if one.inflation > PANEL:
        print(
            f"Systems are left out: the same few raters gave their ratings (noise times "
            f"{one.inflation:.1f})."
        )
    elif one.systems:
        means = {name: effect[0] for name, effect in one.systems.items()}
        if not any(means.values()):
            print(f"Systems: {len(means)}, none found better than another.")
            return
        print(f"Systems: how far below or above others each of {len(means)} is")
        _print_ends(_rows(means, one.system_errors), top, ("lowest", "highest"))


def _rows(
    numbers: Mapping[str, float], errors: Mapping[str, float]
) -> list[tuple[str, float, float, float]]:
    """Names with their numbers and intervals, the lowest first."""
    widths = {name: NORMAL * errors.get(name, 0.0) for name in numbers}
    rows = [(name, x, x - widths[name], x + widths[name]) for name, x in numbers.items()]
    return sorted(rows, key=lambda row: (row[1], row[0]))


def _print_ends(
    rows: list[tuple[str, float, float, float]], top: int, words: tuple[str, str]
) -> None:
    """The first and the last rows, or all where they are few."""
    from darc.views.text_table import text_table

    if len(rows) <= 2 * top:
        shown = [(f"{words[0]} first", rows)]
    else:
        shown = [(f"{words[0]} first", rows[:top]), (f"{words[1]} first", rows[: -top - 1 : -1])]
    for title, part in shown:
        cells: list[list[object]] = [
            [name, f"{x:+.3f}", f"[{low:+.3f}, {high:+.3f}]"] for name, x, low, high in part
        ]
        print(text_table([title, "offset", "95 % interval"], cells))
    if len(rows) > 2 * top:
        print(f"and {len(rows) - 2 * top} between them")


def _with(number: float, interval: tuple[float, float] | None) -> str:
    told = f"{number:.3f}"
    return told if interval is None else f"{told} [{interval[0]:.3f}, {interval[1]:.3f}]"


def as_json(learnt: "Calibrations") -> dict[str, Any]:
    """What is told, complete."""
    scorers = {}
    for name, one in learnt.by_scorer.items():
        means = {system: effect[0] for system, effect in one.systems.items()}
        scorers[name] = {
            "lam": one.lam,
            "weight": {str(n): weight for n, weight in one.weight.items()},
            "shrink": {str(n): share for n, share in one.shrink.items()},
            "intervals": {key: list(pair) for key, pair in one.intervals.items()},
            "reliability": one.reliability,
            "check": one.check,
            "shared": one.shared,
            "inflation": one.inflation,
            "raters": _entries("rater", one.raters, one.rater_errors),
            "systems": _entries("system", means, one.system_errors),
        }
    return {"digest": learnt.digest, "scorers": scorers}


def _entries(
    noun: str, numbers: Mapping[str, float], errors: Mapping[str, float]
) -> list[dict[str, Any]]:
    return [
        {noun: name, "offset": x, "low": low, "high": high}
        for name, x, low, high in _rows(numbers, errors)
    ]
