"""The rows of a file as text, in a database that spills to disk: nothing is guessed by it."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from itertools import chain, islice
from pathlib import Path, PurePath
from typing import Any

from darc.errors import InputError, MissingExtra, TableError, UnknownName
from darc.files import parse_json
from darc.tables.database import MEMORY_MB, RawRows, quoted, shorten
from darc.tables.source import LONGEST_LINE, TableSource, text_blocks

FORMATS = ("csv", "excel", "jsonl", "parquet", "tsv")
DELIMITERS = (",", ";", "\t")
SUFFIXES = {
    ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".ods": "excel", ".parquet": "parquet",
    ".pq": "parquet", ".tab": "tsv", ".tsv": "tsv", ".xls": "excel", ".xlsb": "excel",
    ".xlsx": "excel",
}  # fmt: skip
BLOCK_BYTES = 2**20
TEXTS = (".texts.jsonl", ".texts.jsonl.gz")
OBJECT = "write one JSON object a line"

Advance = Callable[[int], None]


def check_format(name: str) -> None:
    """Refuse a format that is neither known nor "auto"."""
    if name not in ("auto", *FORMATS):
        raise UnknownName("format", name, ("auto", *FORMATS))


def load(
    source: TableSource,
    chosen: str = "auto",
    *,
    memory_mb: int = MEMORY_MB,
    block_bytes: int = BLOCK_BYTES,
    advance: Advance = lambda done: None,
) -> RawRows:
    """The rows of `source`; `advance` hears how many of its bytes are done."""
    found = detect(source) if chosen == "auto" else chosen
    loaded = RawRows(source.name, memory_mb)
    try:
        if found == "parquet":
            _load_parquet(loaded, source)
        elif found == "excel":
            _load_sheet(loaded, source)
        elif found == "jsonl":
            _load_objects(loaded, source, block_bytes, advance)
        else:
            _load_delimited(loaded, source, found, block_bytes, advance)
        if not loaded.rows:
            empty = "the file is empty" if source.total == 0 else "there are no rows"
            raise TableError(source.name, empty, "give at least one rating")
        advance(source.done if source.total is None else source.total)
    except BaseException:
        loaded.close()
        raise
    return loaded


def load_rows(rows: Any, memory_mb: int = MEMORY_MB) -> RawRows:
    """The rows of a data frame (pandas, polars) or a list of dicts; lines are rows, from 1."""
    if hasattr(rows, "columns"):
        found = {str(name): list(rows[name]) for name in rows.columns}
    else:
        if not all(isinstance(row, Mapping) for row in rows):
            raise InputError("the ratings are no rows", "give a data frame or a list of dicts")
        names = dict.fromkeys(str(name) for row in rows for name in row)
        found = {name: [row.get(name) for row in rows] for name in names}
    if not found or not len(next(iter(found.values()))):
        raise InputError("there are no rows", "give at least one rating")
    loaded = RawRows("the ratings", memory_mb)
    try:
        loaded.name(list(found))
        cells = [[_cell(value) for value in column] for column in found.values()]
        loaded.append(range(1, len(cells[0]) + 1), cells)
    except BaseException:
        loaded.close()
        raise
    return loaded


def load_folder(folder: Path, chosen: str = "auto", memory_mb: int = MEMORY_MB) -> RawRows:
    """The rows of a folder's files, one a system: its name is the candidate where none is given."""
    paths = sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith("."))
    paths = [path for path in paths if not path.name.endswith(TEXTS)]
    if not paths:
        raise TableError(str(folder), "the folder has no files", "put one a system into it")
    loaded = RawRows(str(folder), memory_mb)
    try:
        for path in paths:
            with TableSource(path) as source, load(source, chosen) as part:
                found = {name: part.texts(name) for name in part.names}
                lines = part.lines()
            if "candidate_id" not in found and "left_id" not in found:
                found["candidate_id"] = [path.name.partition(".")[0]] * len(lines)
            if not loaded.rows:
                loaded.name(list(found))
            if set(found) != set(loaded.names):
                other = sorted(set(found) ^ set(loaded.names))[0]
                raise TableError(
                    str(path), f"not the columns of {paths[0].name} ({other!r})", "use the same"
                )
            loaded.files.append((loaded.rows, str(path)))
            loaded.append(lines, [found[name] for name in loaded.names])
    except BaseException:
        loaded.close()
        raise
    return loaded


def detect(source: TableSource) -> str:
    """The format by the name's ending or, when that says nothing, by the first bytes."""
    suffixes = [suffix.lower() for suffix in PurePath(source.name).suffixes]
    if suffixes and suffixes[-1] in (".gz", ".zst"):
        suffixes.pop()
    if suffixes and suffixes[-1] in SUFFIXES:
        return SUFFIXES[suffixes[-1]]
    head = source.peek(4096)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        return "excel"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"["):
        raise TableError(
            source.name, "this is a JSON array", "write one JSON object a line (jq -c '.[]')"
        )
    # A delimited file says by its header which delimiter it uses, a tab included.
    return "jsonl" if start.startswith(b"{") else "csv"


def sniff_delimiter(header: str) -> str:
    """The delimiter that a header line uses most, quoted parts aside; a comma when none."""
    bare = re.sub(r'"[^"]*"', "", header)
    return max(DELIMITERS, key=bare.count)


def _load_delimited(
    loaded: RawRows, source: TableSource, kind: str, size: int, advance: Advance
) -> None:
    """Text that is checked first, then read by the database as its header says."""
    path = _plain(loaded, source, size, advance)
    text = _Delimited(loaded.source, path, "\t" if kind == "tsv" else "")
    loaded.name(text.header, text.start)
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(text.header)))
    options = {
        "auto_detect": "false",
        "header": "false",
        "skip": text.start,
        "delim": quoted(text.delimiter),
        "quote": "'\"'",
        "escape": "'\"'",
        "columns": f"{{{columns}}}",
        "compression": "'none'",
        "hive_partitioning": "false",
        "max_line_size": LONGEST_LINE,
        "buffer_size": LONGEST_LINE,
    }
    said = ", ".join(f"{name} = {value}" for name, value in options.items())
    done = source.done
    try:
        loaded.fill(
            f"SELECT * FROM read_csv({quoted(path)}, {said})",
            text.line,
            lambda share: advance(int(done * (1 + share)) // 2),
        )
    except loaded.failure as problem:
        text.check()
        reason = str(problem).splitlines()[0]
        raise TableError(loaded.source, f"it cannot be read ({reason})") from None


def _plain(loaded: RawRows, source: TableSource, size: int, advance: Advance) -> Path:
    """A file with the checked text of `source`: itself, or a copy.

    The database wants all lines to end alike, and takes a name with an asterisk for several files.
    """
    if source.path and not source.packed and not set("*?[") & set(str(source.path)):
        for _ in text_blocks(source, size):
            advance(source.done // 2)
            if source.returns:
                break
        else:
            return source.path.resolve()
        source = TableSource(source.path)
    path = loaded.spare(".csv")
    with closing(source), path.open("w", encoding="utf-8", newline="") as copy:
        for block in text_blocks(source, size):
            advance(source.done // 2 if source.total else source.done)
            copy.write(block.lines)
    return path


class _Delimited:
    """A delimited file read slowly: for its header, the line of a row, and where a fault is.

    `start` is the line of the header, and so how many records come before the rows.
    """

    def __init__(self, source: str, path: Path, delimiter: str) -> None:
        self._source, self._path, self.delimiter = source, path, delimiter
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            lines = ((at, line) for at, line in enumerate(file, 1) if line != "\n")
            self.start, first = next(lines, (0, ""))
        if not first:
            raise TableError(source, "the file is empty", "it should start with a header line")
        self.delimiter = delimiter or sniff_delimiter(first)
        self.header = next(self._records())[1]

    def line(self, row: int) -> int:
        """The line on which a row starts."""
        return next(islice(self._records(), row + 1, None))[0]

    def check(self) -> None:
        """Refuse the first record that is not as long as the header."""
        width = len(self.header)
        for line, record in self._records():
            if len(record) != width:
                few = "few" if len(record) < width else "many"
                raise TableError(
                    self._source,
                    f"too {few} fields: {len(record)}, where the header has {width}",
                    "put fields that contain the delimiter in double quotes",
                    line,
                )

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """The records that are not blank, the header too, and the line where each one starts."""
        limit = csv.field_size_limit(LONGEST_LINE)
        line = 1
        try:
            with self._path.open(encoding="utf-8-sig", newline="\n") as file:
                reader = csv.reader(file, delimiter=self.delimiter, strict=True)
                for record in reader:
                    if record:
                        yield line, record
                    line = reader.line_num + 1
        except csv.Error as problem:
            raise self._bad_record(line, str(problem)) from None
        finally:
            csv.field_size_limit(limit)

    def _bad_record(self, line: int, problem: str) -> TableError:
        hint = "double the quotation marks inside a quoted field"
        if "field limit" in problem or "unexpected end" in problem:
            message = f"a quoted field is never closed or longer than {LONGEST_LINE >> 20} MB"
        elif "new-line" in problem:
            message, hint = "a bare carriage return", "end lines with \\n or \\r\\n"
        else:
            message = f"a badly quoted field ({problem})"
        return TableError(self._source, message, hint, line)


def _load_objects(loaded: RawRows, source: TableSource, size: int, advance: Advance) -> None:
    """JSON lines; numbers stay the text that the file has, so that ids keep their spelling."""
    for block in text_blocks(source, size):
        advance(source.done)
        rows: list[dict[str, Any]] = []
        lines: list[int] = []
        for line, text in enumerate(block.lines.split("\n")[:-1], block.first):
            if text and not text.isspace():
                row = parse_json(text, source.name, line, OBJECT, exact=True)
                if not isinstance(row, dict):
                    message = f"not a JSON object: {shorten(text.strip())}"
                    raise TableError(source.name, message, OBJECT, line)
                rows.append(row)
                lines.append(line)
        if not rows:
            continue
        found = dict.fromkeys(chain.from_iterable(rows))
        if not loaded.rows:
            loaded.name(list(found))
        for name in found:
            if name not in loaded.names and name not in loaded.late:
                at = next(at for at, row in enumerate(rows) if name in row)
                loaded.late[name] = loaded.rows + at, _cell(rows[at][name])
        for name in set(loaded.names) - set(loaded.absent):
            lacking = (at for at, row in enumerate(rows) if name not in row)
            if (first := next(lacking, None)) is not None:
                loaded.absent[name] = loaded.rows + first
        loaded.append(lines, [[_cell(row.get(name)) for row in rows] for name in loaded.names])


def _load_parquet(loaded: RawRows, source: TableSource) -> None:
    """Parquet, whose lines are its rows, from 1; lists and structures become JSON."""
    path = source.path
    if path is None or source.packed or set("*?[") & set(str(path)):
        path = loaded.spare(".parquet")
        with path.open("wb") as copy:
            while data := source.read(BLOCK_BYTES):
                copy.write(data)
    place = f"read_parquet({quoted(path.resolve())}, hive_partitioning = false)"
    try:
        kinds = loaded.run(f"DESCRIBE SELECT * FROM {place}").fetchall()
        loaded.name([str(name) for name, *_ in kinds])
        cells = ", ".join(
            f"{f'to_json(#{i})' if _nested(str(kind)) else f'#{i}'}::VARCHAR AS c{i - 1}"
            for i, (_, kind, *_) in enumerate(kinds, 1)
        )
        loaded.fill(f"SELECT {cells} FROM {place}", lambda row: row + 1)
    except loaded.failure as problem:
        reason = str(problem).splitlines()[0].rstrip(".").replace(str(path.resolve()), source.name)
        raise TableError(source.name, f"not a Parquet file that can be read ({reason})") from None


def _nested(kind: str) -> bool:
    return kind.endswith("]") or kind.startswith(("MAP", "STRUCT", "UNION"))


def _load_sheet(loaded: RawRows, source: TableSource) -> None:
    """The first sheet of a workbook; its lines are its rows."""
    data = bytearray()
    while block := source.read(BLOCK_BYTES):
        data += block
    (line, header), *rows = sheet_rows(bytes(data), source.name)
    loaded.name(header, line)
    if rows:
        loaded.append([line for line, _ in rows], list(zip(*(row for _, row in rows), strict=True)))


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
    return "" if str(value) in ("<NA>", "NaT") else str(value)
