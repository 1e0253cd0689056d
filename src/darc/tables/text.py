"""Bytes to text, in blocks of whole lines."""

from collections.abc import Iterator
from typing import NamedTuple

from darc.errors import TableError
from darc.tables.source import Source

LONGEST_LINE = 64 * 2**20
BYTE_ORDER_MARK = "\ufeff"


class Text(NamedTuple):
    """Whole lines, each ended by one newline, and the number of the first of them."""

    lines: str
    first: int


def text_blocks(source: Source, size: int) -> Iterator[Text]:
    """The text of `source` in blocks of about `size` bytes; carriage returns and BOM taken off."""
    line = 1
    for data in _whole_lines(source, size):
        lines = _decoded(source.name, data, line)
        if line == 1:
            lines = lines.removeprefix(BYTE_ORDER_MARK)
        yield Text(lines, line)
        line += data.count(b"\n")


def _whole_lines(source: Source, size: int) -> Iterator[bytes]:
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


def _decoded(name: str, data: bytes, first: int) -> str:
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = first + data.count(b"\n", 0, problem.start)
        raise TableError(name, "this is not UTF-8 text", "save it as UTF-8", line) from None
