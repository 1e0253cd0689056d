"""Comparisons to batches."""

import numpy as np
from numpy.typing import NDArray

from darc.core.pairwise import scalarize
from darc.errors import TableError, UnknownName
from darc.tables.batch import SampleBatch
from darc.tables.database import RawRows, shorten
from darc.tables.schema import Schema
from darc.tables.table import (
    MISSING_SQL,
    Sizes,
    number_groups,
    number_items,
    refuse_first,
    trimmed,
)  # fmt: skip
from darc.typing import Integers

METHODS = ("win-rate", "bradley-terry", "thurstone")
# Raters x candidates x candidates that one fit may work on; more are fitted in turns.
FIT_CELLS = 500_000


def check_method(name: str) -> None:
    """Refuse an unknown way to turn comparisons into samples."""
    if name not in METHODS:
        raise UnknownName("pairwise method", name, METHODS)


class Comparisons:
    """The table `samples` (prompt, left, right, rater, outcome), sorted by prompt and row.

    The outcome is the left candidate's share of the win.
    """

    def __init__(self, loaded: RawRows, schema: Schema, method: str) -> None:
        self._loaded, self._columns, self._method = loaded, schema.columns, method
        left, right, prompt, rater, winner = (
            loaded.text(schema.columns[part])
            for part in ("left_id", "right_id", "prompt_id", "rater_id", "winner")
        )
        word = trimmed(winner)
        outcome = f"""CASE WHEN {word} = 'left' THEN 1.0 WHEN {word} = 'right' THEN 0.0
            WHEN {word} = 'tie' THEN 0.5 WHEN {winner} = {left} THEN 1.0
            WHEN {winner} = {right} THEN 0.0 END"""
        faults = {
            f"{left} = {right}": ("left_id", self._itself),
            f"({outcome}) IS NULL AND {word} NOT IN ({MISSING_SQL})": ("winner", self._unknown),
        }
        ids = [schema.columns[p] for p in ("prompt_id", "left_id", "right_id", "rater_id")]
        refuse_first(loaded, ids, faults)
        sides = " UNION ALL ".join(
            f"""SELECT {prompt} AS prompt_id, {side} AS id, 2 * rowid + {at} AS first,
            {outcome} AS outcome FROM raw"""
            for at, side in enumerate((left, right))
        )
        number_groups(
            loaded,
            f"""SELECT prompt_id, id, min(first) AS first, count(outcome) AS rated
            FROM ({sides}) GROUP BY 1, 2""",
        )
        self._check_compared()
        self.scorer_ids = [""]
        self.rater_names = number_items(loaded, "raters", schema.columns["rater_id"])
        loaded.run(
            f"""CREATE TABLE samples AS SELECT l.prompt, l.n AS left_n, r.n AS right_n,
            raters.n AS rater, outcome::DOUBLE AS outcome
            FROM (SELECT rowid AS row, {prompt} AS prompt_id, {left} AS left_id,
            {right} AS right_id, {rater} AS rater_id, {outcome} AS outcome FROM raw) AS game
            JOIN candidates AS l ON l.prompt_id = game.prompt_id AND l.id = left_id
            JOIN candidates AS r ON r.prompt_id = game.prompt_id AND r.id = right_id
            JOIN raters ON raters.id = rater_id
            WHERE outcome IS NOT NULL ORDER BY l.prompt, row"""
        )

    def sizes(self) -> Sizes:
        """How large each prompt is: a sample is what a rater makes of a candidate."""
        of_games = self._loaded.arrays(
            """SELECT count(*) AS rows, count(DISTINCT rater) AS raters FROM samples
            GROUP BY prompt ORDER BY prompt"""
        )
        sql = "SELECT count(*) AS rows FROM candidates GROUP BY prompt ORDER BY prompt"
        return Sizes(of_games["rows"], self._loaded.arrays(sql)["rows"], of_games["raters"])

    def check(self, start: int, stop: int) -> None:
        """Nothing: a rater may compare two candidates again."""

    def samples(self, start: int, stop: int, first: int, prompt: Integers) -> SampleBatch:
        """What each rater of some rows makes of each candidate from `first` on."""
        found = self._loaded.arrays(
            f"""SELECT left_n - {first} AS a, right_n - {first} AS b, rater, outcome FROM samples
            WHERE rowid >= {start} AND rowid < {stop} ORDER BY rowid"""
        )
        left, right = found["a"].astype(np.int64), found["b"].astype(np.int64)
        of_row = prompt[left]
        judge, opening = first_appearance(of_row, found["rater"])
        of_judge = of_row[opening]
        every = np.arange(int(prompt[-1]) + 2)
        rows, candidates, raters = (np.searchsorted(a, every) for a in (of_row, prompt, of_judge))
        values, owners, judges = [], [], []
        for low, high in _turns(np.diff(candidates), np.diff(raters)):
            row = slice(rows[low], rows[high])
            base = candidates[of_row[row]]
            # Raters are fitted each on their own, so one call does many prompts.
            table = scalarize(
                self._method,
                left[row] - base,
                right[row] - base,
                judge[row] - raters[low],
                found["outcome"][row],
                candidates=int(np.diff(candidates[low : high + 1]).max()),
                raters=int(raters[high] - raters[low]),
            ).T
            who, place = np.nonzero(~np.isnan(table))
            values.append(table[who, place])
            judges.append(who + raters[low])
            owners.append(place + candidates[of_judge[judges[-1]]])
        owner = np.concatenate(owners)
        order = np.argsort(owner, kind="stable")
        return SampleBatch(
            prompt=prompt,
            counts=np.bincount(owner, minlength=len(prompt)).reshape(-1, 1),
            values=np.concatenate(values)[order],
            raters=found["rater"][opening][np.concatenate(judges)[order]],
        )

    def _check_compared(self) -> None:
        found = self._loaded.row(
            "SELECT first // 2, id, prompt_id FROM candidates WHERE rated = 0 ORDER BY n LIMIT 1"
        )
        if found:
            row, candidate, prompt = found
            raise self._loaded.fault(
                row,
                f"every comparison of candidate {candidate!r} of prompt {prompt!r} is missing",
                "leave the candidate out, or compare it",
            )

    def _itself(self, row: int, _: str) -> TableError:
        (name,) = self._cells(row, "left_id")
        return self._loaded.fault(
            row, f"candidate {name!r} is compared with itself", "give two different candidates"
        )

    def _unknown(self, row: int, _: str) -> TableError:
        winner, left, right = self._cells(row, "winner", "left_id", "right_id")
        return self._loaded.fault(
            row,
            f"the {self._columns['winner']} is {shorten(winner)}",
            f"it should be left, right, tie, {left!r} or {right!r}",
        )

    def _cells(self, row: int, *parts: str) -> tuple[str, ...]:
        cells = ", ".join(self._loaded.text(self._columns[part]) for part in parts)
        return self._loaded.row(f"SELECT {cells} FROM raw WHERE rowid = {row}")


def first_appearance(prompt: Integers, item: NDArray[np.integer]) -> tuple[Integers, Integers]:
    """Each row's (prompt, item), numbered by first appearance, and the first row of each of those.

    `prompt` is sorted, so the numbers of one prompt are consecutive.
    """
    key = prompt.astype(np.int64) * (int(item.max()) + 1) + item
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    rank = np.empty_like(first)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[number], np.sort(first)


def _turns(candidates: Integers, raters: Integers) -> list[tuple[int, int]]:
    """Ranges of prompts whose fits stay within `FIT_CELLS`, or of a single prompt."""
    turns = []
    first = most = judges = 0
    for index, (some, more) in enumerate(zip(candidates.tolist(), raters.tolist(), strict=True)):
        most, judges = max(most, some), judges + more
        if index > first and judges * most**2 > FIT_CELLS:
            turns.append((first, index))
            first, most, judges = index, some, more
    turns.append((first, len(candidates)))
    return turns
