"""Tables of plain text."""

import unicodedata
from collections.abc import Sequence

from darc.views.terminal import bold

MAX_CELL_LENGTH = 40


def text_table(
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    max_cell_length: int = MAX_CELL_LENGTH,
) -> str:
    """Align rows in columns: text to the left, numbers to the right, NaN and None as a dash.

    Args:
        header: The names of the columns.
        rows: One cell per column.
        max_cell_length: Longer texts are cut.

    Returns:
        The table, one line per row.
    """
    cells = [[_cell_text(cell, max_cell_length) for cell in row] for row in rows]
    columns = range(len(header))
    numeric = [_is_numeric(rows, column) for column in columns]
    widths = [
        max([display_width(header[column]), *(display_width(row[column]) for row in cells)])
        for column in columns
    ]
    rules = ["-" * width for width in widths]
    lines = [bold(_line(header, widths, numeric)), _line(rules, widths, numeric)]
    lines += [_line(row, widths, numeric) for row in cells]
    return "\n".join(lines)


def display_width(text: str) -> int:
    """The number of columns that a text takes on a terminal."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    combining = sum(unicodedata.combining(letter) > 0 for letter in text)
    return len(text) + wide - combining


def shorten(text: str, max_length: int) -> str:
    """Cut a text to so many letters, the last of which is then an ellipsis."""
    if len(text) <= max_length:
        return text
    return f"{text[: max_length - 1]}…"


def _is_numeric(rows: Sequence[Sequence[object]], column: int) -> bool:
    """Whether a column has numbers, or nothing, in every row."""
    if not rows:
        return False
    return all(row[column] is None or isinstance(row[column], int | float) for row in rows)


def _line(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    padded = []
    for cell, width, to_the_right in zip(cells, widths, numeric, strict=True):
        space = " " * (width - display_width(cell))
        if to_the_right:
            padded.append(space + cell)
        else:
            padded.append(cell + space)
    return "  ".join(padded).rstrip()


def _cell_text(cell: object, max_length: int) -> str:
    # NaN is the only value that differs from itself.
    if cell is None or cell != cell:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return shorten(_printable(str(cell)), max_length)


def _printable(text: str) -> str:
    """The text with a space for every control character, which a terminal might obey."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
