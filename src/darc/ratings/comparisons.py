"""Comparisons become samples: what each rater makes of each candidate of a prompt."""

from collections.abc import Mapping

import numpy as np

from darc.decide.statistics.pairwise import scalarize
from darc.ratings.batch import plan
from darc.ratings.database import Database
from darc.ratings.raw_rows import Faults, RawRows, missing, shorten, trimmed

METHODS = ("win-rate", "bradley-terry", "thurstone")
# Raters x candidates x candidates that one fit may work on; more are fitted in turns.
FIT_CELLS = 500_000


def outcome(columns: Mapping[str, str]) -> str:
    """The SQL for the left candidate's share of the win, null where none is told."""
    winner, left, right = (columns[part] for part in ("winner", "left_id", "right_id"))
    word = trimmed(winner)
    return f"""CASE WHEN {word} = 'left' THEN 1.0::DOUBLE WHEN {word} = 'right' THEN 0.0
        WHEN {word} = 'tie' THEN 0.5 WHEN {winner} = {left} THEN 1.0
        WHEN {winner} = {right} THEN 0.0 END"""


def game_faults(loaded: RawRows, columns: Mapping[str, str]) -> Faults:
    """Candidates that are compared with themselves, and winners that are none."""
    known = {part: loaded.text(name) for part, name in columns.items()}
    winner, left, right = (columns[part] for part in ("winner", "left_id", "right_id"))
    return {
        f"{known['left_id']} = {known['right_id']}": lambda cells: (
            f"candidate {cells[left]!r} is compared with itself",
            "give two different candidates",
        ),
        f"({outcome(known)}) IS NULL AND NOT {missing(known['winner'])}": lambda cells: (
            f"the {winner} is {shorten(cells[winner])}",
            f"it should be left, right, tie, {cells[left]!r} or {cells[right]!r}",
        ),
    }


def fit_samples(db: Database, method: str, raters: int) -> None:
    """The table `samples` made of `games` (candidate, scorer, rater, value), sorted by prompt.

    A game is two rows, left and right, and its value the left candidate's share of the win.
    """
    db.run("CREATE TABLE samples AS SELECT * FROM games LIMIT 0")
    games = db.arrays(
        """SELECT count(*) AS rows, count(DISTINCT rater) AS raters FROM games
        JOIN candidates ON n = candidate GROUP BY prompt ORDER BY prompt"""
    )
    sizes = db.arrays("SELECT count(*) AS rows FROM candidates GROUP BY prompt ORDER BY prompt")
    sizes = sizes["rows"]
    row, base = (np.concatenate(([0], np.cumsum(each))) for each in (games["rows"], sizes))
    for first, last in plan(games["rows"], sizes**2, games["raters"], FIT_CELLS, FIT_CELLS):
        found = db.arrays(
            f"SELECT * FROM games WHERE rowid >= {row[first]} AND rowid < {row[last]}"
        )
        left, right = found["candidate"][::2], found["candidate"][1::2]
        prompt = np.searchsorted(base, left, side="right") - 1
        # Raters are fitted each on their own, so one call does many prompts.
        judges, judge = np.unique(prompt * raters + found["rater"][::2], return_inverse=True)
        table = scalarize(
            method,
            left - base[prompt],
            right - base[prompt],
            judge,
            found["value"][::2],
            candidates=int(sizes[first:last].max()),
            raters=len(judges),
        )
        place, who = np.nonzero(~np.isnan(table))
        of_prompt, rater = np.divmod(judges[who], raters)
        owner = base[of_prompt] + place
        order = np.argsort(owner, kind="stable")
        block = {"candidate": owner, "scorer": 0 * owner, "rater": rater}
        block["value"] = table[place, who]
        db.insert("samples", {name: part[order] for name, part in block.items()})
