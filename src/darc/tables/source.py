"""Where the bytes of a table come from."""

import gzip
import os
import sys
import zlib
from pathlib import Path
from typing import BinaryIO, Protocol

from darc.errors import TableError, nearest
from darc.registry.capabilities import Closing

GZIP_MAGIC = b"\x1f\x8b"


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


class Source(Closing):
    """The decompressed bytes of a file, of standard input or of a given stream, read once.

    `name` is how errors call it, `path` is None unless it is a file that can be opened again,
    `total` is its size in bytes if known and `done` how many of them have been read (both
    compressed). Gzip is known by its first bytes, whatever the file is called.
    """

    def __init__(self, source: str | os.PathLike[str], stream: BinaryIO | None = None) -> None:
        self.name = "standard input" if str(source) == "-" else str(source)
        self.path: Path | None = None
        self.total: int | None = None
        self._opened: BinaryIO | None = None
        if stream is None and str(source) == "-":
            stream = sys.stdin.buffer
        elif stream is None:
            stream = self._opened = self._open(Path(source))
        try:
            self._raw = Peekable(stream)
            self.zipped = self._guard(self._raw.peek, len(GZIP_MAGIC)) == GZIP_MAGIC
            self._text = (
                Peekable(gzip.GzipFile(fileobj=self._raw, mode="rb")) if self.zipped else self._raw
            )
        except BaseException:
            self.close()
            raise

    @property
    def done(self) -> int:
        """How many bytes of `total` have been read."""
        return self._raw.done

    def peek(self, size: int) -> bytes:
        """The next `size` decompressed bytes, fewer only at the end."""
        return self._guard(self._text.peek, size)

    def read(self, size: int) -> bytes:
        """Up to `size` decompressed bytes, empty at the end."""
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
            raise TableError(
                self.name, "the gzip data ends too early", "the file is cut off; fetch it again"
            ) from None
        except (zlib.error, gzip.BadGzipFile) as problem:
            raise TableError(
                self.name, f"the gzip data is damaged ({problem})", "fetch the file again"
            ) from None
        except OSError as problem:
            raise TableError(self.name, f"cannot be read ({problem})") from None


class _Read(Protocol):
    def __call__(self, size: int, /) -> bytes: ...


def _neighbour(path: Path) -> str:
    """A hint naming the file of the same folder that was probably meant, or nothing."""
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return ""
    hint = nearest(path.name, names)
    return hint if hint.startswith("did you mean") else ""
