"""Where the bytes of a table come from, and its text."""

import gzip
import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

from darc.errors import TableError, nearest
from darc.files import zstandard
from darc.registry import Closing

GZIP_MAGIC, ZSTD_MAGIC = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
LONGEST_LINE = 32 * 2**20


class Readable(Protocol):
    """Anything that bytes can be read from."""

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes, empty at the end."""
        ...


class Peekable:
    """A stream whose first bytes can be looked at before they are read; counts what went by."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._ahead = b""
        self.done = 0

    def peek(self, size: int) -> bytes:
        """The next `size` bytes, fewer only at the end, without consuming them."""
        while len(self._ahead) < size:
            more = self._stream.read(size - len(self._ahead))
            if not more:
                break
            self._ahead += more
        return self._ahead[:size]

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes, empty at the end."""
        data, self._ahead = self._ahead[:size], self._ahead[size:]
        if len(data) < size:
            data += self._stream.read(size - len(data))
        self.done += len(data)
        return data

    def seek(self, offset: int, /) -> object:
        """Nothing: gzip asks for the method but never calls it when reading forwards."""
        raise OSError(f"cannot seek to {offset}")


class _Zstd:
    """The frames of a zstd stream; one that is cut off is an error, which the library's is not."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._library = zstandard().ZstdDecompressor()
        self._frame: Any = None

    def read(self, size: int, /) -> bytes:
        """Some bytes, empty at the end."""
        made = b""
        while not made:
            data = self._stream.read(size)
            if not data and self._frame is not None:
                raise EOFError
            if not data:
                break
            while data:
                self._frame = self._frame or self._library.decompressobj()
                made += self._frame.decompress(data)
                data = self._frame.unused_data if self._frame.eof else b""
                self._frame = None if self._frame.eof else self._frame
        return made


class TableSource(Closing):
    """The unpacked bytes of a file, of standard input or of a given stream, read once.

    `name` is how errors call it, `path` is None unless it is a file that can be opened again,
    `total` is its size in bytes if known and `done` how many of them have been read (both packed);
    `returns` says whether the text read so far has carriage returns.
    Gzip and zstd are known by their first bytes, whatever the file is called.
    """

    def __init__(self, source: str | os.PathLike[str], stream: BinaryIO | None = None) -> None:
        self.name = "standard input" if str(source) == "-" else str(source)
        self.path: Path | None = None
        self.total: int | None = None
        self.returns = False
        self._opened: BinaryIO | None = None
        if stream is None and str(source) == "-":
            stream = sys.stdin.buffer
        elif stream is None:
            stream = self._opened = self._open(Path(source))
        try:
            self._raw = Peekable(stream)
            head = self._guard(self._raw.peek, len(ZSTD_MAGIC))
            self.packed = head.startswith(GZIP_MAGIC) or head == ZSTD_MAGIC
            unpacked: Any = self._raw
            if head.startswith(GZIP_MAGIC):
                unpacked = Peekable(gzip.GzipFile(fileobj=self._raw, mode="rb"))
            elif self.packed:
                unpacked = Peekable(_Zstd(self._raw))
            self._text: Peekable = unpacked
        except BaseException:
            self.close()
            raise

    @property
    def done(self) -> int:
        """How many bytes of `total` have been read."""
        return self._raw.done

    def peek(self, size: int) -> bytes:
        """The next `size` unpacked bytes, fewer only at the end."""
        return self._guard(self._text.peek, size)

    def read(self, size: int) -> bytes:
        """Up to `size` unpacked bytes, empty at the end."""
        return self._guard(self._text.read, size)

    def close(self) -> None:
        """Close the file, if this object opened it."""
        if self._opened is not None:
            self._opened.close()

    def _open(self, path: Path) -> BinaryIO:
        if path.is_dir():
            raise TableError(self.name, "this is a folder, not a file", "name a file in it")
        try:
            stream = path.open("rb")
        except FileNotFoundError:
            raise TableError(self.name, "there is no such file", _neighbour(path)) from None
        except OSError as problem:
            raise TableError(self.name, f"cannot be read ({problem.strerror})") from None
        if path.is_file():
            self.path, self.total = path, path.stat().st_size
        return stream

    def _guard(self, read: "_Read", size: int) -> bytes:
        """What `read(size)` gives, its failures told in one sentence."""
        try:
            return read(size)
        except EOFError:
            message, hint = "the packed data ends too early", "the file is cut off; fetch it again"
        except (zlib.error, gzip.BadGzipFile) as problem:
            message, hint = f"the gzip data is damaged ({problem})", "fetch the file again"
        except zstandard().ZstdError as problem:
            message, hint = f"the zstd data is damaged ({problem})", "fetch the file again"
        except OSError as problem:
            message, hint = f"cannot be read ({problem})", ""
        raise TableError(self.name, message, hint)


class _Read(Protocol):
    def __call__(self, size: int, /) -> bytes: ...


class SourceText(NamedTuple):
    """Whole lines, each ended by one newline, and the number of the first of them."""

    lines: str
    first: int


def text_blocks(source: TableSource, size: int) -> Iterator[SourceText]:
    """The text of `source` in blocks of about `size` bytes; carriage returns and BOM taken off."""
    line = 1
    for data in _whole_lines(source, size):
        count = data.count(b"\n")
        if b"\r" in data:
            source.returns = True
            data = data.replace(b"\r\n", b"\n")
        try:
            lines = data.decode("utf-8-sig" if line == 1 else "utf-8")
        except UnicodeDecodeError as problem:
            at = line + data.count(b"\n", 0, problem.start)
            raise TableError(
                source.name, "this is not UTF-8 text", "save it as UTF-8", at
            ) from None
        if "\0" in lines:
            at = line + lines.count("\n", 0, lines.index("\0"))
            raise TableError(source.name, "a NUL character", "save the file as UTF-8 text", at)
        yield SourceText(lines, line)
        line += count


def _whole_lines(source: TableSource, size: int) -> Iterator[bytes]:
    """Blocks that end with a newline; a last line without one gets it, and no block of its own."""
    ready, rest = b"", [b""]
    while data := source.read(size):
        cut = data.rfind(b"\n") + 1
        if not cut:
            rest.append(data)
            if sum(map(len, rest)) > LONGEST_LINE:
                raise TableError(
                    source.name,
                    f"a line is longer than {LONGEST_LINE // 2**20} MB",
                    "is this a file of ratings?",
                )
            continue
        if ready:
            yield ready
        ready, rest = b"".join((*rest, data[:cut])), [data[cut:]]
    last = b"".join((ready, *rest))
    if last:
        yield last if last.endswith(b"\n") else last + b"\n"


def _neighbour(path: Path) -> str:
    """A hint naming the file of the same folder that was probably meant, or nothing."""
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return ""
    hint = nearest(path.name, names)
    return hint if hint.startswith("did you mean") else ""
