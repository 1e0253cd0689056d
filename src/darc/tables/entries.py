"""The entries of a small file: a JSON list, JSON lines, or one text a line."""

import gzip
import json
from pathlib import Path
from typing import Any

from darc.errors import TableError

Entry = tuple[int | None, Any]


def read_entries(path: Path) -> list[Entry]:
    """Each entry with its line, None within a JSON list."""
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
    except gzip.BadGzipFile:
        raise TableError(str(path), "it is no gzip file", "unpack or rename it") from None
    except OSError as problem:
        raise TableError(str(path), f"it cannot be read ({problem.strerror})") from None
    except UnicodeDecodeError:
        raise TableError(str(path), "it is not UTF-8", "save it as UTF-8") from None
    start = text.lstrip()[:1]
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if start == "[":
        return [(None, entry) for entry in _loads(path, text, None)]
    if start in ("{", '"'):
        return [(number, _loads(path, line, number)) for number, line in lines]
    return [(number, line.strip()) for number, line in lines]


def _loads(path: Path, text: str, line: int | None) -> Any:
    try:
        return json.loads(text)
    except ValueError as problem:
        raise TableError(str(path), f"it is not valid JSON ({problem})", "mend it", line) from None
