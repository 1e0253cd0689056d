"""`darc compare`: which system is best for everyone."""

from argparse import Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.decision_view import unhappy_definition
from darc.cli.output import draw, print_json, print_table
from darc.cli.parser import Parser, add_columns, check_least, load_input
from darc.errors import InputError

if TYPE_CHECKING:
    from darc.analysis.compare.leaderboard import Leaderboard

MOST_WINS = 8
FEW = 0.05


def add(parser: Parser) -> None:
    """Add the options."""
    from darc.cli.options import add_options
    from darc.engine.options import PeopleOptions

    parser.add_argument("source", type=Path, help="ratings, a run folder or an audit log")
    add_options(parser, PeopleOptions, "threshold", "scale")
    parser.add_argument(
        "--by", choices=("rater_group",), help="a leaderboard for each group of raters too"
    )
    add_columns(parser)
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture (.png, .svg, .pdf)")
    parser.add_argument("--top", type=int, default=5, metavar="N", help="prompts that are shown")
    parser.add_argument("--draws", type=int, default=2000, metavar="N", help="bootstrap draws")
    parser.add_argument("--seed", type=int, default=0, help="seed of the draws")
    parser.add_argument("--json", action="store_true", help="everything as one JSON object")


def run(arguments: Namespace) -> None:
    """Read, compare, draw and print."""
    from darc.analysis.compare.comparison import compare_systems
    from darc.analysis.compare.plot import draw_leaderboard

    check_least(arguments, top=0, draws=100)
    source = load_input(arguments)
    found = compare_systems(
        source,
        arguments.threshold,
        arguments.draws,
        arguments.seed,
        arguments.top,
        scale=arguments.scale,
    )
    if arguments.by and not found.by_group:
        raise InputError(f"{arguments.source} has no column rater_group", "see --column")
    draw(arguments.plot, lambda: draw_leaderboard(found), "drew")
    if arguments.json:
        print_json(_plain(found))
    else:
        _print(found, bool(arguments.by))


def _print(found: "Leaderboard", by_group: bool) -> None:
    print(f"{found.verdict}\n")
    low_title = "unhappy" if found.rated_by_people else "low scores"
    _print_standings(found.standings, low_title)
    if found.rated_by_people:
        print(unhappy_definition(found.standards))
    else:
        print(f"low scores: below {found.threshold:g}; --threshold says otherwise")
    if found.severity_removed:
        print("raters' severity is taken out of the means")
    if found.rated_by_people and max(each.unhappy for each in found.standings) < FEW:
        print("hardly anyone is unhappy by this: --threshold says from where on people are")
    if by_group:
        for group, standings in found.by_group.items():
            print(f"\n{group}")
            _print_standings(standings, low_title)
    names = [each.system for each in found.standings[:MOST_WINS]]
    few = f", of the first {MOST_WINS}" if len(names) < len(found.standings) else ""
    print(f"\nshare of prompts on which the system of the row has the higher mean{few}")
    shares = found.wins[: len(names), : len(names)].tolist()
    print_table(["", *names], [[name, *own] for name, own in zip(names, shares, strict=True)])
    if found.reversals:
        print(f"\nwhere {names[1]} is ahead of {names[0]}, the clearest first")
        print_table(["prompt", "by"], found.reversals)


def _print_standings(standings: Any, low_title: str) -> None:
    grouped = any(each.worst_group for each in standings)
    header = ["rank", "system", "mean", "95 % interval", low_title, "worst tenth", "disagreement"]
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
    print_table([*header, *(["worst group"] if grouped else []), "ratings"], rows)


def _plain(found: "Leaderboard") -> dict[str, Any]:
    names, wins = [each.system for each in found.standings], found.wins.tolist()
    return {
        "name": found.name,
        "verdict": found.verdict,
        "threshold": found.threshold,
        "scale": found.standards.scale,
        "severity_taken_out": found.severity_removed,
        "standings": list(map(asdict, found.standings)),
        "wins": {
            name: {other: share for other, share in zip(names, row, strict=True) if other != name}
            for name, row in zip(names, wins, strict=True)
        },
        "turns": [{"prompt_id": prompt, "by": by} for prompt, by in found.reversals],
        "by_group": {group: list(map(asdict, each)) for group, each in found.by_group.items()},
    }
