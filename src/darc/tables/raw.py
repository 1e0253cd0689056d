"""Rows as they were read: text in the database, each known by its line."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from darc.errors import TableError
from darc.tables.database import Database, quoted

# The first rows, from which columns of numbers are known.
HEAD = 2_000
MISSING = frozenset({"", "na", "nan", "null", "none"})
_MISSING_SQL = ", ".join(map(quoted, sorted(MISSING)))
_SPACE = "' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13)"

# Conditions on a row, and what makes message and hint of the cells of a row on which one holds.
Faults = dict[str, Callable[[Mapping[str, str]], tuple[str, str]]]


@dataclass
class RawRows:
    """A table of the database that has a file's rows: column i is `c{i}`, and all is text.

    Columns go by number because the database takes names that differ in case only for equal. Rows
    are numbered from 0, which is their rowid; `place` says from which file and line one comes. A
    cell is null only where a JSON object lacks it.
    """

    db: Database
    source: str
    place: Callable[[int], tuple[str, int]]
    names: tuple[str, ...] = ()
    table: str = "raw"
    rows: int = 0

    def name(self, names: Iterable[str], line: int = 1) -> None:
        """Take the names of the columns, which stand on a line."""
        self.names = tuple(name.strip() for name in names)
        named = [name for name in self.names if name]
        if len(set(named)) < len(named):
            twice = next(name for name in named if named.count(name) > 1)
            raise TableError(self.source, f"the header names {twice!r} twice", "rename one", line)

    def fill(self, query: str, share: Callable[[float], None] | None = None) -> None:
        """Make the table of a query."""
        self.db.run(f"CREATE TABLE {self.table} AS {query}", share)
        (self.rows,) = self.db.row(f"SELECT count(*) FROM {self.table}")

    def append(self, lines: Sequence[int], cells: Mapping[str, Sequence[str | None]]) -> None:
        """Add rows by column, and their lines, to a table of such rows; a column may be new."""
        for name in cells:
            if name not in self.names:
                self.names += (name,)
                if self.rows:
                    sql = f"ALTER TABLE {self.table} ADD COLUMN {self.column(name)} VARCHAR"
                    self.db.run(sql)
        block = {self.column(name): np.array(own, dtype=object) for name, own in cells.items()}
        block["line"] = np.array(lines, dtype=np.int64)
        self.db.insert(self.table, block, new=not self.rows)
        self.rows += len(lines)

    def kept_line(self, row: int) -> tuple[str, int]:
        """The place of a row that was appended."""
        return self.source, self.db.row(f"SELECT line FROM {self.table} WHERE rowid = {row}")[0]

    def column(self, name: str) -> str:
        """What the database calls a column of the file."""
        return f"c{self.names.index(name)}"

    def text(self, name: str) -> str:
        """The SQL for a column's text, empty where there is none."""
        return f"coalesce({self.column(name)}, '')"

    def number(self, name: str) -> str:
        """The SQL for the number in a column, null where there is none."""
        return f"nullif(try_cast({self.column(name)} AS DOUBLE), 'nan'::DOUBLE)"

    def texts(self, name: str, limit: int | None = None) -> list[str]:
        """The cells of a column, or the first ones."""
        few = "" if limit is None else f" WHERE rowid < {limit}"
        return self.db.words(f"SELECT {self.text(name)} FROM {self.table}{few} ORDER BY rowid")

    def looks_numeric(self, name: str) -> bool:
        """Whether a column seems to hold numbers: most of its first cells, or all are missing."""
        cells = [text for text in self.texts(name, HEAD) if text.strip().lower() not in MISSING]
        return 2 * sum(_as_number(text) is not None for text in cells) >= len(cells)

    def fault(self, row: int, message: str, hint: str = "") -> TableError:
        """The error that says what is wrong with a row."""
        source, line = self.place(row)
        return TableError(source, message, hint, line)

    def refuse_first(self, faults: Faults) -> None:
        """Raise the error of the first row on which one of some conditions holds."""
        # One after the other: all in one condition would take five times as long.
        found = []
        for condition, explain in faults.items():
            (row,) = self.db.row(f"SELECT min(rowid) FROM {self.table} WHERE {condition}")
            if row is not None:
                found.append((row, explain))
        if found:
            row, explain = min(found, key=lambda each: each[0])
            sql = f"SELECT {', '.join(map(self.text, self.names))} FROM {self.table}"
            texts = self.db.row(f"{sql} WHERE rowid = {row}")
            raise self.fault(row, *explain(dict(zip(self.names, texts, strict=True))))

    def number_faults(self, names: Iterable[str]) -> Faults:
        """Cells that are neither missing nor finite numbers."""
        # The database reads 1_000 as a number; in a file of ratings it is a slip.
        return {
            f"CASE WHEN isfinite(try_cast({self.column(name)} AS DOUBLE)) "
            f"THEN contains({self.column(name)}, '_') "
            f"ELSE NOT {missing(self.text(name))} END": partial(_no_number, name)
            for name in names
        }


def _no_number(name: str, cells: Mapping[str, str]) -> tuple[str, str]:
    text, hint = cells[name], "leave the cell empty if it is missing"
    if math.isinf(_as_number(text) or 0):
        return f"an infinity (or a number too large) in column {name!r}", hint
    hint += "; darc import --scale reads words"
    if re.fullmatch(r"\s*[-+]?\d+,\d+\s*", text):
        hint = "write decimals with a point, or let darc import read it"
    return f"{shorten(text)} in column {name!r} is not a number", hint


def missing(text: str) -> str:
    """The SQL for whether a text says that there is nothing."""
    return f"{trimmed(text)} IN ({_MISSING_SQL})"


def trimmed(text: str) -> str:
    """The SQL for a text in small letters without white space around it."""
    return f"lower(trim({text}, {_SPACE}))"


def shorten(text: str, length: int = 40) -> str:
    """`text` in quotation marks, cut where it gets too long for an error message."""
    return repr(text if len(text) <= length else text[: length - 3] + "...")


def _as_number(text: str) -> float | None:
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None
