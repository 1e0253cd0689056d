"""The entries of a file: a JSON list, JSON lines, or one text a line."""

import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from darc.errors import TableError
from darc.files import parse_json

Entry = tuple[int | None, Any]


def read_entries(path: Path) -> list[Entry]:
    """Each entry with its line, None within a JSON list."""
    return list(iter_entries(path))


def iter_entries(path: Path) -> Iterator[Entry]:
    """The entries one after the other; only a JSON list is read as a whole."""
    try:
        with (
            gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file,
            # Not str.splitlines, which also ends a line at characters that JSON may have in a text.
            io.TextIOWrapper(file, encoding="utf-8-sig", newline=None) as text,
        ):
            yield from entries_of(path, text)
    except (gzip.BadGzipFile, EOFError):
        raise TableError(str(path), "it is no gzip file", "unpack or rename it") from None
    except OSError as problem:
        raise TableError(str(path), f"it cannot be read ({problem.strerror})") from None
    except UnicodeDecodeError:
        raise TableError(str(path), "it is not UTF-8", "save it as UTF-8") from None


def entries_of(path: Path, text: TextIO) -> Iterator[Entry]:
    """The entries of an open file, which errors call by `path`."""
    start = ""
    for number, line in enumerate(text, 1):
        if not line.strip():
            continue
        start = start or line.lstrip()[:1]
        if start == "[":
            whole = "\n" * (number - 1) + line + text.read()
            yield from ((None, entry) for entry in parse_json(whole, str(path)))
        elif start in ("{", '"'):
            yield number, parse_json(line.rstrip("\n"), str(path), number)
        else:
            yield number, line.strip()
