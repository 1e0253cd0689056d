"""A file's bytes as a plain file that the database can read: itself, or an unpacked copy."""

import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from darc.errors import TableError, nearest
from darc.files import zstandard

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
BLOCK_BYTES = 2**18
LONGEST_LINE = 32 * 2**20
# It tells zlib to expect the header and the checksum of gzip.
_GZIP_WINDOW = 31

#: Called with how many bytes are done, and of how many, None if that is not known.
Progress = Callable[[int, int | None], None]


def ignore_progress(done: int, total: int | None) -> None:
    """Take no notice of the progress."""


@dataclass(frozen=True)
class PlainFile:
    """A file that the database can read."""

    #: What errors call it.
    name: str
    #: Where it is: its own path, or that of an unpacked copy.
    path: Path
    #: The size in bytes of what it was made of, None if not known.
    total: int | None
    #: How many of these bytes have been reported as read.
    done: int = 0

    def text_path(self, spare_path: Callable[[], Path]) -> Path:
        """Check that this is UTF-8 text, and say where its lines end alike.

        Args:
            spare_path: Gives the path of a temporary file, for a copy.

        Returns:
            The path of this file, or of a copy without carriage returns at the ends of lines.

        Raises:
            TableError: It is not UTF-8 text, or a line is too long.
        """
        line = 1
        has_returns = False
        for block in self._line_blocks():
            self._check_text(block, line)
            line += block.count(b"\n")
            has_returns = has_returns or b"\r" in block
        if not has_returns:
            return self.path.resolve()
        path = spare_path()
        with path.open("wb") as copy:
            copy.writelines(block.replace(b"\r\n", b"\n") for block in self._line_blocks())
        return path

    def _check_text(self, block: bytes, first_line: int) -> None:
        position = block.find(b"\0")
        message = "a NUL character"
        try:
            block.decode("utf-8")
        except UnicodeDecodeError as problem:
            position = problem.start
            message = "this is not UTF-8 text"
        if position >= 0:
            line = first_line + block.count(b"\n", 0, position)
            raise TableError(self.name, message, "save it as UTF-8 text", line)

    def _line_blocks(self) -> Iterator[bytes]:
        """Blocks of whole lines."""
        with self.path.open("rb") as file:
            block = file.read(BLOCK_BYTES)
            while block:
                rest = file.readline(LONGEST_LINE)
                if len(rest) == LONGEST_LINE:
                    message = f"a line is longer than {LONGEST_LINE >> 20} MB"
                    raise TableError(self.name, message, "is this a file of ratings?")
                yield block + rest
                block = file.read(BLOCK_BYTES)


def plain_file(
    source: str | os.PathLike[str],
    stream: BinaryIO | None,
    spare_path: Callable[[], Path],
    progress: Progress = ignore_progress,
) -> PlainFile:
    """Make a plain file of a path, of standard input or of a stream.

    Gzip and zstd are recognised by their first bytes, whatever the file is called. What is packed
    or comes from a stream is copied.

    Args:
        source: The path, or "-" for standard input.
        stream: What to read instead of the source, which then only names it.
        spare_path: Gives the path of a temporary file, for a copy.
        progress: Called as bytes are copied.

    Raises:
        TableError: There is no such file, or its packed data is damaged.
    """
    path = Path(source)
    name = str(source)
    if name == "-":
        name = "standard input"
        stream = stream or sys.stdin.buffer
    total = None
    if stream is None and path.is_file():
        total = path.stat().st_size
    with _opened(name, path, stream) as file:
        head = _read_head(file)
        is_packed = head.startswith(GZIP) or head == ZSTD
        if total is not None and not is_packed:
            return PlainFile(name, path, total)
        blocks = _CountedBlocks(file, head, total, progress)
        copy = spare_path()
        try:
            with copy.open("wb") as out:
                out.writelines(_unpacked(blocks, head) if is_packed else blocks)
        except EOFError:
            message = "the packed data ends too early"
            raise TableError(name, message, "the file is cut off; fetch it again") from None
        except (zlib.error, zstandard().ZstdError) as problem:
            message = f"the packed data is damaged ({problem})"
            raise TableError(name, message, "the file is broken; fetch it again") from None
    return PlainFile(name, copy, total, blocks.done)


def _opened(name: str, path: Path, stream: BinaryIO | None) -> AbstractContextManager[BinaryIO]:
    """The stream, which stays open, or else the file of a path."""
    if stream is not None:
        return nullcontext(stream)
    return _open(name, path)


def _read_head(file: BinaryIO) -> bytes:
    """The first bytes by which packed files are recognised; a pipe may give one at a time."""
    head = b""
    while len(head) < len(ZSTD):
        byte = file.read(1)
        if not byte:
            break
        head += byte
    return head


class _CountedBlocks:
    """Iterates over the blocks of a file whose head is read already, and counts the bytes."""

    def __init__(self, file: BinaryIO, head: bytes, total: int | None, progress: Progress) -> None:
        self._file = file
        self._head = head
        self._total = total
        self._progress = progress
        self.done = len(head)

    def __iter__(self) -> Iterator[bytes]:
        yield self._head
        block = self._file.read(BLOCK_BYTES)
        while block:
            self.done += len(block)
            self._report()
            yield block
            block = self._file.read(BLOCK_BYTES)

    def _report(self) -> None:
        done = self.done
        if self._total is not None:
            # Copying is the first half of the work, reading the copy the second.
            done = done // 2
        self._progress(done, self._total)


def _unpacked(blocks: "_CountedBlocks", head: bytes) -> Iterator[bytes]:
    """What packed blocks hold.

    Raises:
        EOFError: The last member or frame is cut off.
    """
    member: Any = None
    for block in blocks:
        rest = block
        while True:
            if member is None:
                # Zeros may stand between the members of gzip.
                rest = rest.lstrip(b"\0")
            if not rest:
                break
            if member is None:
                member = _new_member(head)
            yield member.decompress(rest)
            rest = b""
            if member.eof:
                rest = member.unused_data
                member = None
    if member is not None:
        raise EOFError


def _new_member(head: bytes) -> Any:
    if head == ZSTD:
        return zstandard().ZstdDecompressor().decompressobj()
    return zlib.decompressobj(_GZIP_WINDOW)


def _open(name: str, path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except FileNotFoundError:
        neighbours = []
        if path.parent.is_dir():
            neighbours = [other.name for other in path.parent.iterdir()]
        hint = nearest(path.name, neighbours)
        if not hint.startswith("did you mean"):
            hint = ""
        raise TableError(name, "there is no such file", hint) from None
    except OSError as problem:
        raise TableError(name, f"cannot be read ({problem.strerror})") from None
