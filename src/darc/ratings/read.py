"""From a file of ratings to a table."""

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from darc.errors import InputError, UnknownName
from darc.ratings.columns import REQUIRED, ROLES, find_schema
from darc.ratings.comparisons import METHODS
from darc.ratings.database import MEMORY_MB, Database
from darc.ratings.loading import FORMATS, load_file, load_folder, load_rows
from darc.ratings.plain_files import Progress, ignore_progress, plain_file
from darc.ratings.raw_rows import RawRows
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
    """Read and check a table of ratings.

    Args:
        source: A file, "-" for standard input, a folder with one file per system, a data frame of
            pandas or polars, or a list of dicts.
        layout: tidy, wide, pairwise, or "auto".
        format: csv, tsv, jsonl, parquet, excel, or "auto".
        columns: What the file calls a column, as in {"prompt_id": "question"}.
        raters: The rater columns of a wide table.
        scalarize: How comparisons become samples: win-rate, bradley-terry or thurstone.
        batch_rows: About how many ratings a batch holds.
        memory_mb: About how many megabytes of the table are kept in memory; the rest is in
            temporary files.
        progress: Called now and then with the number of bytes that are done and the total, None
            if that is not known.
        stream: What to read in place of the source, which then only names it.

    Returns:
        The table, which owns temporary files: use it as a context manager.

    Raises:
        TableError: The file cannot be read, or a row is at fault.
    """
    _check_name("layout", layout, ("auto", *REQUIRED))
    _check_name("format", format, ("auto", *FORMATS))
    _check_name("pairwise method", scalarize, METHODS)
    for role in columns or ():
        _check_name("column", role, ROLES)
    _check_size("batch_rows", batch_rows)
    _check_size("memory_mb", memory_mb)
    db = Database(memory_mb)
    try:
        loaded = _load(db, source, format, progress or ignore_progress, stream)
        schema = find_schema(loaded, layout, columns or {}, raters)
        return RatingTable(loaded, schema, scalarize, batch_rows)
    except BaseException:
        db.close()
        raise


def _load(
    db: Database,
    source: Any,
    format: str,  # noqa: A002
    progress: Progress,
    stream: BinaryIO | None,
) -> RawRows:
    """The rows of whatever the source is."""
    if not isinstance(source, str | os.PathLike):
        return load_rows(db, source)
    if stream is None and Path(source).is_dir():
        return load_folder(db, Path(source), format)
    file = plain_file(source, stream, db.spare_path, progress)
    return load_file(db, file, format, progress)


def _check_name(kind: str, name: str, names: Collection[str]) -> None:
    if name not in names:
        raise UnknownName(kind, name, names)


def _check_size(name: str, size: int) -> None:
    if size < 1:
        raise InputError(f"{name} must be 1 or more, not {size}")
