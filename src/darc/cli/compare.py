"""`darc compare`: which system is best for everyone."""

from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any

from darc.cli.commands import Command
from darc.cli.decision_view import unhappy_definition
from darc.cli.output import draw, print_json, print_table
from darc.cli.sources import load_source
from darc.errors import InputError
from darc.settings.compare import CompareSettings

if TYPE_CHECKING:
    from darc.analysis.compare.leaderboard import Leaderboard
    from darc.analysis.compare.with_judge import PoweredSystem
    from darc.ratings.ratings import Ratings
    from darc.typing import Array

# How many systems the table of wins shows.
MOST_WINS = 8
# Below this share of unhappy people, the threshold is probably too low.
FEW_UNHAPPY = 0.05


def run(settings: CompareSettings) -> None:
    """Read the ratings, compare the systems, draw and print."""
    from darc.analysis.compare.comparison import compare_systems
    from darc.analysis.compare.plot import draw_leaderboard
    from darc.ratings.merging import merge_ratings

    source = merge_ratings([load_source(path, settings) for path in settings.sources])
    pair = None
    if settings.pair:
        pair = settings.pair
    leaderboard = compare_systems(
        source,
        settings.threshold,
        settings.draws,
        settings.seed,
        settings.top,
        scale=settings.scale,
        pair=pair,
        lam=settings.lam,
    )
    if settings.by and not leaderboard.by_group:
        raise InputError(f"{source.name} has no column rater_group", "see --column")
    draw(settings.plot, lambda: draw_leaderboard(leaderboard), "drew")
    powered = _with_judges(source, settings)
    if settings.as_json:
        fields = _json_fields(leaderboard)
        if powered:
            fields["with_judge"] = [asdict(system) for system in powered]
        print_json(fields)
    else:
        _print(leaderboard, bool(settings.by))
        _print_powered(powered)


def _with_judges(source: "Ratings", settings: CompareSettings) -> "list[PoweredSystem]":
    """What people and judges say together, nothing without judges."""
    if not settings.judges:
        return []
    from darc.analysis.compare.with_judge import compare_with_judge
    from darc.analysis.reading import load_ratings

    judges = [load_ratings(path, system=settings.system) for path in settings.judges]
    return compare_with_judge(source, judges)


def _print_powered(systems: "list[PoweredSystem]") -> None:
    """Print the means and differences that use a judge's grades."""
    if not systems:
        return
    judged = max(system.mean.judged_only for system in systems)
    rated = max(system.mean.rated for system in systems)
    print(f"\nwith the judge's grades of {judged} more prompts (people rated {rated}; PPI++)")
    rows: list[list[object]] = []
    for system in systems:
        mean = system.mean
        behind = "-"
        if system.behind_best is not None:
            difference = system.behind_best
            behind = f"{difference.mean:+.3f} [{difference.low:+.3f}, {difference.high:+.3f}]"
        rows.append(
            [
                system.system,
                f"{mean.mean:.3f} [{mean.low:.3f}, {mean.high:.3f}]",
                f"{mean.people_mean:.3f} [{mean.people_low:.3f}, {mean.people_high:.3f}]",
                f"{mean.saved_share:.0%}",
                behind,
            ]
        )
    print_table(
        ["system", "people and judge", "people alone", "narrower by", "less the best"], rows
    )
    print("95 % intervals, each by itself; they hold for prompts like these, whatever the judge is")


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
    print(
        f"tradeoff: mean - {leaderboard.lam:g} sigma of each prompt, averaged; "
        "CVaR 10 %: the mean of the tenth of the prompts with the lowest means"
    )
    for note in leaderboard.notes:
        print(note)
    for sentence in leaderboard.difference_sentences:
        print(sentence)
    _print_pair_outcomes(leaderboard)
    if leaderboard.severity_removed:
        print("raters' severity is taken out of the means")
    most_unhappy = max(standing.unhappy for standing in leaderboard.standings)
    if leaderboard.rated_by_people and most_unhappy < FEW_UNHAPPY:
        print("hardly anyone is unhappy by this: --threshold says from where on people are")


def _print_pair_outcomes(leaderboard: "Leaderboard") -> None:
    """Print how often one system of a pair is ahead, and the changes over prompts."""
    pair = leaderboard.pair_outcomes
    if pair is None or not pair.comparisons:
        return
    subject = "prompts"
    if pair.by_person:
        subject = "comparisons by the same person"
    low, high = pair.win_rate.interval
    print(
        f"of {pair.comparisons} {subject}, {pair.first} is ahead of {pair.second} in "
        f"{pair.wins:.1%}, tied in {pair.ties:.1%} and behind in {pair.losses:.1%}: win rate "
        f"{pair.win_rate.value:.1%} ({low:.1%} to {high:.1%}), ties counted half"
    )
    changes = [
        f"{name} {change.value:+.3f} ({change.interval[0]:+.3f} to {change.interval[1]:+.3f})"
        for name, change in (("tradeoff", pair.tradeoff), ("CVaR 10 %", pair.cvar))
        if isfinite(change.value)
    ]
    print(f"{pair.first} less {pair.second}, same prompts: {', '.join(changes)}")


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
    header += ["tradeoff", "CVaR 10 %"]
    if has_groups:
        header.append("worst group")
    header.append("ratings")
    print_table(header, [_standing_row(standing, has_groups) for standing in standings])


def _standing_row(standing: Any, has_groups: bool) -> list[object]:
    """What a leaderboard says about one system."""
    low, high = standing.interval
    low_share, high_share = standing.unhappy_interval
    row: list[object] = [
        standing.rank,
        standing.system,
        standing.mean,
        f"{low:.3f} to {high:.3f}",
        f"{standing.unhappy:.1%} ({low_share:.1%} to {high_share:.1%})",
        standing.worst_tenth,
        standing.disagreement,
        standing.tradeoff,
        standing.cvar,
    ]
    if has_groups:
        row.append(f"{standing.worst_group} {standing.worst_group_mean:.3f}")
    row.append(standing.ratings)
    return row


def _json_fields(leaderboard: "Leaderboard") -> dict[str, Any]:
    """Everything about a comparison."""
    ties = {}
    if leaderboard.ties is not None:
        ties = _shares_by_system(leaderboard, leaderboard.ties)
    pair_outcomes = None
    if leaderboard.pair_outcomes is not None:
        pair_outcomes = asdict(leaderboard.pair_outcomes)
    by_group: dict[str, Any] = {}
    for group, standings in leaderboard.by_group.items():
        by_group[group] = [asdict(standing) for standing in standings]
    pair = None
    if leaderboard.difference is not None:
        pair = asdict(leaderboard.difference)
    return {
        "name": leaderboard.name,
        "verdict": leaderboard.verdict,
        "threshold": leaderboard.threshold,
        "scale": leaderboard.standards.scale,
        "severity_taken_out": leaderboard.severity_removed,
        "method": leaderboard.method,
        "raters": leaderboard.raters,
        "notes": leaderboard.notes,
        "pair": pair,
        "standings": [asdict(standing) for standing in leaderboard.standings],
        "wins": _shares_by_system(leaderboard, leaderboard.wins),
        "ties": ties,
        "lambda": leaderboard.lam,
        "pair_outcomes": pair_outcomes,
        "turns": [{"prompt_id": prompt, "by": by} for prompt, by in leaderboard.reversals],
        "by_group": by_group,
    }


def _shares_by_system(leaderboard: "Leaderboard", shares: "Array") -> dict[str, dict[str, float]]:
    """Shares (S, S) of two different systems, by their names."""
    names = [standing.system for standing in leaderboard.standings]
    by_system = {}
    for name, row in zip(names, shares.tolist(), strict=True):
        by_system[name] = dict(zip(names, row, strict=True))
        del by_system[name][name]
    return by_system


COMMAND = Command(CompareSettings, run)
