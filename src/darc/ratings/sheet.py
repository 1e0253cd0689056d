"""A table as people keep it: titles above the header, two header rows, odd encodings."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from darc.errors import TableError
from darc.ratings.columns import is_named
from darc.ratings.loading import DELIMITERS, detect_format
from darc.ratings.plain_files import LONGEST_LINE, PlainFile
from darc.ratings.rating_cells import is_rating
from darc.ratings.raw_rows import as_text
from darc.ratings.spreadsheets import sheet_rows

# How many rows may stand above the header.
_MAX_TITLES = 10
_SNIFFED_RECORDS = 50
# What Qualtrics writes into the last of its three header rows.
_QUALTRICS = '{"ImportId"'
# What Potato writes between a question and one of its choices.
_CHOICE = ":::"
_NOT_CHOSEN = ("", "false", "0", "none", "nan")
_SEPARATOR_LINE = re.compile(r"sep=(.)\s*", re.IGNORECASE)

Cells = list[str]


@dataclass(frozen=True)
class Sheet:
    """The header and the rows of a table, all as text."""

    #: What errors call the file.
    source: str
    #: The names of the columns, each different from the others.
    names: tuple[str, ...]
    #: The cells of each row by the name of their column.
    rows: Sequence[Mapping[str, str]]
    #: The heading above some columns in a table with two header rows, by column.
    groups: Mapping[str, str] = field(default_factory=dict)
    #: What a user should know about how it was read.
    notes: tuple[str, ...] = ()


def read_sheet(file: PlainFile) -> Sheet:
    """Read a delimited file or a workbook.

    Raises:
        TableError: It cannot be read, or has no rows.
    """
    notes: list[str] = []
    if detect_format(file) == "excel":
        grid = [
            (line, [as_text(cell).strip() for cell in row])
            for line, row in enumerate(sheet_rows(file), 1)
        ]
    else:
        grid = _delimited_rows(file, notes)
    return _sheet_of_grid(file.name, grid, notes)


def sheet_of_records(source: str, records: Sequence[Mapping[str, Any]]) -> Sheet:
    """The sheet of records with fields of any kind."""
    names = tuple(dict.fromkeys(str(name) for record in records for name in record))
    rows = [{name: as_text(record.get(name)).strip() for name in names} for record in records]
    return Sheet(source, names, rows)


def _delimited_rows(file: PlainFile, notes: list[str]) -> list[tuple[int, Cells]]:
    """The records of a delimited file with the line where each one starts."""
    text = _decoded(file, notes)
    start_line = 1
    delimiter = ""
    separator_line = _SEPARATOR_LINE.match(text)
    if separator_line:
        # Excel writes it for itself.
        delimiter = separator_line[1]
        text = text[separator_line.end() :]
        start_line = 2
    delimiter = delimiter or _sniff_delimiter(text)
    field_limit = csv.field_size_limit(LONGEST_LINE)
    rows = []
    line = start_line
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        for record in reader:
            rows.append((line, [cell.strip() for cell in record]))
            line = start_line + reader.line_num
    except csv.Error as problem:
        message = f"a badly quoted field ({problem})"
        raise TableError(file.name, message, "save it again as CSV", line) from None
    finally:
        csv.field_size_limit(field_limit)
    return rows


def _decoded(file: PlainFile, notes: list[str]) -> str:
    """The text of a file in UTF-8, UTF-16 or the encoding of Windows."""
    data = Path(file.path).read_bytes()
    if not data.strip():
        raise TableError(file.name, "the file is empty", "it should start with a header line")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    if b"\0" in data:
        raise TableError(file.name, "this is not text", "save it as CSV in UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        notes.append("it is not UTF-8; read as Windows-1252")
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _sniff_delimiter(text: str) -> str:
    """The delimiter by which most of the first records have the same number of fields."""
    head = text[:200_000]

    def agreement(delimiter: str) -> tuple[int, int]:
        widths: Counter[int] = Counter()
        try:
            for number, record in enumerate(csv.reader(io.StringIO(head), delimiter=delimiter)):
                if number == _SNIFFED_RECORDS:
                    break
                widths[len(record)] += len(record) > 1
        except csv.Error:
            return 0, 0
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        return count, width

    return max(DELIMITERS, key=agreement)


def _sheet_of_grid(source: str, grid: Iterable[tuple[int, Cells]], notes: list[str]) -> Sheet:
    """Find the header of a grid of cells.

    Raises:
        TableError: There are no rows, or a row has more cells than the header.
    """
    rows = [(line, _right_trimmed(cells)) for line, cells in grid]
    rows = [(line, cells) for line, cells in rows if cells]
    titles = _count_titles(rows)
    if titles:
        notes.append(f"skipped {titles} rows above the header" if titles > 1 else "skipped a title")
        rows = rows[titles:]
    if len(rows) < 2:
        raise TableError(source, "there are no rows", "give a header and at least one rating")
    _, header = rows[0]
    rest = rows[1:]
    groups: list[str] = []
    qualtrics_rows = _count_qualtrics_rows(rest)
    if qualtrics_rows:
        if qualtrics_rows > 1:
            header = rest[0][1]
        rest = rest[qualtrics_rows:]
    elif _is_second_header(header, rest):
        groups, header = _merged_headers(header, rest[0][1])
        rest = rest[1:]
    if not rest:
        raise TableError(source, "there are no rows", "give at least one rating")
    names = _distinct_names(header, notes)
    cells_by_name = [_row(source, line, cells, names) for line, cells in rest]
    names, cells_by_name = _join_choices(names, cells_by_name)
    return Sheet(
        source=source,
        names=names,
        rows=cells_by_name,
        groups=dict(zip(names, groups, strict=False)),
        notes=tuple(notes),
    )


def _join_choices(
    names: tuple[str, ...], rows: list[dict[str, str]]
) -> tuple[tuple[str, ...], list[dict[str, str]]]:
    """Join the columns "quality:::1", "quality:::2" of Potato, one per choice, into one."""
    if not any(_CHOICE in name for name in names):
        return names, rows
    joined_rows = []
    for row in rows:
        joined: dict[str, str] = {}
        for name, cell in row.items():
            question, mark, choice = name.partition(_CHOICE)
            if not mark:
                joined[name] = cell
            elif cell.casefold() in _NOT_CHOSEN:
                joined.setdefault(question, "")
            else:
                joined[question] = choice
        joined_rows.append(joined)
    return tuple(joined_rows[0]), joined_rows


def _row(source: str, line: int, cells: Cells, names: Sequence[str]) -> dict[str, str]:
    if len(cells) > len(names):
        message = f"too many fields: {len(cells)}, where the header has {len(names)}"
        hint = "put fields that contain the delimiter in double quotes"
        raise TableError(source, message, hint, line)
    return dict(zip(names, [*cells, *[""] * (len(names) - len(cells))], strict=True))


def _right_trimmed(cells: Cells) -> Cells:
    end = len(cells)
    while end and not cells[end - 1]:
        end -= 1
    return cells[:end]


def _count_titles(rows: Sequence[tuple[int, Cells]]) -> int:
    """How many rows with a single text stand above the header."""
    for number, (_, cells) in enumerate(rows[: _MAX_TITLES + 1]):
        if sum(map(bool, cells)) > 1:
            return number
    return 0


def _count_qualtrics_rows(rest: Sequence[tuple[int, Cells]]) -> int:
    """How many rows below the names belong to the header of Qualtrics."""
    for number, (_, cells) in enumerate(rest[:2], 1):
        if any(cell.startswith(_QUALTRICS) for cell in cells):
            return number
    return 0


def _is_second_header(header: Cells, rest: Sequence[tuple[int, Cells]]) -> bool:
    """Whether the first row has headings over several columns, and the second their names."""
    if len(rest) < 2:
        return False
    _, second = rest[0]
    _, third = rest[1]
    padded = [*header, *[""] * (len(second) - len(header))]
    has_gap = any(not above and below for above, below in zip(padded, second, strict=False))
    if not has_gap or any(is_rating(cell) for cell in second):
        return False
    return any(is_rating(cell) for cell in third)


def _merged_headers(first: Cells, second: Cells) -> tuple[list[str], list[str]]:
    """The headings, each repeated over its columns, and the names of the columns."""
    width = max(len(first), len(second))
    first = first + [""] * (width - len(first))
    second = second + [""] * (width - len(second))
    groups = []
    heading = ""
    for above, below in zip(first, second, strict=True):
        heading = above or heading
        groups.append(heading if below else "")
    return groups, [below or above for above, below in zip(first, second, strict=True)]


def _distinct_names(header: Sequence[str], notes: list[str]) -> tuple[str, ...]:
    """The names of the columns, with a number for those that come again."""
    names: dict[str, None] = {}
    repeated: dict[str, None] = {}
    for place, name in enumerate(header, 1):
        name = name or f"Unnamed: {place}"
        distinct = name
        number = 2
        while distinct in names:
            distinct = f"{name} ({number})"
            number += 1
        if distinct != name and is_named(name):
            repeated[name] = None
        names[distinct] = None
    if repeated:
        listed = ", ".join(repr(name) for name in repeated)
        notes.append(f"several columns are called {listed}; the later ones got numbers")
    return tuple(names)
