"""Ratings, tidy or wide, to batches."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from darc.errors import TableError
from darc.tables.batch import SampleBatch
from darc.tables.database import RawRows, quoted, shorten
from darc.tables.schema import Schema
from darc.tables.table import (
    MISSING_SQL,
    Sizes,
    number_candidates,
    number_items,
    refuse_first,
    trimmed,
)  # fmt: skip
from darc.typing import Integers


class Ratings:
    """The table `samples` (candidate, scorer, rater, value), sorted by candidate, scorer, row."""

    def __init__(self, loaded: RawRows, schema: Schema) -> None:
        self._loaded, self._schema = loaded, schema
        wide, columns = schema.layout == "wide", schema.columns
        self._cells = list(schema.raters) if wide else [columns["rating"]]
        ids = [column for part, column in columns.items() if part.endswith("_id")]
        check_numbers(loaded, ids, self._cells)
        rated = ", ".join(f"{number(loaded.column(name))}" for name in self._cells)
        number_candidates(loaded, schema, f"count(coalesce({rated}))")
        self._check_rated()
        self._long = self._unfolded() if wide else self._tidy()
        if wide:
            self.rater_names = list(schema.raters)
            names = ", ".join(f"({i}, {quoted(n)})" for i, n in enumerate(schema.raters))
            loaded.run(f"CREATE TABLE raters AS SELECT * FROM (VALUES {names}) AS t(n, id)")
        else:
            self.rater_names = number_items(loaded, "raters", columns["rater_id"])
        self.scorer_ids = [""]
        scorer, join = "0::INTEGER", ""
        if "scorer_id" in columns:
            self.scorer_ids = number_items(loaded, "scorers", columns["scorer_id"])
            scorer, join = "scorers.n", "JOIN scorers ON scorers.id = long.scorer"
        loaded.run(
            f"""CREATE TABLE samples AS SELECT candidates.n AS candidate, {scorer} AS scorer,
            raters.n AS rater, value FROM ({self._long}) AS long
            JOIN candidates ON
            candidates.prompt_id = long.prompt_id AND candidates.id = candidate_id
            JOIN raters ON raters.id = long.rater {join}
            WHERE value IS NOT NULL ORDER BY candidates.n, scorer, row, raters.n"""
        )

    def sizes(self) -> Sizes:
        """How large each prompt is."""
        found = self._loaded.arrays(
            """SELECT sum(rated)::BIGINT AS rows, count(*) AS candidates, max(rated) AS samples
            FROM candidates GROUP BY prompt ORDER BY prompt"""
        )
        if self._schema.layout == "wide" or len(self.scorer_ids) > 1:
            counts = self._loaded.arrays(
                """SELECT count(*) AS rows FROM samples JOIN candidates ON n = candidate
                GROUP BY prompt ORDER BY prompt"""
            )
            found["rows"] = counts["rows"]
            depth = self._loaded.arrays(
                """SELECT max(rows) AS samples FROM (SELECT candidate, count(*) AS rows FROM samples
                GROUP BY candidate, scorer) JOIN candidates ON n = candidate
                GROUP BY prompt ORDER BY prompt"""
            )
            found["samples"] = depth["samples"]
        return Sizes(found["rows"], found["candidates"], found["samples"])

    def check(self, start: int, stop: int) -> None:
        """Refuse raters who rate a candidate twice, among some of the samples."""
        found = self._fetch("candidate, scorer, rater", start, stop)
        cell = found["candidate"].astype(np.int64) * len(self.scorer_ids) + found["scorer"]
        key = np.sort(cell * len(self.rater_names) + found["rater"])
        twice = np.flatnonzero(key[1:] == key[:-1])
        if len(twice):
            cell, rater = divmod(int(key[twice[0]]), len(self.rater_names))
            self._refuse_twice(*divmod(cell, len(self.scorer_ids)), rater)

    def samples(self, start: int, stop: int, first: int, prompt: Integers) -> SampleBatch:
        """Some of the samples; `prompt` is the prompt of each candidate from `first` on."""
        found = self._fetch("candidate, scorer, rater, value", start, stop)
        scorers = len(self.scorer_ids)
        cell = (found["candidate"].astype(np.int64) - first) * scorers + found["scorer"]
        counts = np.bincount(cell, minlength=len(prompt) * scorers).reshape(-1, scorers)
        return SampleBatch(prompt, counts, found["value"], found["rater"])

    def _fetch(self, columns: str, start: int, stop: int) -> dict[str, Any]:
        return self._loaded.arrays(
            f"SELECT {columns} FROM samples WHERE rowid >= {start} AND rowid < {stop}"
        )

    def _tidy(self) -> str:
        loaded, columns = self._loaded, self._schema.columns
        return (
            f"SELECT rowid AS row, {self._ids()}, {loaded.column(columns['rater_id'])} AS rater, "
            f"{number(loaded.column(columns['rating']))} AS value FROM raw"
        )

    def _unfolded(self) -> str:
        names = ", ".join(map(quoted, self._cells))
        values = ", ".join(number(self._loaded.column(name)) for name in self._cells)
        return (
            f"SELECT rowid AS row, {self._ids()}, unnest([{names}]) AS rater, "
            f"unnest([{values}]) AS value FROM raw"
        )

    def _ids(self) -> str:
        parts = {"prompt_id": "prompt_id", "candidate_id": "candidate_id", "scorer_id": "scorer"}
        columns = self._schema.columns
        return ", ".join(
            f"{self._loaded.column(columns[part])} AS {name}"
            for part, name in parts.items()
            if part in columns
        )

    def _check_rated(self) -> None:
        found = self._loaded.row(
            "SELECT first, id, prompt_id FROM candidates WHERE rated = 0 ORDER BY n LIMIT 1"
        )
        if found:
            row, candidate, prompt = found
            raise self._loaded.fault(
                row,
                f"every rating of candidate {candidate!r} of prompt {prompt!r} is missing",
                "leave the candidate out, or rate it",
            )

    def _refuse_twice(self, candidate: int, scorer: int, rater: int) -> None:
        loaded, name = self._loaded, self.scorer_ids[scorer]
        id_, prompt = loaded.row(f"SELECT id, prompt_id FROM candidates WHERE n = {candidate}")
        under = f" AND scorer = {quoted(name)}" if name else ""
        first, second = (
            row
            for (row,) in loaded.run(
                f"""SELECT row FROM ({self._long}) WHERE prompt_id = {quoted(prompt)} AND
                candidate_id = {quoted(id_)} AND rater = {quoted(self.rater_names[rater])}{under}
                AND value IS NOT NULL ORDER BY row LIMIT 2"""
            ).fetchall()
        )
        raise loaded.fault(
            second,
            f"rater {self.rater_names[rater]!r} rates candidate {id_!r} of prompt {prompt!r}"
            f"{name and f' under scorer {name!r}'} twice, first on line {loaded.line(first)}",
            "keep one of the two",
        )


def check_numbers(loaded: RawRows, ids: Iterable[str], columns: Iterable[str]) -> None:
    """Refuse the first row without an id, or with a cell that is no finite number."""

    def unreadable(row: int, name: str) -> TableError:
        (text,) = loaded.row(f"SELECT {loaded.text(name)} FROM raw WHERE rowid = {row}")
        comma = re.fullmatch(r"\s*[-+]?\d+,\d+\s*", text)
        return loaded.fault(
            row,
            f"{shorten(text)} in column {name!r} is not a number",
            "write decimals with a point, or let darc import read it"
            if comma
            else "leave the cell empty if it is missing; darc import --scale reads words",
        )

    def infinite(row: int, name: str) -> TableError:
        return loaded.fault(
            row,
            f"an infinity (or a number too large) in column {name!r}",
            "leave the cell empty if it is missing",
        )

    faults = {}
    for name in columns:
        text, value = loaded.text(name), f"try_cast({loaded.column(name)} AS DOUBLE)"
        missing = f"{trimmed(text)} IN ({MISSING_SQL})"
        # The database reads 1_000 as a number; in a file of ratings it is a slip.
        odd = f"CASE WHEN isfinite({value}) THEN contains({text}, '_') ELSE NOT {missing} END"
        faults[f"{odd} AND NOT coalesce(isinf({value}), false)"] = name, unreadable
        faults[f"isinf({value})"] = name, infinite
    refuse_first(loaded, ids, faults)


def number(column: str) -> str:
    """The SQL for the number in a column, null where there is none."""
    return f"nullif(try_cast({column} AS DOUBLE), 'nan'::DOUBLE)"
