"""Files in and out: JSON by the line, private files, errors that name the file."""

import gzip
import io
import json
import math
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from darc.errors import MissingExtra, TableError

MEND, PACKED = "mend it", ".zst"
AGAIN = "restore it, or remove it and run again"


def zstandard() -> Any:
    """The library that packs files."""
    try:
        import zstandard as library
    except ImportError:
        raise MissingExtra("packed files (.zst)", "all") from None
    return library


# Leaves numbers the text that they are.
_EXACT = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)


def parse_json(
    text: str | bytes,
    source: str,
    line: int | None = None,
    hint: str = MEND,
    *,
    exact: bool = False,
) -> Any:
    """What JSON text says; text that cannot be used is refused by its file and line.

    With `exact`, numbers stay text, spelled as they are.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        value = _EXACT.decode(text) if exact else json.loads(text)
        # Half of a surrogate pair is valid JSON, but no text that could be written out.
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except UnicodeDecodeError:
        message = "it is not UTF-8"
    except UnicodeEncodeError:
        message = "half of a surrogate pair is not text"
    except json.JSONDecodeError as problem:
        row = f"line {problem.lineno}, " if problem.lineno > 1 else ""
        message = f"it is not valid JSON ({problem.msg} at {row}column {problem.colno})"
    except RecursionError:
        message = "it is nested too deeply"
    except ValueError:
        message = "a number in it has too many digits"
    raise TableError(source, message, hint, line)


def read_json(path: Path, hint: str = MEND) -> Any:
    """What a JSON file says."""
    with reading(path, hint) as file:
        return parse_json(file.read(), str(path), hint=hint)


def json_lines(path: Path, hint: str = MEND, *, ended: bool = False) -> Iterator[tuple[int, Any]]:
    """Each line's number and value, blank lines left out.

    `ended` leaves out a last line without its newline too: it was never finished.
    """
    with reading(path, hint) as file:
        for number, text in enumerate(file, 1):
            if text.strip() and not (ended and not text.endswith(b"\n")):
                yield number, parse_json(text, str(path), number, hint)


@contextmanager
def reading(path: Path, hint: str = MEND) -> Iterator[BinaryIO]:
    """A file that is read, unpacked if it is packed; one that cannot be read is refused by name."""
    try:
        with path.open("rb") as file:
            if path.suffix == PACKED:
                file = io.BufferedReader(zstandard().ZstdDecompressor().stream_reader(file))
            elif path.suffix == ".gz":
                yield cast("BinaryIO", gzip.GzipFile(fileobj=file))
                return
            yield file
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise TableError(str(path), "it is no gzip file", "unpack or rename it") from None
    except OSError as problem:
        raise TableError(str(path), f"it cannot be read ({problem.strerror})", hint) from None
    except Exception as problem:
        if path.suffix == PACKED and isinstance(problem, zstandard().ZstdError):
            raise TableError(str(path), "it cannot be unpacked", AGAIN) from None
        raise


@contextmanager
def named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Where a write fails, as on a full disk, the error names the file."""
    try:
        yield
    except OSError as problem:
        if problem.filename is None:
            problem.filename = os.fspath(path)
        raise


def private_folder(path: Path) -> None:
    """Make a folder that only its owner can look into; one that is there stays as it is."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def append_private(path: Path, data: bytes = b"") -> None:
    """Add to a file in one write; a new one can be read by its owner only."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    with named(path), os.fdopen(os.open(path, flags, 0o600), "ab") as file:
        file.write(data)


def jsonable(value: Any) -> Any:
    """A value with what is not a finite number as None all through, as JSON wants it."""
    if isinstance(value, dict):
        return {name: jsonable(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
