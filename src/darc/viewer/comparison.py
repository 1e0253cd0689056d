"""What changed between the decisions of two sources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from darc.viewer.index import DecisionIndex
from darc.viewer.query import Query


@dataclass(frozen=True)
class SideSummary:
    """The chosen answers of one source, over the prompts that both sources have."""

    name: str
    #: What its decisions were made by.
    rule: str
    #: How many decisions it has, those that only it has included.
    decisions: int
    #: The average mean of the chosen answers, None if unknown.
    mean: float | None
    #: How many ratings of the chosen answers are of unhappy people, None if unknown.
    unhappy: int | None
    #: How many ratings the chosen answers have, None if unknown.
    ratings: int | None
    #: How many of its answers are held back.
    held: int
    #: How many prompts only this source has.
    alone: int

    @property
    def unhappy_share(self) -> float | None:
        """The share of unhappy ratings, None if unknown."""
        if not self.ratings or self.unhappy is None:
            return None
        return self.unhappy / self.ratings


@dataclass(frozen=True)
class Comparison:
    """What changed from the first source to the second."""

    first: SideSummary
    second: SideSummary
    #: How many prompts both have.
    both: int
    #: On how many of these they chose different answers.
    changed: int
    #: Whether "unhappy" may be said in both.
    known_scale: bool

    @property
    def mean_change(self) -> float | None:
        """By how much the average mean changed, None if unknown."""
        if self.first.mean is None or self.second.mean is None:
            return None
        return self.second.mean - self.first.mean


def compare(index: DecisionIndex) -> Comparison:
    """Sum up what changed between the two sources of an index.

    Only prompts that both sources have are compared.
    """
    (row,) = index.rows(
        """SELECT sum(change IN ('same', 'changed')) AS both, sum(change = 'changed') AS changed
        FROM list"""
    )
    return Comparison(
        first=_side(index, 0),
        second=_side(index, 1),
        both=row["both"],
        changed=row["changed"],
        known_scale=all(source.known_scale for source in index.sources),
    )


def changed_entries(index: DecisionIndex, limit: int | None = None) -> list[dict[str, Any]]:
    """The entries with different answers, in the order of the first source."""
    if limit is None:
        limit = -1
    return index.entries(Query(show="changed", sort="file"), limit=limit)


def lonely_prompts(index: DecisionIndex, side: str) -> list[str]:
    """The ids of the prompts that only one source has.

    Args:
        index: The index.
        side: "first" or "second".
    """
    rows = index.rows("SELECT prompt_id FROM list WHERE change = ? ORDER BY number", (side,))
    return [row["prompt_id"] for row in rows]


def entry_fields(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A changed entry as plain data for JSON."""
    sides: dict[str, Any] = {}
    for side in ("first", "second"):
        row = entry[side]
        names = ("chosen", "answer", "mean", "disagreement", "unhappy", "ratings")
        sides[side] = {name: row[name] for name in names} | {"held": bool(row["held"])}
    return {"prompt_id": entry["prompt_id"], **sides, "mean_change": entry["mean_change"]}


def side_fields(summary: SideSummary, prompts: Sequence[str]) -> dict[str, Any]:
    """The summary of a source as plain data for JSON."""
    return {**vars(summary), "unhappy_share": summary.unhappy_share, "only_here": list(prompts)}


def _side(index: DecisionIndex, place: int) -> SideSummary:
    source = index.sources[place]
    side = ("first", "second")[place]
    (row,) = index.rows(
        f"""SELECT avg(d.mean) AS mean, sum(d.unhappy) AS unhappy, sum(d.ratings) AS ratings,
        coalesce(sum(d.held), 0) AS held
        FROM list JOIN decisions d ON d.number = list.{side}
        WHERE change IN ('same', 'changed')"""
    )
    (counts,) = index.rows(
        f"SELECT count({side}) AS decisions, sum(change = ?) AS alone FROM list", (side,)
    )
    return SideSummary(name=source.name, rule=source.rule, **row, **counts)
