import gzip
import io
import os
import sys
from pathlib import Path

import pytest

from darc.errors import TableError
from darc.tables.source import Peekable, TableSource


class Dripping(io.RawIOBase):
    """A stream that hands out one byte at a time, as a slow pipe does."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def read(self, size: int = -1, /) -> bytes:
        return self._data.read(min(size, 1))


def test_peeking_consumes_nothing() -> None:
    stream = Peekable(io.BytesIO(b"abcdef"))
    assert stream.peek(4) == b"abcd"
    assert (stream.read(2), stream.peek(9), stream.read(9)) == (b"ab", b"cdef", b"cdef")
    assert (stream.read(1), stream.done) == (b"", 6)


def test_gzip_is_known_by_its_first_bytes_even_when_they_drip() -> None:
    packed = gzip.compress(b"hello") + gzip.compress(b" world")
    source = TableSource("x.csv", Dripping(packed))  # type: ignore[arg-type]
    assert source.packed
    assert source.peek(3) == b"hel"
    assert b"".join(iter(lambda: source.read(100), b"")) == b"hello world"
    assert source.done == len(packed)


def test_a_given_stream_is_left_open() -> None:
    stream = io.BytesIO(b"x")
    with TableSource("-", stream) as source:
        assert source.name == "standard input"
    assert not stream.closed


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs permissions")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.touch(mode=0)
    with pytest.raises(TableError, match="ermission"):
        TableSource(path)
