"""The rows of files and of what is in memory, as text in the database: nothing is guessed by it."""

import csv
import io
import json
import re
from bisect import bisect
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, islice
from pathlib import Path, PurePath
from typing import Any

from darc.errors import InputError, MissingExtra, TableError
from darc.files import output_files, parse_lines
from darc.tables.database import Database, quoted
from darc.tables.raw import RawRows, shorten
from darc.tables.source import LONGEST_LINE, PlainFile, Progress, plain_file

FORMATS = ("csv", "excel", "jsonl", "parquet", "tsv")
DELIMITERS = (",", ";", "\t", "|")
SUFFIXES = {
    ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".ods": "excel", ".parquet": "parquet",
    ".pq": "parquet", ".tab": "tsv", ".tsv": "tsv", ".xls": "excel", ".xlsb": "excel",
    ".xlsx": "excel",
}  # fmt: skip
TEXTS = (".texts.jsonl", ".texts.jsonl.gz")
# What `save_to_disk` of the library datasets leaves in a folder.
DATASET = ("state.json", "dataset_dict.json")
BLOCK_ROWS = 5_000
OBJECT = "write one JSON object a line"


def load_file(
    db: Database,
    file: PlainFile,
    chosen: str = "auto",
    progress: Progress = lambda done, total: None,
    table: str = "raw",
) -> RawRows:
    """The rows of a file; `progress` hears how many of its bytes are done."""
    loaded = RawRows(db, file.name, lambda row: (file.name, row + 1), table=table)
    found = _detect(file) if chosen == "auto" else chosen
    if found == "parquet":
        _load_parquet(loaded, file)
    elif found == "excel":
        loaded.place = loaded.kept_line
        (line, header), *rows = sheet_rows(file.path.read_bytes(), file.name)
        loaded.name(header, line)
        cells = zip(*(row for _, row in rows), strict=True)
        loaded.append([at for at, _ in rows], dict(zip(loaded.names, cells, strict=True)))
    elif found == "jsonl":
        _load_objects(loaded, file, progress)
    else:
        _load_delimited(loaded, file, "\t" if found == "tsv" else "", progress)
    if not loaded.rows:
        empty = "the file is empty" if file.total == 0 else "there are no rows"
        raise TableError(file.name, empty, "give at least one rating")
    progress(file.done if file.total is None else file.total, file.total)
    return loaded


def load_rows(db: Database, rows: Any) -> RawRows:
    """The rows of a data frame (pandas, polars) or a list of dicts; lines are rows, from 1."""
    if hasattr(rows, "columns"):
        found = {str(name): list(rows[name]) for name in rows.columns}
    elif isinstance(rows, Sequence) and all(isinstance(row, Mapping) for row in rows):
        names = dict.fromkeys(str(name) for row in rows for name in row)
        found = {name: [row.get(name) for row in rows] for name in names}
    else:
        raise InputError(
            f"{type(rows).__name__} holds no ratings that can be read",
            "give a path, a data frame of pandas or polars, or a list of dicts",
        )
    count = len(next(iter(found.values()), ()))
    if not count:
        raise InputError("there are no rows", "give at least one rating")
    loaded = RawRows(db, "the ratings", lambda row: ("the ratings", row + 1))
    loaded.name(found)
    cells = [[_cell(value) for value in column] for column in found.values()]
    loaded.append(range(count), dict(zip(loaded.names, cells, strict=True)))
    return loaded


def load_folder(db: Database, folder: Path, chosen: str = "auto") -> RawRows:
    """The rows of a folder's files, one a system: its name is the candidate where none is given."""
    if any((folder / name).is_file() for name in DATASET):
        hint = f"make ratings of it: darc import {folder}"
        raise TableError(str(folder), "this is a dataset of Hugging Face", hint)
    parts: list[RawRows] = []
    names: list[str] = []
    queries = []
    for path in (each for each in output_files(folder) if not each.name.endswith(TEXTS)):
        file = plain_file(path, None, db.spare)
        part = load_file(db, file, chosen, table=f"part{len(parts)}")
        parts.append(part)
        known = {name: part.column(name) for name in part.names}
        if not {"candidate_id", "left_id"} & set(known):
            known["candidate_id"] = quoted(path.name.partition(".")[0])
        names = names or list(known)
        if set(known) != set(names):
            other = min(set(known) ^ set(names))
            raise TableError(
                part.source, f"not the columns of {Path(parts[0].source).name} ({other!r})",
                "use the same",
            )  # fmt: skip
        cells = ", ".join(f"{known[name]} AS c{i}" for i, name in enumerate(names))
        queries.append(f"SELECT {cells} FROM {part.table}")
    starts = list(accumulate((part.rows for part in parts), initial=0))

    def place(row: int) -> tuple[str, int]:
        at = bisect(starts, row) - 1
        return parts[at].place(row - starts[at])

    loaded = RawRows(db, str(folder), place, tuple(names))
    loaded.fill(" UNION ALL ".join(queries))
    return loaded


def _detect(file: PlainFile) -> str:
    """The format by the name's ending or, when that says nothing, by the first bytes."""
    suffixes = [suffix.lower() for suffix in PurePath(file.name).suffixes]
    if suffixes and suffixes[-1] in (".gz", ".zst"):
        suffixes.pop()
    if suffixes and suffixes[-1] in SUFFIXES:
        return SUFFIXES[suffixes[-1]]
    with file.path.open("rb") as stream:
        head = stream.read(4096)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        return "excel"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"["):
        hint = "write one JSON object a line (jq -c '.[]')"
        raise TableError(file.name, "this is a JSON array", hint)
    # A delimited file says by its header which delimiter it uses, a tab included.
    return "jsonl" if start.startswith(b"{") else "csv"


def _load_delimited(loaded: RawRows, file: PlainFile, delimiter: str, progress: Progress) -> None:
    """Text that is checked first, then read by the database as its header says."""
    text = _Delimited(file.name, file.text(loaded.db.spare), delimiter)
    loaded.place = text.place
    loaded.name(text.header, text.start)
    columns = [f"c{i}" for i in range(len(text.header))]
    options = {
        "auto_detect": False,
        "header": False,
        "skip": text.start,
        "delim": quoted(text.delimiter),
        "quote": "'\"'",
        "escape": "'\"'",
        "columns": dict.fromkeys(columns, "VARCHAR"),
        "force_not_null": columns,
        "compression": "'none'",
        "hive_partitioning": False,
        "max_line_size": LONGEST_LINE,
        "buffer_size": LONGEST_LINE,
    }
    said = ", ".join(f"{name} = {value}" for name, value in options.items())
    left = max(0, (file.total or 0) - file.done // 2)
    try:
        loaded.fill(
            f"SELECT * FROM read_csv({quoted(text.path)}, {said})",
            lambda share: progress(file.done // 2 + int(left * share), file.total),
        )
    except loaded.db.failure as problem:
        deque(text.records(), maxlen=0)
        reason = str(problem).splitlines()[0]
        raise TableError(file.name, f"it cannot be read ({reason})") from None


class _Delimited:
    """A delimited file read slowly: for its header, the line of a row, and where a fault is.

    `start` is the line of the header, and so how many records come before the rows.
    """

    def __init__(self, source: str, path: Path, delimiter: str) -> None:
        self._source, self.path = source, path
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            lines = ((at, line) for at, line in enumerate(file, 1) if line != "\n")
            self.start, first = next(lines, (0, ""))
        if not first:
            raise TableError(source, "the file is empty", "it should start with a header line")
        self.delimiter = delimiter or sniff_delimiter(first)
        self.header: list[str] = []
        self.header = next(self.records())[1]

    def place(self, row: int) -> tuple[str, int]:
        """The line on which a row starts."""
        return self._source, next(islice(self.records(), row + 1, None))[0]

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """The records that are not blank, the header too, and the line where each one starts.

        One that is not as long as the header is refused.
        """
        limit = csv.field_size_limit(LONGEST_LINE)
        line, hint = 1, "double the quotation marks inside a quoted field"
        try:
            with self.path.open(encoding="utf-8-sig", newline="\n") as file:
                reader = csv.reader(file, delimiter=self.delimiter, strict=True)
                for record in reader:
                    width = len(self.header or record)
                    if record and len(record) != width:
                        few = "few" if len(record) < width else "many"
                        raise TableError(
                            self._source,
                            f"too {few} fields: {len(record)}, where the header has {width}",
                            "put fields that contain the delimiter in double quotes",
                            line,
                        )
                    if record:
                        yield line, record
                    line = reader.line_num + 1
        except csv.Error as problem:
            message = f"a badly quoted field ({problem})"
            if "field limit" in str(problem) or "unexpected end" in str(problem):
                message = f"a quoted field is never closed or longer than {LONGEST_LINE >> 20} MB"
            elif "new-line" in str(problem):
                message, hint = "a bare carriage return", "end lines with \\n or \\r\\n"
            raise TableError(self._source, message, hint, line) from None
        finally:
            csv.field_size_limit(limit)


def sniff_delimiter(header: str) -> str:
    """The delimiter that a header line uses most, quoted parts aside; a comma when none."""
    bare = re.sub(r'"[^"]*"', "", header)
    return max(DELIMITERS, key=bare.count)


def _load_objects(loaded: RawRows, file: PlainFile, progress: Progress) -> None:
    """JSON lines; numbers stay the text that the file has, so that ids keep their spelling."""
    loaded.place = loaded.kept_line
    with file.path.open("rb") as stream:
        numbered = parse_lines(stream, file.name, OBJECT, exact=True)
        while block := list(islice(numbered, BLOCK_ROWS)):
            for line, row in block:
                if not isinstance(row, dict):
                    said = shorten(json.dumps(row).replace('"', ""))
                    raise TableError(file.name, f"not a JSON object: {said}", OBJECT, line)
            progress(file.done // 2 + stream.tell() // (2 if file.done else 1), file.total)
            names = dict.fromkeys(name for _, row in block for name in row)
            loaded.append(
                [line for line, _ in block],
                {n: [_cell(row[n]) if n in row else None for _, row in block] for n in names},
            )


def _load_parquet(loaded: RawRows, file: PlainFile) -> None:
    """Parquet, whose lines are its rows, from 1; lists and structures become JSON."""
    path = str(file.path.resolve())
    place = f"read_parquet({quoted(path)}, hive_partitioning = false)"
    try:
        kinds = loaded.db.run(f"DESCRIBE SELECT * FROM {place}").fetchall()
        loaded.name(str(name) for name, *_ in kinds)
        nested = re.compile(r".*\]|(MAP|STRUCT|UNION).*", re.DOTALL)
        cells = ", ".join(
            f"coalesce({f'to_json(#{i})' if nested.fullmatch(str(kind)) else f'#{i}'}::VARCHAR, '')"
            f" AS c{i - 1}"
            for i, (_, kind, *_) in enumerate(kinds, 1)
        )
        loaded.fill(f"SELECT {cells} FROM {place}")
    except loaded.db.failure as problem:
        reason = str(problem).splitlines()[0].rstrip(".").replace(path, file.name)
        raise TableError(file.name, f"not a Parquet file that can be read ({reason})") from None


def sheet_rows(data: bytes, name: str) -> list[tuple[int, list[str]]]:
    """The rows of a workbook's first sheet that are not blank, as text, with their numbers."""
    try:
        import python_calamine
    except ImportError:
        raise MissingExtra("reading a spreadsheet", "excel") from None
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        cells = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
    except Exception as problem:
        raise TableError(name, f"it is no spreadsheet ({problem})", "save it again") from None
    rows = [(at, [_cell(value) for value in row]) for at, row in enumerate(cells, 1)]
    rows = [(at, row) for at, row in rows if any(row)]
    if len(rows) < 2:
        raise TableError(name, "the first sheet has no rows", "put the ratings there")
    return rows


def _cell(value: object) -> str:
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
