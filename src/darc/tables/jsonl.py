"""JSON Lines: one object a line."""

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from darc.errors import TableError
from darc.tables.frame import Frame, Lines, shorten
from darc.tables.source import Source
from darc.tables.text import Text, text_blocks

# Numbers stay the text that the file has, so that ids keep their spelling (1.50, 007e1, long ones).
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)


class JsonFrame(Frame):
    """Rows that are objects; a field may be absent from some of them."""

    def __init__(self, source: str, lines: Lines, rows: list[dict[str, Any]]) -> None:
        super().__init__(source, tuple(dict.fromkeys(chain.from_iterable(rows))), lines)
        self._rows = rows

    def texts(self, name: str) -> list[str]:
        """The cells of a column as text, empty where null or absent."""
        cells: list[Any] = [row.get(name) for row in self._rows]
        if set(map(type, cells)) == {str}:
            return cells
        return [cell if isinstance(cell, str) else _text(cell) for cell in cells]

    def absent(self, name: str) -> int | None:
        """The first row without the field."""
        return next((at for at, row in enumerate(self._rows) if name not in row), None)

    def present(self, name: str) -> int:
        """The first row with the field."""
        return next((at for at, row in enumerate(self._rows) if name in row), 0)


def json_frames(source: Source, size: int) -> Iterator[Frame]:
    """The objects of a file, a frame a block; blank lines are skipped."""
    for block in text_blocks(source, size):
        texts = block.lines[:-1].split("\n")
        lines = np.arange(block.first, block.first + len(texts), dtype=np.int64)
        if not all(texts) or any(map(str.isspace, texts)):
            kept = [at for at, text in enumerate(texts) if text and not text.isspace()]
            texts, lines = [texts[at] for at in kept], lines[kept]
        if texts:
            rows = _objects(source.name, texts, lines)
            _check_surrogates(source.name, block, texts, lines)
            yield JsonFrame(source.name, lines, rows)


def _objects(source: str, texts: list[str], lines: Lines) -> list[dict[str, Any]]:
    """The object of each line; all of them decoded at once, and one by one to find a fault."""
    try:
        rows = _DECODER.decode(f"[{','.join(texts)}]")
        if len(rows) == len(texts) and set(map(type, rows)) == {dict}:
            return list(rows)
    except (ValueError, RecursionError):
        pass
    return [_object(source, text, int(line)) for text, line in zip(texts, lines, strict=True)]


def _object(source: str, text: str, line: int) -> dict[str, Any]:
    hint = "write one JSON object a line"
    try:
        row = _DECODER.decode(text)
    except json.JSONDecodeError as problem:
        message = f"not JSON ({problem.msg} at column {problem.colno})"
        raise TableError(source, message, hint, line) from None
    except RecursionError:
        raise TableError(source, "JSON nested too deeply", hint, line) from None
    if not isinstance(row, dict):
        raise TableError(source, f"not a JSON object: {shorten(text.strip())}", hint, line)
    return row


def _check_surrogates(source: str, block: Text, texts: list[str], lines: Lines) -> None:
    """Refuse half of a surrogate pair: it is valid JSON, but no text that could be written out."""
    if "\\ud" not in block.lines and "\\uD" not in block.lines:
        return
    for text, line in zip(texts, lines, strict=True):
        try:
            json.dumps(_DECODER.decode(text), ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise TableError(
                source, "half of a surrogate pair is not text", "write both halves", int(line)
            ) from None


def _text(cell: object) -> str:
    return "" if cell is None else json.dumps(cell, ensure_ascii=False)
