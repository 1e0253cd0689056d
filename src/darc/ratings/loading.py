"""The rows of files and of what is in memory, as text in the database: nothing is guessed by it."""

import csv
import io
import json
import re
from bisect import bisect
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, islice
from pathlib import Path, PurePath
from typing import Any

from darc.errors import InputError, TableError, extra_needed
from darc.files import output_files, parse_lines
from darc.ratings.database import Database, quoted
from darc.ratings.plain_files import LONGEST_LINE, PlainFile, Progress, plain_file
from darc.ratings.raw_rows import BLOCK_ROWS, RawRows, as_text, shorten

DELIMITERS = (",", ";", "\t", "|")
SUFFIXES = {
    ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".ods": "excel", ".parquet": "parquet",
    ".pq": "parquet", ".tab": "tsv", ".tsv": "tsv", ".xls": "excel", ".xlsb": "excel",
    ".xlsx": "excel",
}  # fmt: skip
TEXTS = (".texts.jsonl", ".texts.jsonl.gz")
# What `save_to_disk` of the library datasets leaves in a folder.
DATASET = ("state.json", "dataset_dict.json")
OBJECT = "write one JSON object a line"


def load_file(
    db: Database,
    file: PlainFile,
    chosen: str = "auto",
    progress: Progress = lambda done, total: None,
    table: str = "raw",
) -> RawRows:
    """The rows of a file; `progress` hears how many of its bytes are done."""
    loaded = RawRows(db, file.name, table)
    FORMATS[_detect(file) if chosen == "auto" else chosen](loaded, file, progress)
    if not loaded.rows:
        empty = "the file is empty" if file.total == 0 else "there are no rows"
        raise TableError(file.name, empty, "give at least one rating")
    progress(file.done if file.total is None else file.total, file.total)
    return loaded


def load_rows(db: Database, rows: Any) -> RawRows:
    """The rows of a data frame (pandas, polars) or a list of dicts; lines are rows, from 1."""
    loaded = RawRows(db, "the ratings")
    cells: Iterable[Sequence[Any]]
    if hasattr(rows, "columns"):
        loaded.name(rows.columns)
        cells = zip(*(rows[name] for name in rows.columns), strict=True)
    elif isinstance(rows, Sequence) and all(isinstance(row, Mapping) for row in rows):
        loaded.name(dict.fromkeys(str(name) for row in rows for name in row))
        cells = ([row.get(name) for name in loaded.names] for row in rows)
    else:
        raise InputError(
            f"{type(rows).__name__} holds no ratings that can be read",
            "give a path, a data frame of pandas or polars, or a list of dicts",
        )
    loaded.append(enumerate((dict(zip(loaded.names, row, strict=True)) for row in cells), 1))
    if not loaded.rows:
        raise InputError("there are no rows", "give at least one rating")
    return loaded


def load_folder(db: Database, folder: Path, chosen: str = "auto") -> RawRows:
    """The rows of a folder's files, one a system: its name is the candidate where none is given."""
    if any((folder / name).is_file() for name in DATASET):
        hint = f"make ratings of it: darc import {folder}"
        raise TableError(str(folder), "this is a dataset of Hugging Face", hint)
    loaded, parts, queries = RawRows(db, str(folder)), list[RawRows](), list[str]()
    for path in (each for each in output_files(folder) if not each.name.endswith(TEXTS)):
        file = plain_file(path, None, db.spare)
        part = load_file(db, file, chosen, table=f"part{len(parts)}")
        known = {name: part.column(name) for name in part.names}
        if not {"candidate_id", "left_id"} & set(known):
            known["candidate_id"] = quoted(path.name.partition(".")[0])
        loaded.names = loaded.names or tuple(known)
        for other in sorted(set(known) ^ set(loaded.names)):
            message = f"not the columns of {Path(parts[0].source).name} ({other!r})"
            raise TableError(part.source, message, "use the same")
        cells = ", ".join(f"{known[name]} AS {loaded.column(name)}" for name in loaded.names)
        queries.append(f"SELECT {cells} FROM {part.table}")
        parts.append(part)
    loaded.fill(" UNION ALL ".join(queries))
    starts = list(accumulate((part.rows for part in parts), initial=0))

    def place(row: int) -> tuple[str, int]:
        at = bisect(starts, row) - 1
        return parts[at].place(row - starts[at])

    loaded.place = place
    return loaded


def _detect(file: PlainFile) -> str:
    """The format by the name's ending or, when that says nothing, by the first bytes."""
    suffix = PurePath(re.sub(r"\.(gz|zst)$", "", file.name, flags=re.IGNORECASE)).suffix.lower()
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
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


def _load_delimited(
    loaded: RawRows, file: PlainFile, progress: Progress, delimiter: str = ""
) -> None:
    """Text that is checked first, then read by the database as its header says."""
    path = file.text(loaded.db.spare)
    with path.open(encoding="utf-8-sig", newline="\n") as text:
        first = next((line for line in text if line != "\n"), "")
    if not first:
        raise TableError(file.name, "the file is empty", "it should start with a header line")
    delimiter = delimiter or sniff_delimiter(first)
    records = partial(_records, file.name, path, delimiter)
    start, header = next(records())
    loaded.place = lambda row: (file.name, next(islice(records(), row + 1, None))[0])
    loaded.name(header, start)
    columns = [f"c{i}" for i in range(len(header))]
    options = {
        "auto_detect": False,
        "header": False,
        # Blank lines and the header, each of which is a record.
        "skip": start,
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
    said = ", ".join(f"{name} = {value}" for name, value in options.items())
    left = max(0, (file.total or 0) - file.done // 2)
    try:
        loaded.fill(
            f"SELECT * FROM read_csv({quoted(path)}, {said})",
            lambda share: progress(file.done // 2 + int(left * share), file.total),
        )
    except loaded.db.failure as problem:
        deque(records(), maxlen=0)
        reason = str(problem).splitlines()[0]
        raise TableError(file.name, f"it cannot be read ({reason})") from None


def _records(source: str, path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The records of a delimited file that are not blank, and the line where each one starts.

    This is the slow way, for its header, the line of a row, and where a fault is: a record that is
    not as long as the first, or badly quoted, is refused.
    """
    limit = csv.field_size_limit(LONGEST_LINE)
    line, width, hint = 1, 0, "double the quotation marks inside a quoted field"
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            for record in reader:
                width = width or len(record)
                if record and len(record) != width:
                    few = "few" if len(record) < width else "many"
                    raise TableError(
                        source,
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
        raise TableError(source, message, hint, line) from None
    finally:
        csv.field_size_limit(limit)


def sniff_delimiter(header: str) -> str:
    """The delimiter that a header line uses most, quoted parts aside; a comma when none."""
    bare = re.sub(r'"[^"]*"', "", header)
    return max(DELIMITERS, key=bare.count)


def _load_objects(loaded: RawRows, file: PlainFile, progress: Progress) -> None:
    """JSON lines; numbers stay the text that the file has, so that ids keep their spelling."""

    def objects() -> Iterator[tuple[int, dict[str, Any]]]:
        with file.path.open("rb") as stream:
            for line, row in parse_lines(stream, file.name, OBJECT, exact=True):
                if not isinstance(row, dict):
                    said = shorten(json.dumps(row).replace('"', ""))
                    raise TableError(file.name, f"not a JSON object: {said}", OBJECT, line)
                if line % BLOCK_ROWS == 0:
                    progress(file.done // 2 + stream.tell() // (2 if file.done else 1), file.total)
                yield line, row

    loaded.append(objects())


def _load_parquet(loaded: RawRows, file: PlainFile, _: Progress) -> None:
    """Parquet, whose lines are its rows, from 1; lists and structures become JSON."""
    path = str(file.path.resolve())
    place = f"read_parquet({quoted(path)}, hive_partitioning = false)"
    try:
        kinds = loaded.db.run(f"DESCRIBE SELECT * FROM {place}").fetchall()
        loaded.name(name for name, *_ in kinds)
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


def _load_sheet(loaded: RawRows, file: PlainFile, _: Progress) -> None:
    """The rows of a workbook's first sheet that are not blank; its first one is the header."""
    with extra_needed("reading a spreadsheet", "excel"):
        import python_calamine
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(file.path.read_bytes()))
        cells = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
    except Exception as problem:
        raise TableError(file.name, f"it is no spreadsheet ({problem})", "save it again") from None
    rows = [(line, row) for line, row in enumerate(cells, 1) if any(map(as_text, row))]
    if len(rows) < 2:
        raise TableError(file.name, "the first sheet has no rows", "put the ratings there")
    (line, header), *rest = rows
    loaded.name(map(as_text, header), line)
    loaded.append((line, dict(zip(loaded.names, row, strict=True))) for line, row in rest)


FORMATS: dict[str, Callable[[RawRows, PlainFile, Progress], None]] = {
    "csv": _load_delimited,
    "excel": _load_sheet,
    "jsonl": _load_objects,
    "parquet": _load_parquet,
    "tsv": partial(_load_delimited, delimiter="\t"),
}
