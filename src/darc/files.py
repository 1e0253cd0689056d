"""Files in and out: JSON by the line, outputs that appear whole, errors that name the file."""

import codecs
import csv
import gzip
import hashlib
import io
import json
import math
import os
import secrets
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from darc.errors import InputError, TableError, extra_needed
from darc.field_names import OUTPUT_FIELDS

Entry = tuple[int | None, Any]

MEND, PACKED = "mend it", ".zst"
AGAIN = "restore it, or remove it and run again"


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def zstandard() -> Any:
    """The library that packs files."""
    with extra_needed("packed files (.zst)", "all"):
        import zstandard as library
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
            text = text.decode("utf-8-sig")
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
        lines = (text for text in file if not ended or text.endswith(b"\n"))
        yield from parse_lines(lines, str(path), hint)


def parse_lines(
    lines: Iterable[bytes], source: str, hint: str = MEND, *, exact: bool = False
) -> Iterator[tuple[int, Any]]:
    """The number and the value of each line that is not blank."""
    for number, text in enumerate(lines, 1):
        if text.strip():
            yield number, parse_json(text, source, number, hint, exact=exact)


def read_entries(path: Path, lines: Iterable[bytes] | None = None) -> Iterator[Entry]:
    """The entries of a JSON list, of JSON lines, or one text a line, each with its line.

    Only a list is read as a whole, and its entries have no line. A folder is one of answers, a file
    for each system: see `_outputs`. Given `lines` are read in place of the file.
    """
    if path.is_dir():
        yield from _outputs(path)
        return
    with nullcontext(lines) if lines is not None else reading(path) as file:
        rest, start = iter(file), b""
        head = []
        while not start and (line := next(rest, b"")):
            head.append(line)
            start = line.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
        every = chain(head, rest)
        if start == b"[":
            yield from ((None, entry) for entry in parse_json(b"".join(every), str(path)))
        elif start in (b"{", b'"'):
            yield from parse_lines(every, str(path))
        else:
            for number, line in enumerate(every, 1):
                try:
                    text = line.decode("utf-8-sig").strip()
                except UnicodeDecodeError:
                    hint = "save it as UTF-8"
                    raise TableError(str(path), "it is not UTF-8", hint, number) from None
                if text:
                    yield number, text


def output_files(folder: Path) -> list[Path]:
    """The files of a folder in the order of their names, hidden ones left out."""
    found = sorted(each for each in folder.iterdir() if each.is_file() and each.name[0] != ".")
    if not found:
        raise TableError(str(folder), "the folder has no files", "put a system's answers into each")
    return found


def _outputs(folder: Path) -> Iterator[Entry]:
    """The answers of a folder: prompt_id, candidate_id, prompt and response of each.

    A system without a name of its own is called by its file. Answers belong to one prompt by their
    id, else by the prompt's text, else by their place in the file.
    """
    for path in output_files(folder):
        for place, (line, row) in enumerate(_rows(path), 1):
            known = {"response": row} if isinstance(row, str) else row
            if not isinstance(known, Mapping):
                raise TableError(str(path), "an answer is no object", "write {...}", line)
            made = {name: field_of(known, name) for name in OUTPUT_FIELDS}
            if not made["response"]:
                hint = f"give one of {', '.join(OUTPUT_FIELDS['response'])}"
                raise TableError(str(path), "an answer has no text", hint, line)
            text = made["prompt"].encode("utf-8", "surrogatepass")
            usual = hashlib.sha256(text).hexdigest()[:12] if text else str(place)
            made["prompt_id"] = made["prompt_id"] or usual
            made["candidate_id"] = made["candidate_id"] or path.name.split(".")[0]
            yield line, made


def field_of(row: Mapping[str, Any], name: str) -> str:
    """What a row has under the first of a field's names that is there, as text."""
    for field_name in OUTPUT_FIELDS[name]:
        if row.get(field_name) not in (None, ""):
            return str(row[field_name])
    return ""


def _rows(path: Path) -> Iterator[Entry]:
    if path.suffix.lower() != ".csv":
        yield from read_entries(path)
        return
    with path.open(encoding="utf-8-sig", newline="") as file:
        yield from enumerate(csv.DictReader(file), 2)


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


@contextmanager
def atomic_writer(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[TextIO]:
    """A UTF-8 text file, newlines as written, that takes the place of `path` on success only."""
    with (
        atomic_path(path, private=private) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as stream,
    ):
        yield stream


@contextmanager
def atomic_path(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[Path]:
    """An empty file beside `path`, of the same suffix, renamed to it on success only.

    A device or a pipe (such as /dev/stdout) cannot be renamed over, so it is handed out itself.
    A new file that is `private` can be read by its owner only.
    """
    target = Path(path).resolve()
    if target.is_dir():
        raise InputError(f"cannot write {path}: it is a folder", "name a file in it")
    if target.exists() and not target.is_file():
        with named(path):
            yield target
        return
    if not target.parent.is_dir():
        raise InputError(
            f"cannot write {path}: there is no folder {target.parent}", "create it first"
        )
    temporary = target.with_name(f".{target.stem}.{secrets.token_hex(4)}{target.suffix}")
    try:
        temporary.touch(0o600 if private else 0o666, exist_ok=False)
        if target.exists():
            shutil.copymode(target, temporary)
    except OSError as problem:
        temporary.unlink(missing_ok=True)
        raise InputError(
            f"cannot write {path}: {problem.strerror}", "choose another folder"
        ) from None
    try:
        with named(path):
            yield temporary
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


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
