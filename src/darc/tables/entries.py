"""The entries of a small file: a JSON list, JSON lines, or one text a line."""

import gzip
import io
from pathlib import Path
from typing import Any

from darc.errors import TableError
from darc.files import parse_json

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
    # Not str.splitlines, which also ends a line at characters that JSON may have in a text.
    every = enumerate(io.StringIO(text, newline=None), 1)
    lines = [(number, line.rstrip("\n")) for number, line in every if line.strip()]
    if start == "[":
        return [(None, entry) for entry in parse_json(text, str(path))]
    if start in ("{", '"'):
        return [(number, parse_json(line, str(path), number)) for number, line in lines]
    return [(number, line.strip()) for number, line in lines]
