"""Records that wait in memory while they are few, and on disk when they are many."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.errors import DarcError

Records = NDArray[np.void]


class Spill:
    """Bytes in memory up to `limit`, beyond it in a temporary file that has no name to leak.

    The operating system removes the file when it is closed or the process ends, however it does.
    """

    def __init__(self, limit: int) -> None:
        self._file = tempfile.SpooledTemporaryFile(max(1, limit))  # noqa: SIM115

    def write(self, offset: int, data: bytes) -> None:
        """Put `data` at `offset`."""
        with _room_needed():
            self._file.seek(offset)
            self._file.write(data)

    def read(self, offset: int, size: int) -> bytes:
        """`size` bytes from `offset` on, fewer only at the end."""
        self._file.seek(offset)
        return self._file.read(size)

    def close(self) -> None:
        """Forget everything."""
        self._file.close()


class RecordSpill:
    """A long array of records of which `limit` rows fit into memory."""

    def __init__(self, dtype: np.dtype[Any], limit: int) -> None:
        self.dtype = dtype
        self._spill = Spill(limit * dtype.itemsize)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def append(self, records: Records) -> None:
        """Add `records` at the end."""
        self.write(self._length, records)

    def write(self, start: int, records: Records) -> None:
        """Put `records` at row `start`."""
        if len(records):
            self._spill.write(start * self.dtype.itemsize, records.tobytes())
            self._length = max(self._length, start + len(records))

    def read(self, start: int, stop: int) -> Records:
        """The rows from `start` to `stop`, read-only."""
        size = self.dtype.itemsize
        return np.frombuffer(self._spill.read(start * size, (stop - start) * size), self.dtype)

    def close(self) -> None:
        """Forget everything."""
        self._spill.close()


@contextmanager
def _room_needed() -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise DarcError(
            f"cannot write temporary data to {tempfile.gettempdir()} ({problem.strerror})",
            "set TMPDIR to a folder with room",
        ) from None
