"""From a file of ratings to a table."""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, closing
from typing import BinaryIO

import numpy as np

from darc.errors import InputError, TableError
from darc.tables.collect import Collector
from darc.tables.comparisons import Comparisons, check_method
from darc.tables.formats import check_format, frames
from darc.tables.partition import ranges
from darc.tables.plan import Sizes, plan
from darc.tables.ratings import Ratings
from darc.tables.schema import check_columns, check_layout, decide
from darc.tables.source import Source
from darc.tables.table import Assembler, RatingTable

BLOCK_BYTES = 128 * 1024

Progress = Callable[[int, int | None], None]


def read_ratings(
    source: str | os.PathLike[str],
    *,
    layout: str = "auto",
    format: str = "auto",  # noqa: A002
    columns: Mapping[str, str] | None = None,
    raters: Iterable[str] | None = None,
    scalarize: str = "win-rate",
    batch_rows: int = 400_000,
    spill_rows: int = 1_000_000,
    block_bytes: int = BLOCK_BYTES,
    progress: Progress | None = None,
    stream: BinaryIO | None = None,
) -> RatingTable:
    """The table of ratings in a file, or on standard input for "-", read and checked in full.

    `layout` is tidy, wide or pairwise and `format` csv, tsv, jsonl or parquet, or "auto" for
    either; `columns` says what the file calls a column, as in {"prompt_id": "question"}; `raters`
    names the rater columns of a wide table; `scalarize` is how comparisons become samples.
    Batches hold about `batch_rows` ratings, and no more than about `spill_rows` are in memory at a
    time, the rest being in temporary files; beyond that memory grows with the number of distinct
    prompts only. `progress(done, total)` is called a block at a time, in bytes, with None for an
    unknown total. `stream` is read in place of the source, which then only names it.
    """
    for check, value in ((check_layout, layout), (check_format, format), (check_method, scalarize)):
        check(value)
    check_columns(columns or {})
    for name, size in (("batch_rows", batch_rows), ("spill_rows", spill_rows)):
        if size < 1:
            raise InputError(f"{name} must be 1 or more, not {size}")
    with ExitStack() as stack:
        with Source(source, stream) as opened:

            def advance(done: int) -> None:
                if progress is not None:
                    progress(done, opened.total)

            collector = None
            with closing(frames(opened, format, block_bytes, advance)) as blocks:
                for frame in blocks:
                    if collector is None:
                        schema = decide(frame, layout, columns or {}, raters)
                        collector = Collector(schema, spill_rows, stack)
                    collector.add(frame)
            if collector is None:
                message = "the file is empty" if opened.total == 0 else "there are no rows"
                raise TableError(opened.name, message, "give at least one rating")
            advance(opened.done if opened.total is None else opened.total)
        return _table(opened.name, collector, scalarize, batch_rows, stack)


def _table(
    source: str, collector: Collector, method: str, batch_rows: int, stack: ExitStack
) -> RatingTable:
    """The checked table of what was collected; it takes over the stack's temporary files."""
    layout, labels = collector.schema.layout, collector.labels
    names = collector.names()
    records, counts = collector.grouped(), collector.counts
    assembler: Assembler
    if layout == "pairwise":
        assembler = Comparisons(source, names, labels, method)
    else:
        assembler = Ratings(source, names, labels)
    starts = np.concatenate(([0], np.cumsum(counts)))
    sizes = [
        assembler.check(records.read(int(starts[first]), int(starts[last])), first, last - first)
        for first, last in ranges(counts, batch_rows)
    ]
    every = Sizes(*map(np.concatenate, zip(*sizes, strict=True)))
    return RatingTable(
        source=source,
        layout=layout,
        rows=collector.rows,
        scorer_ids=names.scorers,
        system=collector.schema.system,
        labels=labels,
        records=records,
        starts=starts,
        ranges=plan(counts, every, len(names.scorers), batch_rows),
        assembler=assembler,
        resources=stack.pop_all(),
    )
