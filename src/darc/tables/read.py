"""From a file of ratings to a table."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from darc.errors import InputError
from darc.tables.comparisons import Comparisons, check_method
from darc.tables.database import MEMORY_MB, RawRows, mostly_numbers
from darc.tables.load import BLOCK_BYTES, check_format, load, load_folder, load_rows
from darc.tables.ratings import Ratings
from darc.tables.schema import Schema, check_columns, check_layout, decide, is_named
from darc.tables.source import TableSource
from darc.tables.table import RatingTable

Progress = Callable[[int, int | None], None]


def read_ratings(
    source: Any,
    *,
    layout: str = "auto",
    format: str = "auto",  # noqa: A002
    columns: Mapping[str, str] | None = None,
    raters: Iterable[str] | None = None,
    scalarize: str = "win-rate",
    batch_rows: int = 400_000,
    memory_mb: int = MEMORY_MB,
    block_bytes: int = BLOCK_BYTES,
    progress: Progress | None = None,
    stream: BinaryIO | None = None,
) -> RatingTable:
    """The table of ratings in a file, or on standard input for "-", read and checked in full.

    The source is also a folder with one file a system, a data frame of pandas or polars, or a list
    of dicts.
    `layout` is tidy, wide or pairwise and `format` csv, tsv, jsonl, parquet or excel, or "auto" for
    either; `columns` says what the file calls a column, as in {"prompt_id": "question"}; `raters`
    names the rater columns of a wide table; `scalarize` is how comparisons become samples.
    Batches hold about `batch_rows` ratings, and the database keeps about `memory_mb` megabytes in
    memory, the rest being in temporary files. `progress(done, total)` is called now and then, in
    bytes, with None for an unknown total. `stream` is read in place of the source, which then only
    names it.
    """
    for check, value in ((check_layout, layout), (check_format, format), (check_method, scalarize)):
        check(value)
    check_columns(columns or {})
    for name, size in (("batch_rows", batch_rows), ("memory_mb", memory_mb)):
        if size < 1:
            raise InputError(f"{name} must be 1 or more, not {size}")
    loaded = _load(source, format, memory_mb, block_bytes, progress, stream)
    try:
        schema = decide(loaded, layout, columns or {}, raters)
        _check_fields(loaded, schema)
        if schema.layout == "pairwise":
            return RatingTable(loaded, schema, Comparisons(loaded, schema, scalarize), batch_rows)
        return RatingTable(loaded, schema, Ratings(loaded, schema), batch_rows)
    except BaseException:
        loaded.close()
        raise


def _load(
    source: Any,
    format: str,  # noqa: A002
    memory_mb: int,
    block_bytes: int,
    progress: Progress | None,
    stream: BinaryIO | None,
) -> RawRows:
    if not isinstance(source, str | os.PathLike):
        return load_rows(source, memory_mb)
    if stream is None and Path(source).is_dir():
        return load_folder(Path(source), format, memory_mb)
    with TableSource(source, stream) as opened:

        def advance(done: int) -> None:
            if progress is not None:
                progress(done, opened.total)

        return load(opened, format, memory_mb=memory_mb, block_bytes=block_bytes, advance=advance)


def _check_fields(loaded: RawRows, schema: Schema) -> None:
    """Refuse objects without a rating, and raters who turn up after the first rows (JSON only)."""
    for part in ("rating", "winner"):
        name = schema.columns.get(part, "")
        if name in loaded.absent:
            raise loaded.fault(loaded.absent[name], f"no {name}", "write null if it is missing")
    if schema.layout == "wide" and not schema.raters_given:
        for name, (row, text) in loaded.late.items():
            if is_named(name) and mostly_numbers([text]):
                raise loaded.fault(
                    row,
                    f"the first rows of the file do not have {name!r}",
                    "give every rater in the first row (null where missing), or name the raters",
                )
