"""`darc calibrate`: what ratings teach the rule auto, kept in a file and told in words."""

import math
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.output import print_json, print_table, say
from darc.cli.parser import Parser, add_columns, check_least, columns_of, load_input, say_notes
from darc.errors import InputError

if TYPE_CHECKING:
    from darc.decide.model.calibration import Calibration
    from darc.decide.model.calibration_file import Calibrations
    from darc.ratings.ratings import Ratings

NORMAL = 1.96
TOLD = (
    *("lam", "weight", "shrink", "intervals", "reliability", "check", "shared", "inflation"),
    *("share_different", "spread_alike", "sigma_df_factor", "earned"),
)


def add(parser: Parser) -> None:
    """Add the options."""
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
    parser.add_argument("--lam", type=float, default=2.0, help="what a unit of sigma is worth")
    add_columns(parser)
    parser.add_argument(
        "--top", type=int, default=5, metavar="N", help="raters and systems that are shown"
    )
    parser.add_argument("--json", action="store_true", help="everything as one JSON object")


def run(arguments: Namespace) -> None:
    """Learn or read, write, tell."""
    from darc.decide.model.calibration import DEFAULT
    from darc.decide.model.calibration_file import Calibrations

    show, out = arguments.show, arguments.out
    if (show is None) == (arguments.source is None):
        raise InputError("give a source to learn from, or --show", "see darc calibrate --help")
    check_least(arguments, top=1)
    if show is not None:
        learnt = Calibrations.load(show) if show else Calibrations({"": DEFAULT})
        say_notes(learnt)
        title = show or "the calibration that DARC begins with"
    else:
        learnt, title = _learnt(arguments)
        if out is not None:
            learnt.save(out)
    if arguments.json:
        plain = {
            scorer: {name: getattr(one, name) for name in TOLD} | _entries(one)
            for scorer, one in learnt.by_scorer.items()
        }
        print_json({"digest": learnt.digest, "scorers": plain})
    else:
        print(title)
        for name, one in learnt.by_scorer.items():
            print(f"\nscorer {name}" if name else "")
            _print(one, arguments.top)
    if show is None and out is not None:
        sys.stdout.flush()
        say(f"the calibration is {out}")


def _learnt(arguments: Namespace) -> "tuple[Calibrations, str]":
    from darc.analysis.calibrating import calibrate_against, calibrate_ratings
    from darc.analysis.reading import load_ratings

    if not arguments.lam >= 0:
        raise InputError(f"--lam is {arguments.lam}", "give 0 or more")
    source = load_input(arguments)
    if len(source.prompt_ids) < 2:
        raise InputError(f"{arguments.source} has one prompt", "give the ratings of many prompts")
    if arguments.ratings is None:
        return calibrate_ratings(source, arguments.lam), _counted(source)
    people = load_ratings(arguments.ratings, None, columns_of(arguments), arguments.system)
    learnt = calibrate_against(source, people, arguments.lam)
    return learnt, f"{_counted(source)}; judged by {_counted(people)}"


def _counted(source: "Ratings") -> str:
    """A source's name and size in words."""
    import numpy as np

    ratings = int((~np.isnan(source.samples)).sum())
    candidates = int((~np.isnan(source.samples)).any(axis=(1, 3)).sum())
    told = f"{source.name}: {len(source.prompt_ids)} prompts, {candidates} candidates, "
    if source.has_raters:
        return f"{told}{ratings} ratings by {len(source.rater_names)} raters"
    return f"{told}{ratings} scores"


def _print(one: "Calibration", top: int) -> None:
    """What a calibration says, as text."""
    from darc.decide.model.calibration import LOST
    from darc.decide.model.learning import PANEL

    told = f"{one.reliability:.3f}"
    if "reliability" in one.intervals:
        told += " [{:.3f}, {:.3f}]".format(*one.intervals["reliability"])
    print(f"Reliability of disagreement: {told}")
    counts = list(one.weight) or [2, 3, 5, 10, 20]
    weight, shrink = one.by_count(max(counts))
    print(f"Weight of disagreement beside the mean, at lam = {one.lam:g}:")
    rows = [[n, f"{weight[n]:.3f}", f"{shrink[n]:.2f}"] for n in counts[:20]]
    print_table(["ratings", "weight", "share of the mean kept"], rows)
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
    if not one.earned:
        print(
            "With three ratings each, choosing by disagreement gained nothing that the rating left "
            "out confirmed, so it has no weight there."
        )
    _print_division(one)
    raters, systems = _entries(one).values()
    if not raters:
        print("No rater is known.")
    elif not any(each["offset"] for each in raters):
        print(f"Severity: {len(raters)} raters, none found more severe than another.")
    else:
        print(f"Severity: how far below or above others each of {len(raters)} raters rates")
        _print_ends(raters, top, "most severe", "most lenient")
    if one.inflation > PANEL:
        print(
            f"Systems are left out: the same few raters gave their ratings (noise times "
            f"{one.inflation:.1f})."
        )
    elif systems and not any(each["offset"] for each in systems):
        print(f"Systems: {len(systems)}, none found better than another.")
    elif systems:
        print(f"Systems: how far below or above others each of {len(systems)} is")
        _print_ends(systems, top, "lowest", "highest")


def _print_division(one: "Calibration") -> None:
    """How answers divide people: what decides whether a prompt's ratings prove it."""
    print(
        f"Prompts whose answers divide people differently: about {one.share_different:.0%}; on the "
        "others all answers divide people about equally."
    )
    print(
        "There the standard deviations of two answers' ratings typically differ by "
        f"{_typical_ratio(one.spread_alike):.0%}."
    )
    print(
        f"A standard deviation of ratings says {one.sigma_df_factor:.0%} of what it would if "
        "ratings were normally distributed."
    )


def _typical_ratio(spread: float) -> float:
    """By what share two numbers typically differ whose logarithms have this deviation."""
    return math.expm1(spread * math.sqrt(2))


def _entries(one: "Calibration") -> dict[str, list[dict[str, Any]]]:
    """The raters and the systems with their offsets and intervals, the lowest first."""
    systems = {name: effect[0] for name, effect in one.systems.items()}
    known = (("rater", one.raters, one.rater_errors), ("system", systems, one.system_errors))
    found: dict[str, list[dict[str, Any]]] = {"raters": [], "systems": []}
    for noun, numbers, errors in known:
        for offset, name in sorted((offset, name) for name, offset in numbers.items()):
            half = NORMAL * errors.get(name, 0.0)
            entry = {noun: name, "offset": offset, "low": offset - half, "high": offset + half}
            found[f"{noun}s"].append(entry)
    return found


def _print_ends(entries: list[dict[str, Any]], top: int, first: str, last: str) -> None:
    """The first and the last entries, or all where they are few."""
    between = len(entries) - 2 * top
    shown = {first: entries}
    if between > 0:
        shown = {first: entries[:top], last: entries[: -top - 1 : -1]}
    for title, part in shown.items():
        rows = [
            [name, f"{offset:+.3f}", f"[{low:+.3f}, {high:+.3f}]"]
            for name, offset, low, high in (each.values() for each in part)
        ]
        print_table([f"{title} first", "offset", "95 % interval"], rows)
    if between > 0:
        print(f"and {between} between them")
