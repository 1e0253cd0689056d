"""Comparisons become samples: what each rater thinks of each candidate of a prompt."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from darc.decide.statistics.pairwise import scalarize
from darc.ratings.database import Database
from darc.ratings.packing import plan_batches
from darc.ratings.raw_rows import RawRows, RowFault, missing_sql, shorten, trimmed_sql
from darc.typing import Integers

METHODS = ("win-rate", "bradley-terry", "thurstone")
# Raters x candidates x candidates that one fit may work on; more are fitted one after the other.
_FIT_CELLS = 500_000


def left_share_sql(columns: Mapping[str, str]) -> str:
    """The SQL for the left candidate's share of the win, null where none is told.

    Args:
        columns: The SQL for the columns of the roles winner, left_id and right_id.
    """
    winner = columns["winner"]
    word = trimmed_sql(winner)
    return f"""CASE WHEN {word} = 'left' THEN 1.0::DOUBLE WHEN {word} = 'right' THEN 0.0
        WHEN {word} = 'tie' THEN 0.5 WHEN {winner} = {columns["left_id"]} THEN 1.0
        WHEN {winner} = {columns["right_id"]} THEN 0.0 END"""


def comparison_faults(loaded: RawRows, columns: Mapping[str, str]) -> list[RowFault]:
    """Candidates that are compared with themselves, and winners that were not compared.

    Args:
        loaded: The rows.
        columns: The table's column for each role.
    """
    texts = {role: loaded.text(name) for role, name in columns.items()}
    winner = columns["winner"]
    left = columns["left_id"]
    right = columns["right_id"]

    def describe_same(cells: Mapping[str, str]) -> tuple[str, str]:
        message = f"candidate {cells[left]!r} is compared with itself"
        return message, "give two different candidates"

    def describe_winner(cells: Mapping[str, str]) -> tuple[str, str]:
        message = f"the {winner} is {shorten(cells[winner])}"
        return message, f"it should be left, right, tie, {cells[left]!r} or {cells[right]!r}"

    no_winner = f"({left_share_sql(texts)}) IS NULL AND NOT {missing_sql(texts['winner'])}"
    return [
        RowFault(f"{texts['left_id']} = {texts['right_id']}", describe_same),
        RowFault(no_winner, describe_winner),
    ]


def fit_samples(db: Database, method: str, raters: int) -> None:
    """Make the table `samples` of the table `games`, both (candidate, scorer, rater, value).

    A game is two rows, left and right, sorted by prompt, and its value is the left candidate's
    share of the win.

    Args:
        db: The database with `games` and `candidates`.
        method: How comparisons become samples, one of `METHODS`.
        raters: The number of raters.
    """
    db.run("CREATE TABLE samples AS SELECT * FROM games LIMIT 0")
    games = db.arrays(
        """SELECT count(*) AS rows, count(DISTINCT rater) AS raters FROM games
        JOIN candidates ON n = candidate GROUP BY prompt ORDER BY prompt"""
    )
    candidates = db.arrays(
        "SELECT count(*) AS count FROM candidates GROUP BY prompt ORDER BY prompt"
    )["count"]
    first_row = np.concatenate(([0], np.cumsum(games["rows"])))
    first_candidate = np.concatenate(([0], np.cumsum(candidates)))
    batches = plan_batches(games["rows"], candidates**2, games["raters"], _FIT_CELLS, _FIT_CELLS)
    for first, last in batches:
        rows = db.arrays(
            f"SELECT * FROM games WHERE rowid >= {first_row[first]} AND rowid < {first_row[last]}"
        )
        most = int(candidates[first:last].max())
        db.insert("samples", _fit_batch(rows, method, raters, first_candidate, most))


def _fit_batch(
    rows: Mapping[str, Any], method: str, raters: int, first_candidate: Integers, candidates: int
) -> dict[str, Any]:
    """The columns of the samples that some games give, sorted by candidate.

    Args:
        rows: The columns of the games, two rows each.
        method: How comparisons become samples.
        raters: The number of raters.
        first_candidate: The number of each prompt's first candidate.
        candidates: The largest number of candidates of a prompt.
    """
    left = rows["candidate"][::2]
    right = rows["candidate"][1::2]
    prompt = np.searchsorted(first_candidate, left, side="right") - 1
    # Each rater of a prompt is fitted alone, so one call does many prompts.
    judges, judge = np.unique(prompt * raters + rows["rater"][::2], return_inverse=True)
    table = scalarize(
        method,
        left - first_candidate[prompt],
        right - first_candidate[prompt],
        judge,
        rows["value"][::2],
        candidates=candidates,
        raters=len(judges),
    )
    position, judge_of_sample = np.nonzero(~np.isnan(table))
    prompt_of_sample, rater = np.divmod(judges[judge_of_sample], raters)
    candidate = first_candidate[prompt_of_sample] + position
    order = np.argsort(candidate, kind="stable")
    return {
        "candidate": candidate[order],
        "scorer": np.zeros_like(candidate),
        "rater": rater[order],
        "value": table[position, judge_of_sample][order],
    }
