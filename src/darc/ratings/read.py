"""From a file of ratings to a table."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from darc.errors import InputError, UnknownName
from darc.ratings.columns import PARTS, REQUIRED, decide
from darc.ratings.comparisons import METHODS
from darc.ratings.database import MEMORY_MB, Database
from darc.ratings.loading import FORMATS, load_file, load_folder, load_rows
from darc.ratings.plain_files import Progress, plain_file
from darc.ratings.table import RatingTable


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
    named = [
        ("layout", layout, ("auto", *REQUIRED)),
        ("format", format, ("auto", *FORMATS)),
        ("pairwise method", scalarize, METHODS),
        *(("column", part, PARTS) for part in columns or ()),
    ]
    for kind, name, known in named:
        if name not in known:
            raise UnknownName(kind, name, known)
    for kind, size in (("batch_rows", batch_rows), ("memory_mb", memory_mb)):
        if size < 1:
            raise InputError(f"{kind} must be 1 or more, not {size}")
    db, tell = Database(memory_mb), progress or (lambda done, total: None)
    try:
        if not isinstance(source, str | os.PathLike):
            loaded = load_rows(db, source)
        elif stream is None and Path(source).is_dir():
            loaded = load_folder(db, Path(source), format)
        else:
            loaded = load_file(db, plain_file(source, stream, db.spare, tell), format, tell)
        schema = decide(loaded, layout, columns or {}, raters)
        return RatingTable(loaded, schema, scalarize, batch_rows)
    except BaseException:
        db.close()
        raise
