"""Opening, hashing and writing files: outputs appear whole or not at all."""

import gzip
import hashlib
import io
import os
import secrets
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from darc.errors import InputError, TableError, extra_needed

#: The suffix of files that are compressed with zstandard.
PACKED_SUFFIX = ".zst"
REPAIR_HINT = "repair it"
RESTORE_HINT = "restore it, or remove it and run again"


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def zstandard() -> Any:
    """The library that compresses and decompresses .zst files.

    Raises:
        MissingExtra: If it is not installed.
    """
    with extra_needed("packed files (.zst)", "all"):
        import zstandard as library
    return library


@contextmanager
def open_input(path: Path, hint: str = REPAIR_HINT) -> Iterator[BinaryIO]:
    """Open a file for reading; .zst and .gz files are decompressed on the way.

    Args:
        path: The file.
        hint: What to do if it cannot be read.

    Yields:
        The binary stream.

    Raises:
        TableError: If it cannot be read or decompressed, also later inside the block.
    """
    try:
        with path.open("rb") as file:
            yield _decompressed(path, file)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise TableError(str(path), "it is not a gzip file", "unpack or rename it") from None
    except OSError as problem:
        raise TableError(str(path), f"it cannot be read ({problem.strerror})", hint) from None
    except Exception as problem:
        if path.suffix == PACKED_SUFFIX and isinstance(problem, zstandard().ZstdError):
            raise TableError(str(path), "it cannot be unpacked", RESTORE_HINT) from None
        raise


def _decompressed(path: Path, file: BinaryIO) -> BinaryIO:
    if path.suffix == PACKED_SUFFIX:
        return io.BufferedReader(zstandard().ZstdDecompressor().stream_reader(file))
    if path.suffix == ".gz":
        return cast("BinaryIO", gzip.GzipFile(fileobj=file))
    return file


@contextmanager
def name_in_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let an `OSError` inside the block name the file, which that of a full disk does not."""
    try:
        yield
    except OSError as problem:
        if problem.filename is None:
            problem.filename = os.fspath(path)
        raise


@contextmanager
def atomic_writer(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[TextIO]:
    """Write a UTF-8 text file that takes the place of another on success only.

    Args:
        path: The file.
        private: Whether only the owner can read a new file.

    Yields:
        The stream to write to; newlines are written as they are.

    Raises:
        InputError: If there can be no such file.
    """
    with (
        atomic_path(path, private=private) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as stream,
    ):
        yield stream


@contextmanager
def atomic_path(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[Path]:
    """Make an empty file that takes the place of another on success only.

    Args:
        path: The file to be replaced. A device or a pipe, such as /dev/stdout, cannot be replaced
            and is handed out itself.
        private: Whether only the owner can read a new file.

    Yields:
        The path of a file beside it, with the same suffix.

    Raises:
        InputError: If there can be no such file.
    """
    target = Path(path).resolve()
    if target.is_dir():
        raise InputError(f"cannot write {path}: it is a folder", "name a file in it")
    if target.exists() and not target.is_file():
        with name_in_errors(path):
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
        with name_in_errors(path):
            yield temporary
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def private_folder(path: Path) -> None:
    """Make a folder that only its owner can look into; an existing one stays as it is."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def append_private(path: Path, data: bytes = b"") -> None:
    """Add to a file in one write; only the owner can read a new one."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    with name_in_errors(path), os.fdopen(os.open(path, flags, 0o600), "ab") as file:
        file.write(data)
