"""`darc compare`: which system is best for everyone."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.parser import add_columns, add_general, columns_of
from darc.files import jsonable

if TYPE_CHECKING:
    from darc.evaluation.leaderboard import Leaderboard

DESCRIPTION = """\
Which of my systems is best for everyone? A leaderboard of the systems that wrote the candidates in
a file of ratings: mean with a 95 % interval, share of unhappy people, worst tenth, worst group and
disagreement. Raters' severity is taken out of the means, and systems that cannot be told apart
share a rank."""
EPILOG = """\
examples:
  darc compare ratings.csv
  darc compare ratings.csv --column system=model --threshold 3 --plot systems.png
  darc compare ratings.csv --by rater_group"""
MOST_WINS = 8
FEW = 0.05


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        name, help="say which system is best for everyone", description=DESCRIPTION, epilog=EPILOG
    )
    parser.add_argument("source", type=Path, help="ratings, a run folder or an audit log")
    parser.add_argument(
        "--threshold",
        type=float,
        help="people below it are unhappy (default: the middle of the ratings' range)",
    )
    parser.add_argument(
        "--by", choices=("rater_group",), help="a leaderboard for each group of raters too"
    )
    add_columns(parser)
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture (.png, .svg, .pdf)")
    parser.add_argument(
        "--top", type=int, default=5, metavar="N", help="prompts that are shown (default: 5)"
    )
    parser.add_argument(
        "--draws", type=int, default=2000, metavar="N", help="bootstrap draws (default: 2000)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the draws (default: 0)")
    parser.add_argument("--json", action="store_true", help="everything as one JSON object")
    add_general(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, compare, draw and print."""
    from darc.errors import InputError
    from darc.evaluation.leaderboard import leaderboard
    from darc.evaluation.reading import read_any
    from darc.views import check_picture

    for name, least in (("top", 0), ("draws", 100)):
        if getattr(arguments, name) < least:
            raise InputError(f"--{name} is {getattr(arguments, name)}", f"give {least} or more")
    if arguments.plot is not None:
        check_picture(arguments.plot)
    source = read_any(arguments.source, None, columns_of(arguments), arguments.system)
    found = leaderboard(source, arguments.threshold, arguments.draws, arguments.seed, arguments.top)
    if arguments.by and not found.by_group:
        raise InputError(f"{arguments.source} has no column rater_group", "see --column")
    if arguments.plot is not None:
        _draw(found, arguments.plot)
    if arguments.json:
        print(json.dumps(_plain(found), ensure_ascii=False, allow_nan=False))
    else:
        _print(found, bool(arguments.by))


def _print(found: "Leaderboard", by_group: bool) -> None:
    from darc.views.text_table import text_table

    print(f"{found.verdict}\n")
    _print_standings(found.standings)
    taken = "; raters' severity is taken out of the means" if found.severity else ""
    print(f"unhappy: below {found.threshold:g}{taken}")
    if max(each.unhappy for each in found.standings) < FEW:
        print("hardly anyone is unhappy by this: --threshold says from where on people are")
    if by_group:
        for group, standings in found.by_group.items():
            print(f"\n{group}")
            _print_standings(standings)
    names = [each.system for each in found.standings[:MOST_WINS]]
    few = f", of the first {MOST_WINS}" if len(names) < len(found.standings) else ""
    print(f"\nshare of prompts on which the system of the row has the higher mean{few}")
    shares = found.wins[: len(names), : len(names)].tolist()
    print(text_table(["", *names], [[n, *own] for n, own in zip(names, shares, strict=True)]))
    if found.turns:
        print(f"\nwhere {names[1]} is ahead of {names[0]}, the clearest first")
        print(text_table(["prompt", "by"], found.turns))


def _print_standings(standings: Any) -> None:
    from darc.views.text_table import text_table

    grouped = any(each.worst_group for each in standings)
    header = ["rank", "system", "mean", "95 % interval", "unhappy", "worst tenth", "disagreement"]
    rows = [
        [
            each.rank,
            each.system,
            each.mean,
            "{:.3f} to {:.3f}".format(*each.interval),
            f"{each.unhappy:.1%}",
            each.worst_tenth,
            each.disagreement,
            *([f"{each.worst_group} {each.worst_group_mean:.3f}"] if grouped else []),
            each.ratings,
        ]
        for each in standings
    ]
    print(text_table([*header, *(["worst group"] if grouped else []), "ratings"], rows))


def _draw(found: "Leaderboard", path: Path) -> None:
    from darc.evaluation.leaderboard import draw_leaderboard
    from darc.files import atomic_path
    from darc.views import save_figure

    with atomic_path(path) as temporary:
        save_figure(draw_leaderboard(found), temporary)
    print(f"drew {path}", file=sys.stderr)


def _plain(found: "Leaderboard") -> dict[str, Any]:
    names = [each.system for each in found.standings]
    return {
        "name": found.name,
        "verdict": found.verdict,
        "threshold": found.threshold,
        "severity_taken_out": found.severity,
        "standings": [jsonable(asdict(each)) for each in found.standings],
        "wins": {
            name: {other: share for other, share in zip(names, row, strict=True) if other != name}
            for name, row in zip(names, jsonable(found.wins.tolist()), strict=True)
        },
        "turns": [{"prompt_id": prompt, "by": by} for prompt, by in found.turns],
        "by_group": {
            group: [jsonable(asdict(each)) for each in standings]
            for group, standings in found.by_group.items()
        },
    }
