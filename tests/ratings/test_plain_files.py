import gzip
import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from darc.errors import TableError
from darc.ratings.plain_files import plain_file


class Dripping(io.RawIOBase):
    """A stream that hands out one byte at a time, as a slow pipe does."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def read(self, size: int = -1, /) -> bytes:
        return self._data.read(min(size, 1))


def test_gzip_is_known_by_its_first_bytes_even_when_they_drip(tmp_path: Path) -> None:
    packed = gzip.compress(b"hello") + b"\0\0" + gzip.compress(b" world") + b"\0"
    seen: list[tuple[int, int | None]] = []
    stream: Any = Dripping(packed)
    file = plain_file("x.csv", stream, lambda: tmp_path / "copy", lambda *at: seen.append(at))
    assert file.path.read_bytes() == b"hello world"
    assert seen[-1] == (len(packed), None)


def test_a_file_is_its_own_copy_and_a_stream_is_left_open(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"x")
    assert plain_file(path, None, lambda: tmp_path / "copy").path == path
    stream = io.BytesIO(b"x")
    assert plain_file("-", stream, lambda: tmp_path / "copy").name == "standard input"
    assert not stream.closed


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs permissions")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.touch(mode=0)
    with pytest.raises(TableError, match="ermission"):
        plain_file(path, None, lambda: tmp_path / "copy")
