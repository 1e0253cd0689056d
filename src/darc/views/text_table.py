"""Tables of plain text."""

import os
import sys
import unicodedata
from collections.abc import Sequence
from typing import TextIO

LONGEST = 40


def text_table(
    header: Sequence[str], rows: Sequence[Sequence[object]], longest: int = LONGEST
) -> str:
    """Aligned columns: text to the left, numbers to the right, NaN and None as a dash."""
    cells = [[_text(cell, longest) for cell in row] for row in rows]
    numeric = [
        bool(rows) and all(row[i] is None or isinstance(row[i], int | float) for row in rows)
        for i in range(len(header))
    ]
    widths = [
        max([width(name), *(width(row[i]) for row in cells)]) for i, name in enumerate(header)
    ]
    lines = [
        bold(_line(header, widths, numeric)),
        _line(["-" * w for w in widths], widths, numeric),
    ]
    return "\n".join(lines + [_line(row, widths, numeric) for row in cells])


def bold(text: str) -> str:
    """The text in bold where standard output is a terminal that shows it."""
    return f"\x1b[1m{text}\x1b[0m" if text and _shows_colour(sys.stdout) else text


def red(text: str) -> str:
    """The text in red where standard error is a terminal that shows it."""
    return f"\x1b[31m{text}\x1b[0m" if _shows_colour(sys.stderr) else text


def _shows_colour(stream: TextIO) -> bool:
    """Whether a stream is a terminal with colours, by the conventions NO_COLOR and TERM=dumb."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not plain and stream.isatty()


def width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) > 0 for letter in text)


def _line(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    columns = zip(cells, widths, numeric, strict=True)
    padded = [(cell, " " * (size - width(cell)), right) for cell, size, right in columns]
    return "  ".join(s + cell if right else cell + s for cell, s, right in padded).rstrip()


def _text(cell: object, longest: int) -> str:
    if cell is None or cell != cell:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return shortened("".join(x if x.isprintable() else " " for x in str(cell)), longest)


def shortened(text: str, longest: int) -> str:
    """The text, cut to so many letters."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
