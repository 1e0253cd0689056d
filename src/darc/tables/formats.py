"""Which file format a source is in, and the reader for it."""

from collections.abc import Callable, Generator
from pathlib import PurePath

from darc.errors import TableError, UnknownName
from darc.tables.delimited import delimited_frames
from darc.tables.frame import Frame
from darc.tables.jsonl import json_frames
from darc.tables.parquet import parquet_frames
from darc.tables.source import Source

FORMATS = ("csv", "jsonl", "parquet", "tsv")
_SUFFIXES = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".tab": "tsv",
    ".tsv": "tsv",
}
_PARQUET_MAGIC = b"PAR1"


def check_format(name: str) -> None:
    """Refuse a format that is neither known nor "auto"."""
    if name not in ("auto", *FORMATS):
        raise UnknownName("format", name, ("auto", *FORMATS))


def frames(
    source: Source, chosen: str, size: int, advance: Callable[[int], None]
) -> Generator[Frame, None, None]:
    """The rows of `source`, a frame a block; `advance(bytes_done)` is called before each."""
    found = detect(source) if chosen == "auto" else chosen
    if found == "parquet":
        yield from parquet_frames(source, advance)
        return
    if found == "jsonl":
        blocks = json_frames(source, size)
    else:
        blocks = delimited_frames(source, "\t" if found == "tsv" else None, size)
    for frame in blocks:
        advance(source.done)
        yield frame


def detect(source: Source) -> str:
    """The format by the name's ending or, when that says nothing, by the first bytes."""
    suffixes = [suffix.lower() for suffix in PurePath(source.name).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    if suffixes and suffixes[-1] in (".xlsx", ".xls", ".ods"):
        raise TableError(source.name, "this is a spreadsheet", f"run darc import {source.name}")
    if suffixes and suffixes[-1] in _SUFFIXES:
        return _SUFFIXES[suffixes[-1]]
    head = source.peek(4096)
    if head.startswith(_PARQUET_MAGIC):
        return "parquet"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"["):
        raise TableError(
            source.name, "this is a JSON array", "write one JSON object a line (jq -c '.[]')"
        )
    # A delimited file says by its header which delimiter it uses, a tab included.
    return "jsonl" if start.startswith(b"{") else "csv"
