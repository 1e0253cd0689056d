"""Every decision, appended to a file that is rotated by size."""

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darc.errors import InputError
from darc.files import append_private, json_lines, private_folder

KEPT = 5


class Audit:
    """Rows in the decisions schema of a run folder, one JSON object a line, each in one write.

    At `most` bytes the file becomes FILE.1, the one before FILE.2, and so on; five are kept.
    """

    def __init__(self, path: Path, most: int, kept: int = KEPT) -> None:
        self.path, self._most, self._kept = path, most, kept
        self._lock = threading.Lock()
        try:
            private_folder(path.parent)
            append_private(path)
        except OSError as problem:
            raise InputError(f"{path} cannot be written ({problem.strerror})") from None

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a decision; may be called from any thread."""
        line = (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "replace")
        with self._lock:
            if self.path.exists() and self.path.stat().st_size + len(line) > self._most:
                self._rotate()
            append_private(self.path, line)

    def _rotate(self) -> None:
        for number in range(self._kept - 1, 0, -1):
            older = self._named(number)
            if older.exists():
                older.replace(self._named(number + 1))
        if self.path.stat().st_size:
            self.path.replace(self._named(1))

    def _named(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")


def read_audit(path: Path) -> list[dict[str, Any]]:
    """The rows of an audit log, older files first."""
    numbered = sorted(
        path.parent.glob(f"{path.name}.*"), key=lambda each: -int(each.suffix[1:] or 0)
    )
    return [row for each in [*numbered, path] for _, row in json_lines(each)]
