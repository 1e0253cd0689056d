"""A table's bytes as a plain file: itself, or an unpacked copy."""

import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from darc.errors import TableError, nearest
from darc.files import zstandard

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
BLOCK_BYTES = 2**18
LONGEST_LINE = 32 * 2**20

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class PlainFile:
    """A file that the database can read; errors call it by its `name`.

    `total` is the size of what it was made of, None if unknown, and `done` how much of that has
    been reported as read.
    """

    name: str
    path: Path
    total: int | None
    done: int = 0

    def text(self, spare: Callable[[], Path]) -> Path:
        """A path to it as UTF-8 text whose lines end alike: its own, or one in `spare`."""
        line, returns = 1, False
        for data in self._lines():
            place, message = data.find(b"\0"), "a NUL character"
            try:
                data.decode("utf-8")
            except UnicodeDecodeError as problem:
                place, message = problem.start, "this is not UTF-8 text"
            if place >= 0:
                at = line + data.count(b"\n", 0, place)
                raise TableError(self.name, message, "save it as UTF-8 text", at)
            line += data.count(b"\n")
            returns = returns or b"\r" in data
        if not returns:
            return self.path.resolve()
        path = spare()
        with path.open("wb") as copy:
            copy.writelines(data.replace(b"\r\n", b"\n") for data in self._lines())
        return path

    def _lines(self) -> Iterator[bytes]:
        """Blocks of whole lines."""
        with self.path.open("rb") as file:
            while data := file.read(BLOCK_BYTES):
                rest = file.readline(LONGEST_LINE)
                if len(rest) == LONGEST_LINE:
                    long = f"a line is longer than {LONGEST_LINE >> 20} MB"
                    raise TableError(self.name, long, "is this a file of ratings?")
                yield data + rest


def plain_file(
    source: str | os.PathLike[str],
    stream: BinaryIO | None,
    spare: Callable[[], Path],
    progress: Progress = lambda done, total: None,
) -> PlainFile:
    """The plain file of a path, of standard input ("-") or of a given stream.

    Gzip and zstd are known by their first bytes, whatever the file is called. A copy is a path of
    `spare`: what is packed or a stream is copied, and a name that the database would take for
    those of several files.
    """
    path, name = Path(source), str(source)
    if name == "-":
        name, stream = "standard input", stream or sys.stdin.buffer
    opened = nullcontext(stream) if stream else _open(name, path)
    total = path.stat().st_size if stream is None and path.is_file() else None
    with opened as file:
        head = b"".join(islice(iter(lambda: file.read(1), b""), len(ZSTD)))
        packed = head.startswith(GZIP) or head == ZSTD
        if total is not None and not packed and not set("*?[") & set(str(path)):
            return PlainFile(name, path, total)
        copy, done = spare(), len(head)

        def blocks() -> Iterator[bytes]:
            nonlocal done
            yield head
            while data := file.read(BLOCK_BYTES):
                done += len(data)
                progress(done if total is None else done // 2, total)
                yield data

        try:
            with copy.open("wb") as out:
                out.writelines(_unpacked(blocks(), head) if packed else blocks())
            return PlainFile(name, copy, total, done)
        except EOFError:
            message, hint = "the packed data ends too early", "the file is cut off"
        except (zlib.error, zstandard().ZstdError) as problem:
            message, hint = f"the packed data is damaged ({problem})", "the file is broken"
    raise TableError(name, message, f"{hint}; fetch it again")


def _unpacked(blocks: Iterator[bytes], head: bytes) -> Iterator[bytes]:
    """What packed blocks hold; an EOFError where the last member or frame is cut off."""
    new = partial(zlib.decompressobj, 31)
    if head == ZSTD:
        new = zstandard().ZstdDecompressor().decompressobj
    member: Any = None
    for data in blocks:
        # Zeros may stand between the members of gzip.
        while data := data if member else data.lstrip(b"\0"):
            member = member or new()
            yield member.decompress(data)
            data, member = (member.unused_data, None) if member.eof else (b"", member)
    if member is not None:
        raise EOFError


def _open(name: str, path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except FileNotFoundError:
        known = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        close = nearest(path.name, known)
        hint = close if close.startswith("did you mean") else ""
        raise TableError(name, "there is no such file", hint) from None
    except OSError as problem:
        raise TableError(name, f"cannot be read ({problem.strerror})") from None
