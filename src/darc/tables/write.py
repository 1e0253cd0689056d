"""Output files that appear whole or not at all."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from darc.errors import InputError
from darc.files import named


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
