"""Files of several formats read into the database as rows of texts, with nothing guessed."""

import csv
import json
import re
from bisect import bisect
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, islice
from pathlib import Path, PurePath
from typing import Any

from darc.entries import output_files
from darc.errors import InputError, TableError
from darc.json_files import parse_lines
from darc.ratings.database import Database, quoted, quoted_path
from darc.ratings.plain_files import (
    LONGEST_LINE,
    PlainFile,
    Progress,
    ignore_progress,
    plain_file,
)
from darc.ratings.raw_rows import (
    BLOCK_ROWS,
    RAW,
    RawRows,
    as_text,
    checked_names,
    rows_of_query,
    rows_of_records,
    shorten,
)
from darc.ratings.spreadsheets import sheet_rows

DELIMITERS = (",", ";", "\t", "|")
#: The format of a file by the ending of its name.
FORMAT_OF_SUFFIX = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".ods": "excel",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".tab": "tsv",
    ".tsv": "tsv",
    ".xls": "excel",
    ".xlsb": "excel",
    ".xlsx": "excel",
}
#: What `save_to_disk` of the library datasets leaves in a folder.
DATASET_FILES = ("state.json", "dataset_dict.json")
_TEXT_SUFFIXES = (".texts.jsonl", ".texts.jsonl.gz")
_ONE_OBJECT = "write one JSON object per line"
_NESTED_TYPE = re.compile(r".*\]|(MAP|STRUCT|UNION).*", re.DOTALL)


def load_file(
    db: Database,
    file: PlainFile,
    format: str = "auto",  # noqa: A002
    progress: Progress = ignore_progress,
    table: str = RAW,
) -> RawRows:
    """Read the rows of a file.

    Args:
        db: Where to put them.
        file: The file.
        format: One of `FORMATS`, or "auto" to go by the name or the first bytes.
        progress: Called with the number of bytes that are done.
        table: The name of the table to make.

    Raises:
        TableError: It cannot be read, or has no rows.
    """
    load = FORMATS[detect_format(file) if format == "auto" else format]
    loaded = load(db, file, table, progress)
    if not loaded.rows:
        message = "there are no rows"
        if file.total == 0:
            message = "the file is empty"
        raise TableError(file.name, message, "give at least one rating")
    done = file.total
    if done is None:
        done = file.done
    progress(done, file.total)
    return loaded


def load_rows(db: Database, rows: Any) -> RawRows:
    """Read a data frame (pandas, polars) or a list of dicts, whose lines are its rows, from 1.

    Raises:
        InputError: It is neither, or has no rows.
    """
    source = "the ratings"
    cells: Iterable[Sequence[Any]]
    if hasattr(rows, "columns"):
        names = checked_names(source, rows.columns)
        cells = zip(*(rows[name] for name in rows.columns), strict=True)
    elif isinstance(rows, Sequence) and all(isinstance(row, Mapping) for row in rows):
        names = checked_names(source, dict.fromkeys(str(name) for row in rows for name in row))
        cells = ([row.get(name) for name in names] for row in rows)
    else:
        raise InputError(
            f"{type(rows).__name__} holds no ratings that can be read",
            "give a path, a data frame of pandas or polars, or a list of dicts",
        )
    records = (dict(zip(names, row, strict=True)) for row in cells)
    loaded = rows_of_records(db, source, RAW, enumerate(records, 1), names)
    if not loaded.rows:
        raise InputError("there are no rows", "give at least one rating")
    return loaded


def load_folder(db: Database, folder: Path, format: str = "auto") -> RawRows:  # noqa: A002
    """Read a folder with one file per system, whose name is the candidate where none is given.

    Raises:
        TableError: A file cannot be read, or has other columns than the first.
    """
    if any((folder / name).is_file() for name in DATASET_FILES):
        hint = f"make ratings of it: darc import {folder}"
        raise TableError(str(folder), "this is a dataset of Hugging Face", hint)
    paths = [path for path in output_files(folder) if not path.name.endswith(_TEXT_SUFFIXES)]
    parts: list[RawRows] = []
    queries: list[str] = []
    names: tuple[str, ...] = ()
    for path in paths:
        file = plain_file(path, None, db.spare_path)
        part = load_file(db, file, format, table=f"part{len(parts)}")
        column_sql = {name: part.column(name) for name in part.names}
        if "candidate_id" not in column_sql and "left_id" not in column_sql:
            column_sql["candidate_id"] = quoted(path.name.partition(".")[0])
        names = names or tuple(column_sql)
        for name in sorted(set(column_sql) ^ set(names)):
            message = f"not the columns of {Path(parts[0].source).name} ({name!r})"
            raise TableError(part.source, message, "use the same")
        cells = ", ".join(f"{column_sql[name]} AS c{place}" for place, name in enumerate(names))
        queries.append(f"SELECT {cells} FROM {part.table}")
        parts.append(part)
    locate = partial(_locate_in_parts, parts)
    return rows_of_query(db, str(folder), RAW, names, " UNION ALL ".join(queries), locate)


def _locate_in_parts(parts: Sequence[RawRows], row: int) -> tuple[str, int]:
    """The file and the line of a row of several tables, one after the other."""
    starts = list(accumulate((part.rows for part in parts), initial=0))
    index = bisect(starts, row) - 1
    return parts[index].locate(row - starts[index])


def detect_format(file: PlainFile) -> str:
    """The format by the ending of the name or, where that says nothing, by the first bytes."""
    unpacked_name = re.sub(r"\.(gz|zst)$", "", file.name, flags=re.IGNORECASE)
    suffix = PurePath(unpacked_name).suffix.lower()
    if suffix in FORMAT_OF_SUFFIX:
        return FORMAT_OF_SUFFIX[suffix]
    with file.path.open("rb") as stream:
        head = stream.read(4096)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        return "excel"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"["):
        hint = "write one JSON object per line (jq -c '.[]')"
        raise TableError(file.name, "this is a JSON array", hint)
    if start.startswith(b"{"):
        return "jsonl"
    # The header of a delimited file says which delimiter it uses, a tab included.
    return "csv"


def _load_delimited(
    db: Database, file: PlainFile, table: str, progress: Progress, delimiter: str = ""
) -> RawRows:
    """Read delimited text, which is checked first, then read by the database."""
    path = file.text_path(db.spare_path)
    with path.open(encoding="utf-8-sig", newline="\n") as text:
        first_line = next((line for line in text if line != "\n"), "")
    if not first_line:
        raise TableError(file.name, "the file is empty", "it should start with a header line")
    delimiter = delimiter or sniff_delimiter(first_line)
    read_records = partial(_delimited_records, file.name, path, delimiter)
    header_line, header = next(read_records())
    names = checked_names(file.name, header, header_line)
    columns = [f"c{place}" for place in range(len(header))]
    options = {
        "auto_detect": False,
        "header": False,
        # Blank lines and the header, each of which is a record.
        "skip": header_line,
        "delim": quoted(delimiter),
        "quote": "'\"'",
        "escape": "'\"'",
        "columns": dict.fromkeys(columns, "VARCHAR"),
        "force_not_null": columns,
        "compression": "'none'",
        "hive_partitioning": False,
        "max_line_size": LONGEST_LINE,
        "buffer_size": LONGEST_LINE,
    }
    options_sql = ", ".join(f"{name} = {value}" for name, value in options.items())
    remaining = max(0, (file.total or 0) - file.done // 2)

    def locate(row: int) -> tuple[str, int]:
        line, _ = next(islice(read_records(), row + 1, None))
        return file.name, line

    def report(share: float) -> None:
        progress(file.done // 2 + int(remaining * share), file.total)

    try:
        query = f"SELECT * FROM read_csv({quoted_path(path)}, {options_sql})"
        return rows_of_query(db, file.name, table, names, query, locate, report)
    except db.failure as problem:
        # Reading it the slow way says which record is at fault.
        deque(read_records(), maxlen=0)
        reason = str(problem).splitlines()[0]
        raise TableError(file.name, f"it cannot be read ({reason})") from None


def _delimited_records(source: str, path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The records of a delimited file that are not blank, and the line where each one starts.

    This is the slow way, for the header, the line of a row, and where a fault is.

    Raises:
        TableError: A record is not as long as the first, or badly quoted.
    """
    field_limit = csv.field_size_limit(LONGEST_LINE)
    line = 1
    width = 0
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            for record in reader:
                width = width or len(record)
                if record:
                    _check_width(source, line, record, width)
                    yield line, record
                line = reader.line_num + 1
    except csv.Error as problem:
        raise _quoting_error(source, line, str(problem)) from None
    finally:
        csv.field_size_limit(field_limit)


def _check_width(source: str, line: int, record: Sequence[str], width: int) -> None:
    if len(record) == width:
        return
    amount = "many"
    if len(record) < width:
        amount = "few"
    raise TableError(
        source,
        f"too {amount} fields: {len(record)}, where the header has {width}",
        "put fields that contain the delimiter in double quotes",
        line,
    )


def _quoting_error(source: str, line: int, reason: str) -> TableError:
    """The error for what the csv module refuses."""
    if "new-line" in reason:
        hint = "end lines with \\n or \\r\\n"
        return TableError(source, "a bare carriage return", hint, line)
    message = f"a badly quoted field ({reason})"
    if "field limit" in reason or "unexpected end" in reason:
        message = f"a quoted field is never closed or longer than {LONGEST_LINE >> 20} MB"
    return TableError(source, message, "double the quotation marks inside a quoted field", line)


def sniff_delimiter(header: str) -> str:
    """The delimiter that a header line uses most, quoted parts aside; a comma when none."""
    bare = re.sub(r'"[^"]*"', "", header)
    return max(DELIMITERS, key=bare.count)


def _load_json_lines(db: Database, file: PlainFile, table: str, progress: Progress) -> RawRows:
    """Read JSON lines; numbers stay the text that the file has, so that ids keep their spelling."""
    return rows_of_records(db, file.name, table, _json_records(file, progress))


def _json_records(file: PlainFile, progress: Progress) -> Iterator[tuple[int, dict[str, Any]]]:
    with file.path.open("rb") as stream:
        for line, row in parse_lines(stream, file.name, _ONE_OBJECT, exact=True):
            if not isinstance(row, dict):
                excerpt = shorten(json.dumps(row).replace('"', ""))
                raise TableError(file.name, f"not a JSON object: {excerpt}", _ONE_OBJECT, line)
            if line % BLOCK_ROWS == 0:
                done = stream.tell()
                if file.done:
                    # Making the copy was the first half of the work.
                    done = file.done // 2 + done // 2
                progress(done, file.total)
            yield line, row


def _load_parquet(db: Database, file: PlainFile, table: str, progress: Progress) -> RawRows:
    """Read Parquet, whose lines are its rows, from 1; lists and structures become JSON."""
    path = str(file.path.resolve())
    origin = f"read_parquet({quoted_path(file.path)}, hive_partitioning = false)"
    try:
        description = db.run(f"DESCRIBE SELECT * FROM {origin}").fetchall()
        names = checked_names(file.name, (name for name, *_ in description))
        cells = []
        for place, (_, kind, *_) in enumerate(description):
            value = f"#{place + 1}"
            if _NESTED_TYPE.fullmatch(str(kind)):
                value = f"to_json({value})"
            cells.append(f"coalesce({value}::VARCHAR, '') AS c{place}")
        query = f"SELECT {', '.join(cells)} FROM {origin}"
        return rows_of_query(db, file.name, table, names, query, partial(_row_number, file.name))
    except db.failure as problem:
        reason = str(problem).splitlines()[0].rstrip(".")
        for spelling in (path, quoted_path(file.path)[1:-1]):
            reason = reason.replace(spelling, file.name)
        raise TableError(file.name, f"not a Parquet file that can be read ({reason})") from None


def _row_number(source: str, row: int) -> tuple[str, int]:
    """The place of a row in a file without lines: its number from 1."""
    return source, row + 1


def _load_sheet(db: Database, file: PlainFile, table: str, progress: Progress) -> RawRows:
    """Read the rows of a workbook's first sheet that are not blank; the first is the header."""
    filled_rows = (
        (line, row) for line, row in enumerate(sheet_rows(file), 1) if any(map(as_text, row))
    )
    header_line, header = next(filled_rows, (1, []))
    names = checked_names(file.name, map(as_text, header), header_line)
    records = ((line, dict(zip(names, row, strict=True))) for line, row in filled_rows)
    loaded = rows_of_records(db, file.name, table, records, names)
    if not loaded.rows:
        raise TableError(file.name, "the first sheet has no rows", "put the ratings there")
    return loaded


FORMATS: dict[str, Callable[[Database, PlainFile, str, Progress], RawRows]] = {
    "csv": _load_delimited,
    "excel": _load_sheet,
    "jsonl": _load_json_lines,
    "parquet": _load_parquet,
    "tsv": partial(_load_delimited, delimiter="\t"),
}
