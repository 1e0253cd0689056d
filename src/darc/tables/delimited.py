"""CSV, TSV and their semicolon cousin."""

import csv
import io
import re
from collections.abc import Iterator

import numpy as np

from darc.errors import TableError
from darc.tables.frame import Frame, Lines
from darc.tables.source import Source
from darc.tables.text import Text, text_blocks

DELIMITERS = (",", ";", "\t")


class DelimitedFrame(Frame):
    """Rows of fields; column i is every `stride`-th cell from the i-th on."""

    def __init__(
        self, source: str, names: tuple[str, ...], lines: Lines, cells: list[str], stride: int
    ) -> None:
        super().__init__(source, names, lines)
        self._cells = cells
        self._stride = stride

    def texts(self, name: str) -> list[str]:
        """The cells of a column."""
        return self._cells[self.names.index(name) :: self._stride]


def delimited_frames(source: Source, delimiter: str | None, size: int) -> Iterator[Frame]:
    """The rows of a file with a header, a frame a block; the delimiter is sniffed when None."""
    blocks = text_blocks(source, size)
    reader = _Reader(source.name, blocks)
    for block in blocks:
        start = len(block.lines) - len(block.lines.lstrip("\n"))
        if start < len(block.lines):
            block = Text(block.lines[start:], block.first + start)
            reader.read_header(block, delimiter)
            break
    else:
        raise TableError(source.name, "the file is empty", "it should start with a header line")
    while (rest := reader.next_block()) is not None:
        if rest.lines:
            frame = reader.frame(rest)
            if len(frame):
                yield frame


def sniff_delimiter(header: str) -> str:
    """The delimiter that a header line uses most, quoted parts aside; a comma when none."""
    bare = re.sub(r'"[^"]*"', "", header)
    return max(DELIMITERS, key=bare.count)


class _Reader:
    """The state between blocks: the header, and what a quoted record left of the last block."""

    def __init__(self, source: str, blocks: Iterator[Text]) -> None:
        self._source = source
        self._blocks = blocks
        self._rest: Text | None = None
        self._names: tuple[str, ...] = ()
        self._delimiter = ","

    def read_header(self, block: Text, delimiter: str | None) -> None:
        self._delimiter = delimiter or sniff_delimiter(block.lines.partition("\n")[0])
        feed = _Feed(block, self._blocks)
        (row,) = self._records(feed, 1)[0]
        self._rest = feed.rest()
        self._names = tuple(name.strip() for name in row)
        named = [name for name in self._names if name]
        if len(set(named)) < len(named):
            twice = next(name for name in named if named.count(name) > 1)
            raise TableError(
                self._source, f"the header names {twice!r} twice", "rename one", block.first
            )

    def next_block(self) -> Text | None:
        block, self._rest = self._rest, None
        return block if block is not None else next(self._blocks, None)

    def frame(self, block: Text) -> Frame:
        text = block.lines
        if '"' in text or "\r" in text or "\n\n" in text or text[0] == "\n":
            return self._quoted(block)
        return self._plain(block)

    def _plain(self, block: Text) -> Frame:
        """The rows of a block without quotes and blank lines, split at the speed of C."""
        mark = self._delimiter
        width = len(self._names)
        cells = block.lines.replace("\n", f"{mark}\n{mark}").split(mark)
        cells.pop()
        ends = cells[width :: width + 1]
        count = block.lines.count("\n")
        # Every newline in its place, and no other: each row has as many fields as the header.
        if len(cells) != count * (width + 1) or ends.count("\n") != count:
            for line, row in enumerate(block.lines[:-1].split("\n"), block.first):
                self._check_width(row.count(mark) + 1, line)
        lines = np.arange(block.first, block.first + count, dtype=np.int64)
        return DelimitedFrame(self._source, self._names, lines, cells, width + 1)

    def _quoted(self, block: Text) -> Frame:
        """The rows of any block; a record that runs on into the next block is read to its end."""
        feed = _Feed(block, self._blocks)
        rows, starts = self._records(feed, None)
        self._rest = feed.rest()
        width = len(self._names)
        for row, line in zip(rows, starts, strict=True):
            self._check_width(len(row), line)
        cells = [cell for row in rows for cell in row]
        lines = np.array(starts, dtype=np.int64)
        return DelimitedFrame(self._source, self._names, lines, cells, width)

    def _records(self, feed: "_Feed", limit: int | None) -> tuple[list[list[str]], list[int]]:
        """The records that start in the feed's first block, and the line where each one does."""
        rows: list[list[str]] = []
        starts: list[int] = []
        reader = csv.reader(feed, delimiter=self._delimiter, strict=True)
        start = feed.line
        try:
            while len(rows) != limit and feed.in_first_block:
                start = feed.line
                if row := next(reader):
                    rows.append(row)
                    starts.append(start)
        except (csv.Error, StopIteration) as problem:
            raise self._bad_record(start, str(problem)) from None
        return rows, starts

    def _bad_record(self, line: int, problem: str) -> TableError:
        if "field limit" in problem or "unexpected end" in problem:
            limit = f"{csv.field_size_limit():,}"
            message = f"a quoted field is never closed or longer than {limit} characters"
            hint = "double the quotation marks inside a quoted field"
        elif "new-line" in problem:
            message, hint = "a bare carriage return", "end lines with \\n or \\r\\n"
        else:
            message = f"a badly quoted field ({problem})"
            hint = "double the quotation marks inside a quoted field"
        return TableError(self._source, message, hint, line)

    def _check_width(self, fields: int, line: int) -> None:
        width = len(self._names)
        if fields != width:
            few = "few" if fields < width else "many"
            raise TableError(
                self._source,
                f"too {few} fields: {fields}, where the header has {width}",
                "put fields that contain the delimiter in double quotes",
                line,
            )


class _Feed:
    """The lines of a block and, when a quoted record asks for more, of the blocks after it."""

    def __init__(self, block: Text, blocks: Iterator[Text]) -> None:
        self._text = io.StringIO(block.lines, newline="\n")
        self._length = len(block.lines)
        self._blocks = blocks
        self._moved_on = False
        self.line = block.first

    @property
    def in_first_block(self) -> bool:
        """Whether a record can still start in the block that the feed began with."""
        return not self._moved_on and self._text.tell() < self._length

    def __iter__(self) -> "_Feed":
        return self

    def __next__(self) -> str:
        line = self._text.readline()
        if not line:
            self._text = io.StringIO(next(self._blocks).lines, newline="\n")
            self._moved_on = True
            line = self._text.readline()
        self.line += 1
        return line

    def rest(self) -> Text:
        """What has not been read of the present block."""
        return Text(self._text.read(), self.line)
