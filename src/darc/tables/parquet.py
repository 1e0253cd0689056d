"""Parquet, through the optional pyarrow."""

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from darc.errors import MissingExtra, TableError
from darc.tables.frame import Frame, Lines
from darc.tables.numbers import Numbers
from darc.tables.source import Source

BATCH_ROWS = 16_384
COPY_BYTES = 2**20


class ParquetFrame(Frame):
    """A record batch; the line of a row is its number, from 1."""

    def __init__(self, source: str, names: tuple[str, ...], lines: Lines, batch: Any) -> None:
        super().__init__(source, names, lines)
        self._batch = batch

    def texts(self, name: str) -> list[str]:
        """The cells of a column as text, empty where null."""
        import pyarrow as pa

        column = self._batch.column(self.names.index(name))
        try:
            cells: list[str | None] = column.cast(pa.string()).to_pylist()
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            values = column.to_pylist()
            cells = [None if value is None else json.dumps(value, default=str) for value in values]
        return [cell or "" for cell in cells]

    def looks_numeric(self, name: str) -> bool:
        """Whether the column's type is a number, or text that is."""
        column = self._batch.column(self.names.index(name))
        return _is_number(column.type) or super().looks_numeric(name)

    def _numbers(self, name: str, reader: Numbers) -> NDArray[np.float64]:
        import pyarrow as pa

        column = self._batch.column(self.names.index(name))
        if not _is_number(column.type):
            return super()._numbers(name, reader)
        floats = column.cast(pa.float64(), safe=False)
        return np.asarray(floats.to_numpy(zero_copy_only=False), dtype=np.float64)


def parquet_frames(source: Source, advance: Callable[[int], None]) -> Iterator[Frame]:
    """The rows of a file, a frame a record batch; calls `advance` with the share of bytes done."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("reading Parquet", "parquet") from None

    with ExitStack() as stack:
        place: Any = source.path
        if source.path is None or source.zipped:
            place = _seekable(source, stack.enter_context(tempfile.TemporaryFile()))
        try:
            file = stack.enter_context(parquet.ParquetFile(place))
            names = tuple(file.schema_arrow.names)
            rows, size, first = file.metadata.num_rows, source.total or 0, 1
            for batch in file.iter_batches(BATCH_ROWS, use_threads=False):
                count = batch.num_rows
                lines = np.arange(first, first + count, dtype=np.int64)
                first += count
                advance(size * (first - 1) // max(rows, 1))
                if count:
                    yield ParquetFrame(source.name, names, lines, batch)
        except (pa.ArrowException, OSError) as problem:
            reason = str(problem).splitlines()[0].rstrip(".")
            raise TableError(
                source.name, f"not a Parquet file that can be read ({reason})"
            ) from None


def _seekable(source: Source, copy: IO[bytes]) -> IO[bytes]:
    """`copy` filled with the source, because Parquet is read from its end."""
    while data := source.read(COPY_BYTES):
        copy.write(data)
    copy.seek(0)
    return copy


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))
