"""Rows as they were read: a table of texts in the database, each row known by its line."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from darc.errors import TableError
from darc.ratings.database import Database, ShareDone, ignore_share, quoted

#: The name of the table that ratings are read into.
RAW = "raw"
BLOCK_ROWS = 5_000
#: What a cell says that has no value.
MISSING = frozenset({"", "na", "nan", "null", "none"})
# The number of first rows by which columns of numbers are recognised.
_HEAD_ROWS = 2_000
_SPACE = "' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13)"

#: Says from which file and line a row comes, given its number from 0.
Locate = Callable[[int], tuple[str, int]]
Cells = Mapping[str, str]


@dataclass(frozen=True)
class RowFault:
    """Something that may be wrong with a row."""

    #: The SQL condition that holds for a row with this fault.
    condition: str
    #: Makes the message and the hint from the cells of such a row, by column.
    describe: Callable[[Cells], tuple[str, str]]

    @classmethod
    def plain(cls, condition: str, message: str, hint: str) -> "RowFault":
        """A fault whose message does not depend on the row."""
        return cls(condition, lambda cells: (message, hint))


@dataclass(frozen=True)
class RawRows:
    """A table of the database that has a file's rows as texts.

    Column i of the file is the column `c{i}` of the table, since the database takes names that
    differ in case only for equal. A cell is null only where a JSON object lacks it.
    """

    db: Database
    #: What errors call the file.
    source: str
    #: The name of the table.
    table: str
    #: The names of the columns.
    names: tuple[str, ...]
    #: The number of rows; they are numbered from 0, which is their rowid.
    rows: int
    #: Says from which file and line a row comes.
    locate: Locate

    def column(self, name: str) -> str:
        """What the database calls a column of the file."""
        return _column_sql(self.names, name)

    def text(self, name: str) -> str:
        """The SQL for a column's text, empty where there is none."""
        return f"coalesce({self.column(name)}, '')"

    def number(self, name: str) -> str:
        """The SQL for the number in a column, null where there is none."""
        return f"nullif(try_cast({self.column(name)} AS DOUBLE), 'nan'::DOUBLE)"

    def texts(self, name: str, limit: int | None = None) -> list[str]:
        """The cells of a column, or the first ones."""
        condition = ""
        if limit is not None:
            condition = f"WHERE rowid < {limit}"
        return self.db.words(
            f"SELECT {self.text(name)} FROM {self.table} {condition} ORDER BY rowid"
        )

    def looks_numeric(self, name: str) -> bool:
        """Whether most of a column's first cells are numbers, or all are missing."""
        head = self.texts(name, _HEAD_ROWS)
        cells = [text for text in head if text.strip().lower() not in MISSING]
        numbers = sum(not math.isnan(_as_number(text)) for text in cells)
        return 2 * numbers >= len(cells)

    def error_at(self, row: int, message: str, hint: str = "") -> TableError:
        """The error that says what is wrong with a row."""
        source, line = self.locate(row)
        return TableError(source, message, hint, line)

    def raise_first(self, faults: Iterable[RowFault]) -> None:
        """Raise the error of the first row that has one of some faults.

        Raises:
            TableError: A row has one.
        """
        first_row = self.rows
        first_fault = None
        # One query after the other: all in one condition would take five times as long.
        for fault in faults:
            (row,) = self.db.row(f"SELECT min(rowid) FROM {self.table} WHERE {fault.condition}")
            if row is not None and row < first_row:
                first_row = row
                first_fault = fault
        if first_fault is not None:
            message, hint = first_fault.describe(self._cells_of(first_row))
            raise self.error_at(first_row, message, hint)

    def number_faults(self, names: Iterable[str]) -> list[RowFault]:
        """Faults of cells that are neither missing nor finite numbers."""
        return [self._number_fault(name) for name in names]

    def _number_fault(self, name: str) -> RowFault:
        column = self.column(name)
        # The database reads 1_000 as a number; in a file of ratings it is a slip.
        condition = (
            f"CASE WHEN isfinite(try_cast({column} AS DOUBLE)) THEN contains({column}, '_') "
            f"ELSE NOT {missing_sql(self.text(name))} END"
        )
        return RowFault(condition, lambda cells: _not_a_number(name, cells[name]))

    def _cells_of(self, row: int) -> Cells:
        columns = ", ".join(self.text(name) for name in self.names)
        texts = self.db.row(f"SELECT {columns} FROM {self.table} WHERE rowid = {row}")
        return dict(zip(self.names, texts, strict=True))


def _column_sql(names: Sequence[str], name: str) -> str:
    return f"c{names.index(name)}"


def checked_names(source: str, names: Iterable[object], line: int = 1) -> tuple[str, ...]:
    """The names of a header without the white space around them.

    Args:
        source: What errors call the file.
        names: The cells of the header.
        line: The line of the header.

    Raises:
        TableError: Two columns have the same name.
    """
    header = tuple(str(name).strip() for name in names)
    seen = set()
    for name in filter(None, header):
        if name in seen:
            raise TableError(source, f"the header names {name!r} twice", "rename one", line)
        seen.add(name)
    return header


def rows_of_query(
    db: Database,
    source: str,
    table: str,
    names: tuple[str, ...],
    query: str,
    locate: Locate,
    share_done: ShareDone = ignore_share,
) -> RawRows:
    """Make the raw rows of a query whose columns are `c0`, `c1` and so on."""
    db.run(f"CREATE TABLE {table} AS {query}", share_done)
    (count,) = db.row(f"SELECT count(*) FROM {table}")
    return RawRows(db, source, table, names, count, locate)


def rows_of_records(
    db: Database,
    source: str,
    table: str,
    records: Iterable[tuple[int, Mapping[str, Any]]],
    names: Sequence[str] = (),
) -> RawRows:
    """Make the raw rows of records, each with its line.

    Args:
        db: Where to put them.
        source: What errors call the file.
        table: The name of the table.
        records: The line and the cells by column of each record. Any record may have new columns.
        names: The columns that are known already.
    """
    columns_so_far = list(names)
    count = 0
    for block in _blocks(records):
        arrays = {"line": np.array([line for line, _ in block], dtype=np.int64)}
        for name in dict.fromkeys(name for _, record in block for name in record):
            if name not in columns_so_far:
                columns_so_far.append(name)
                if count:
                    column = _column_sql(columns_so_far, name)
                    db.run(f"ALTER TABLE {table} ADD COLUMN {column} VARCHAR")
            cells = [as_text(record[name]) if name in record else None for _, record in block]
            arrays[_column_sql(columns_so_far, name)] = np.array(cells, dtype=object)
        db.insert(table, arrays, new=count == 0)
        count += len(block)

    def locate(row: int) -> tuple[str, int]:
        (line,) = db.row(f"SELECT line FROM {table} WHERE rowid = {row}")
        return source, line

    return RawRows(db, source, table, tuple(columns_so_far), count, locate)


def _blocks(
    records: Iterable[tuple[int, Mapping[str, Any]]],
) -> Iterator[list[tuple[int, Mapping[str, Any]]]]:
    """Some records at a time."""
    remaining = iter(records)
    block = list(islice(remaining, BLOCK_ROWS))
    while block:
        yield block
        block = list(islice(remaining, BLOCK_ROWS))


def _not_a_number(name: str, text: str) -> tuple[str, str]:
    """The message and the hint for a cell that should be a number."""
    hint = "leave the cell empty if it is missing"
    if math.isinf(_as_number(text)):
        return f"an infinity (or a number too large) in column {name!r}", hint
    if re.fullmatch(r"\s*[-+]?\d+,\d+\s*", text):
        hint = "write decimals with a point, or let darc import read it"
    else:
        hint += "; darc import --scale reads words"
    return f"{shorten(text)} in column {name!r} is not a number", hint


def missing_sql(text: str) -> str:
    """The SQL for whether a text says that there is no value."""
    words = ", ".join(quoted(word) for word in sorted(MISSING))
    return f"{trimmed_sql(text)} IN ({words})"


def trimmed_sql(text: str) -> str:
    """The SQL for a text in lower case without white space around it."""
    return f"lower(trim({text}, {_SPACE}))"


def shorten(text: str, length: int = 40) -> str:
    """A text in quotation marks, cut where it gets too long for an error message."""
    if len(text) > length:
        text = text[: length - 3] + "..."
    return repr(text)


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
    text = str(value)
    # The missing values of data frames print as this.
    if text in ("<NA>", "NaT", "nan"):
        return ""
    return text


def _as_number(text: str) -> float:
    """The number that a text is, NaN for any other text."""
    if "_" in text:
        return math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan
