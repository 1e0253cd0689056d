"""Outputs of `darc` commands in a folder, so that what was interrupted goes on where it stopped."""

import contextlib
import hashlib
import io
import json
import shutil
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import darc
from darc.cli import main
from darc.files import atomic_writer


@dataclass(frozen=True)
class OutputCache:
    """A folder with `NAME.json` for each command, and `NAME` for the run that it makes.

    An output is used again while the command, the files that it reads and DARC's code are the same;
    `NAME.key` is their hash. Anything else is made again from the start.
    """

    folder: Path

    def output(self, name: str, *arguments: str | Path, start: Path | None = None) -> Any:
        """What a command prints as JSON; `start` is an earlier run that its folder begins with."""
        self.folder.mkdir(parents=True, exist_ok=True)
        words = [str(argument) for argument in arguments]
        target = self.folder / f"{name}.json"
        key_file = self.folder / f"{name}.key"
        inputs = [*words]
        if start is not None:
            inputs.append(str(start))
        key = _key(inputs, key_file)
        if not key_file.is_file() or key_file.read_text(encoding="utf-8") != key:
            target.unlink(missing_ok=True)
            shutil.rmtree(self.folder / name, ignore_errors=True)
            key_file.write_text(key, encoding="utf-8")
        if not target.is_file():
            if start is not None:
                shutil.rmtree(self.folder / name, ignore_errors=True)
                shutil.copytree(start, self.folder / name)
            with atomic_writer(target) as file:
                file.write(_printed(words))
        return json.loads(target.read_text(encoding="utf-8"))


def _printed(words: list[str]) -> str:
    """The standard output of a `darc` command, which has said itself why it failed if it did."""
    print(f"darc {' '.join(words)}", file=sys.stderr, flush=True)
    printed = io.StringIO()
    started = time.monotonic()
    with contextlib.redirect_stdout(printed):
        code = main(words)
    if code:
        raise SystemExit(code)
    print(f"  {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)
    return printed.getvalue()


def _key(words: list[str], key_file: Path) -> str:
    """A hash of a command, the files and earlier outputs that it names, and the code."""
    digest = hashlib.sha256(_code().encode())
    for word in words:
        digest.update(f"{len(word)} {word}".encode())
        path = Path(word.removeprefix("given:"))
        for file in (path, path.with_name(f"{path.name}.key")):
            # A command's own key is what is being computed.
            if file != key_file and file.is_file():
                digest.update(file.read_bytes())
    return digest.hexdigest()


@cache
def _code() -> str:
    """A hash of all files of the installed DARC."""
    digest = hashlib.sha256()
    root = Path(darc.__file__).parent
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(root)} {path.stat().st_size}".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
