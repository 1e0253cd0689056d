"""A table of numbers in a file that several processes map, with a lock."""

import mmap
import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


class SharedTable:
    """A structured array that several processes read and write.

    The lock ends with the process that holds it, so that one which is killed stops no other. It
    does not keep threads of the same process apart.

    Attributes:
        rows: The array; read and write it while the table is locked.
    """

    def __init__(self, path: Path, row_type: Any, length: int) -> None:
        """Map the file, which is made with zeros if it does not exist.

        Args:
            path: The file; all processes give the same type and length.
            row_type: The type of a row, as numpy takes it.
            length: The number of rows.
        """
        # Windows has none.
        import fcntl

        self._fcntl = fcntl
        dtype = np.dtype(row_type)
        # The file stays open: closing it would end a lock of this process.
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        weakref.finalize(self, os.close, self._file)
        os.ftruncate(self._file, dtype.itemsize * length)
        memory = mmap.mmap(self._file, dtype.itemsize * length)
        self.rows: NDArray[Any] = np.frombuffer(memory, dtype)

    @contextmanager
    def locked(self) -> Iterator[NDArray[Any]]:
        """Keep all other processes out of the table for a moment, and return its rows."""
        self._fcntl.lockf(self._file, self._fcntl.LOCK_EX)
        try:
            yield self.rows
        finally:
            self._fcntl.lockf(self._file, self._fcntl.LOCK_UN)
