"""A log of all decisions."""

import json
import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from filelock import FileLock

from darc.errors import InputError
from darc.files import append_private, private_folder

_MAX_OLD_FILES = 5


class AuditLog:
    """A file with one JSON object per decision, in the decisions schema of a run folder.

    A file that is full becomes FILE.1, the one before it FILE.2, and so on.
    """

    def __init__(
        self,
        path: Path,
        max_bytes: int,
        max_old_files: int = _MAX_OLD_FILES,
        *,
        shared: bool = False,
    ) -> None:
        """Open the log.

        Args:
            path: The file, which is made if it does not exist.
            max_bytes: The size at which a new file is begun.
            max_old_files: How many older files are kept.
            shared: Whether other processes write to the file too. They take turns by a lock on
                a hidden file beside it.

        Raises:
            InputError: The file cannot be written.
        """
        self.path = path
        self._max_bytes = max_bytes
        self._max_old_files = max_old_files
        self._lock = threading.Lock()
        self._process_lock: AbstractContextManager[Any] = nullcontext()
        if shared:
            lock_path = path.with_name(f".{path.name}.lock")
            self._process_lock = FileLock(lock_path, mode=0o600, thread_local=False)
        try:
            private_folder(path.parent)
            append_private(path)
        except OSError as error:
            raise InputError(f"{path} cannot be written ({error.strerror})") from None

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a decision in one write; may be called from any thread."""
        line = (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "replace")
        with self._lock, self._process_lock:
            if self.path.exists() and self.path.stat().st_size + len(line) > self._max_bytes:
                self._rotate()
            append_private(self.path, line)

    def _rotate(self) -> None:
        """Rename FILE to FILE.1, FILE.1 to FILE.2 and so on, the oldest first."""
        for number in range(self._max_old_files, 0, -1):
            newer = self._numbered(number - 1)
            if newer.exists() and newer.stat().st_size:
                newer.replace(self._numbered(number))

    def _numbered(self, number: int) -> Path:
        if number == 0:
            return self.path
        return Path(f"{self.path}.{number}")
