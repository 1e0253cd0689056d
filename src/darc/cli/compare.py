"""`darc compare`: which system is best for everyone."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from darc.cli.commands import Command
from darc.cli.decision_view import unhappy_definition
from darc.cli.output import draw, print_json, print_table
from darc.cli.sources import load_source
from darc.errors import InputError
from darc.settings.compare import CompareSettings

if TYPE_CHECKING:
    from darc.analysis.compare.leaderboard import Leaderboard

# How many systems the table of wins shows.
MOST_WINS = 8
# Below this share of unhappy people, the threshold is probably too low.
FEW_UNHAPPY = 0.05


def run(settings: CompareSettings) -> None:
    """Read the ratings, compare the systems, draw and print."""
    from darc.analysis.compare.comparison import compare_systems
    from darc.analysis.compare.plot import draw_leaderboard

    source = load_source(settings.source, settings)
    leaderboard = compare_systems(
        source,
        settings.threshold,
        settings.draws,
        settings.seed,
        settings.top,
        scale=settings.scale,
    )
    if settings.by and not leaderboard.by_group:
        raise InputError(f"{settings.source} has no column rater_group", "see --column")
    draw(settings.plot, lambda: draw_leaderboard(leaderboard), "drew")
    if settings.as_json:
        print_json(_json_fields(leaderboard))
    else:
        _print(leaderboard, bool(settings.by))


def _print(leaderboard: "Leaderboard", by_group: bool) -> None:
    """Print who is best, the leaderboards, and who wins where."""
    print(f"{leaderboard.verdict}\n")
    low_title = "low scores"
    if leaderboard.rated_by_people:
        low_title = "unhappy"
    _print_standings(leaderboard.standings, low_title)
    _print_definitions(leaderboard)
    if by_group:
        for group, standings in leaderboard.by_group.items():
            print(f"\n{group}")
            _print_standings(standings, low_title)
    _print_wins(leaderboard)


def _print_definitions(leaderboard: "Leaderboard") -> None:
    """Print what the columns mean."""
    if leaderboard.rated_by_people:
        print(unhappy_definition(leaderboard.standards))
    else:
        print(f"low scores: below {leaderboard.threshold:g}; --threshold says otherwise")
    if leaderboard.severity_removed:
        print("raters' severity is taken out of the means")
    most_unhappy = max(standing.unhappy for standing in leaderboard.standings)
    if leaderboard.rated_by_people and most_unhappy < FEW_UNHAPPY:
        print("hardly anyone is unhappy by this: --threshold says from where on people are")


def _print_wins(leaderboard: "Leaderboard") -> None:
    """Print on which share of prompts each system is better than each other one."""
    names = [standing.system for standing in leaderboard.standings[:MOST_WINS]]
    title = "share of prompts on which the system of the row has the higher mean"
    if len(names) < len(leaderboard.standings):
        title += f", of the first {MOST_WINS}"
    print(f"\n{title}")
    shares = leaderboard.wins[: len(names), : len(names)].tolist()
    rows = [[name, *row] for name, row in zip(names, shares, strict=True)]
    print_table(["", *names], rows)
    if leaderboard.reversals:
        print(f"\nwhere {names[1]} is ahead of {names[0]}, the clearest first")
        print_table(["prompt", "by"], leaderboard.reversals)


def _print_standings(standings: Any, low_title: str) -> None:
    """Print a leaderboard."""
    has_groups = any(standing.worst_group for standing in standings)
    header = ["rank", "system", "mean", "95 % interval", low_title, "worst tenth", "disagreement"]
    if has_groups:
        header.append("worst group")
    header.append("ratings")
    print_table(header, [_standing_row(standing, has_groups) for standing in standings])


def _standing_row(standing: Any, has_groups: bool) -> list[object]:
    """What a leaderboard says about one system."""
    low, high = standing.interval
    row: list[object] = [
        standing.rank,
        standing.system,
        standing.mean,
        f"{low:.3f} to {high:.3f}",
        f"{standing.unhappy:.1%}",
        standing.worst_tenth,
        standing.disagreement,
    ]
    if has_groups:
        row.append(f"{standing.worst_group} {standing.worst_group_mean:.3f}")
    row.append(standing.ratings)
    return row


def _json_fields(leaderboard: "Leaderboard") -> dict[str, Any]:
    """Everything about a comparison."""
    names = [standing.system for standing in leaderboard.standings]
    wins: dict[str, dict[str, float]] = {}
    for name, shares in zip(names, leaderboard.wins.tolist(), strict=True):
        by_system = dict(zip(names, shares, strict=True))
        del by_system[name]
        wins[name] = by_system
    by_group: dict[str, Any] = {}
    for group, standings in leaderboard.by_group.items():
        by_group[group] = [asdict(standing) for standing in standings]
    return {
        "name": leaderboard.name,
        "verdict": leaderboard.verdict,
        "threshold": leaderboard.threshold,
        "scale": leaderboard.standards.scale,
        "severity_taken_out": leaderboard.severity_removed,
        "standings": [asdict(standing) for standing in leaderboard.standings],
        "wins": wins,
        "turns": [{"prompt_id": prompt, "by": by} for prompt, by in leaderboard.reversals],
        "by_group": by_group,
    }


COMMAND = Command(CompareSettings, run)
