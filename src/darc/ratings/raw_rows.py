"""Rows as they were read: text in the database, each known by its line."""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from darc.errors import TableError
from darc.ratings.database import Database, quoted

BLOCK_ROWS = 5_000
# The first rows, from which columns of numbers are known.
HEAD = 2_000
MISSING = frozenset({"", "na", "nan", "null", "none"})
_SPACE = "' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13)"

# Conditions on a row, and the message and hint for one on which it holds, or what makes them of
# its cells.
Told = tuple[str, str]
Faults = dict[str, Told | Callable[[Mapping[str, str]], Told]]


class RawRows:
    """A table of the database that has a file's rows: column i is `c{i}`, and all is text.

    Columns go by number because the database takes names that differ in case only for equal. Rows
    are numbered from 0, which is their rowid; `place` says from which file and line one comes. A
    cell is null only where a JSON object lacks it.
    """

    def __init__(self, db: Database, source: str, table: str = "raw") -> None:
        self.db, self.source, self.table = db, source, table
        self.names: tuple[str, ...] = ()
        self.rows = 0
        self.place: Callable[[int], tuple[str, int]] = lambda row: (source, row + 1)

    def name(self, names: Iterable[object], line: int = 1) -> None:
        """Take the names of the columns, which stand on a line."""
        self.names = tuple(str(name).strip() for name in names)
        named = [name for name in self.names if name]
        if len(set(named)) < len(named):
            twice = next(name for name in named if named.count(name) > 1)
            raise TableError(self.source, f"the header names {twice!r} twice", "rename one", line)

    def fill(self, query: str, share: Callable[[float], None] = lambda done: None) -> None:
        """Make the table of a query."""
        self.db.run(f"CREATE TABLE {self.table} AS {query}", share)
        (self.rows,) = self.db.row(f"SELECT count(*) FROM {self.table}")

    def append(self, numbered: Iterable[tuple[int, Mapping[str, Any]]]) -> None:
        """Make the table of lines and what they hold by column; a column may be new in any."""
        self.place = lambda row: (self.source, self._cell_of(row, ["line"])[0])
        rest = iter(numbered)
        while block := list(islice(rest, BLOCK_ROWS)):
            columns = {"line": np.array([line for line, _ in block], dtype=np.int64)}
            for name in dict.fromkeys(name for _, row in block for name in row):
                if name not in self.names:
                    self.names += (name,)
                    if self.rows:
                        column = f"{self.column(name)} VARCHAR"
                        self.db.run(f"ALTER TABLE {self.table} ADD COLUMN {column}")
                cells = [as_text(row[name]) if name in row else None for _, row in block]
                columns[self.column(name)] = np.array(cells, dtype=object)
            self.db.insert(self.table, columns, new=not self.rows)
            self.rows += len(block)

    def _cell_of(self, row: int, columns: Iterable[str]) -> tuple[Any, ...]:
        return self.db.row(f"SELECT {', '.join(columns)} FROM {self.table} WHERE rowid = {row}")

    def column(self, name: str) -> str:
        """What the database calls a column of the file."""
        return f"c{self.names.index(name)}"

    def text(self, name: str) -> str:
        """The SQL for a column's text, empty where there is none."""
        return f"coalesce({self.column(name)}, '')"

    def number(self, name: str) -> str:
        """The SQL for the number in a column, null where there is none."""
        return f"nullif(try_cast({self.column(name)} AS DOUBLE), 'nan'::DOUBLE)"

    def texts(self, name: str, limit: int = -1) -> list[str]:
        """The cells of a column, or the first ones."""
        few = f"WHERE rowid < {limit}" if limit >= 0 else ""
        return self.db.words(f"SELECT {self.text(name)} FROM {self.table} {few} ORDER BY rowid")

    def looks_numeric(self, name: str) -> bool:
        """Whether a column seems to hold numbers: most of its first cells, or all are missing."""
        cells = [text for text in self.texts(name, HEAD) if text.strip().lower() not in MISSING]
        return 2 * sum(not math.isnan(_as_number(text)) for text in cells) >= len(cells)

    def fault(self, row: int, message: str, hint: str = "") -> TableError:
        """The error that says what is wrong with a row."""
        source, line = self.place(row)
        return TableError(source, message, hint, line)

    def refuse_first(self, faults: Faults) -> None:
        """Raise the error of the first row on which one of some conditions holds."""
        # One after the other: all in one condition would take five times as long.
        found = []
        for condition, told in faults.items():
            (row,) = self.db.row(f"SELECT min(rowid) FROM {self.table} WHERE {condition}")
            if row is not None:
                found.append((row, told))
        if found:
            row, told = min(found, key=lambda each: each[0])
            if not isinstance(told, tuple):
                texts = self._cell_of(row, map(self.text, self.names))
                told = told(dict(zip(self.names, texts, strict=True)))
            raise self.fault(row, *told)

    def number_faults(self, names: Iterable[str]) -> Faults:
        """Cells that are neither missing nor finite numbers."""
        # The database reads 1_000 as a number; in a file of ratings it is a slip.
        return {
            f"CASE WHEN isfinite(try_cast({self.column(name)} AS DOUBLE)) "
            f"THEN contains({self.column(name)}, '_') "
            f"ELSE NOT {missing(self.text(name))} END": partial(_no_number, name)
            for name in names
        }


def _no_number(name: str, cells: Mapping[str, str]) -> Told:
    text, hint = cells[name], "leave the cell empty if it is missing"
    if math.isinf(_as_number(text)):
        return f"an infinity (or a number too large) in column {name!r}", hint
    hint += "; darc import --scale reads words"
    if re.fullmatch(r"\s*[-+]?\d+,\d+\s*", text):
        hint = "write decimals with a point, or let darc import read it"
    return f"{shorten(text)} in column {name!r} is not a number", hint


def missing(text: str) -> str:
    """The SQL for whether a text says that there is nothing."""
    return f"{trimmed(text)} IN ({', '.join(map(quoted, sorted(MISSING)))})"


def trimmed(text: str) -> str:
    """The SQL for a text in small letters without white space around it."""
    return f"lower(trim({text}, {_SPACE}))"


def shorten(text: str, length: int = 40) -> str:
    """`text` in quotation marks, cut where it gets too long for an error message."""
    return repr(text if len(text) <= length else text[: length - 3] + "...")


def as_text(value: object) -> str:
    """The text of a cell that came as some object."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        # Spreadsheets know no whole numbers.
        return str(int(value))
    if isinstance(value, bool | list | dict):
        return json.dumps(value, ensure_ascii=False)
    # The missing values of data frames print as this.
    return "" if str(value) in ("<NA>", "NaT", "nan") else str(value)


def _as_number(text: str) -> float:
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan
