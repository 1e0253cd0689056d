"""Frames as tables of a page: a number and its interval share a cell."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from darc.analysis.frame import WORDS, Cell, Frame, cell_text
from darc.views.html import environment

TEMPLATES = Path(__file__).parent / "templates"
GLOSSARY: dict[str, str] = WORDS["glossary"]
# Longer tables are folded.
MAX_OPEN_ROWS = 30
# Longer texts may wrap, and still longer ones are cut.
MAX_LINE_LENGTH = 48
MAX_TEXT_LENGTH = 300
# Too long for a page, or (of "main") averages that follow from the table of changes.
FILES_ONLY = ("densities", "main", "points")
# Columns of counts, averaged over splits.
COUNTS = ("prompts", "win", "tie", "loss", "length", "prompts kept", "total", "per prompt", "n")
# Columns that are left out if all rows are alike.
CONSTANT_COLUMNS = ("source", "length_unit")


@dataclass(frozen=True)
class HtmlColumn:
    """A column as the templates show it."""

    name: str
    #: The columns of the frame that it shows: one, or a number with both ends of its interval.
    places: tuple[int, ...]
    numeric: bool
    #: What the glossary says of its name.
    words: str


@dataclass(frozen=True)
class HtmlCell:
    """A cell as the templates show it."""

    text: str
    #: CSS classes, separated by spaces.
    classes: str


@dataclass(frozen=True)
class HtmlTable:
    """A frame as the templates show it."""

    name: str
    title: str
    note: str
    #: The number of rows.
    size: int
    #: Whether the page only says which file has it.
    files_only: bool
    folded: bool
    columns: list[HtmlColumn] = field(default_factory=list)
    rows: list[list[HtmlCell]] = field(default_factory=list)


def html_table(frame: Frame) -> HtmlTable:
    """Prepare a frame for the templates.

    Args:
        frame: The frame.

    Returns:
        Its columns and cells; every text is still to be escaped.
    """
    columns = _html_columns(frame)
    rows = [[_html_cell(column, row) for column in columns] for row in frame.rows]
    return HtmlTable(
        name=frame.name,
        title=frame.title,
        note=frame.note,
        size=len(frame),
        files_only=frame.name in FILES_ONLY,
        folded=len(frame) > MAX_OPEN_ROWS,
        columns=columns,
        rows=rows,
    )


def frame_html(frame: Frame) -> str:
    """Render a frame as a table in a box that scrolls by itself; changes beyond noise are bold."""
    macros: Any = environment(TEMPLATES).get_template("frames.html").module
    return str(macros.table(html_table(frame), frame.title))


def _html_columns(frame: Frame) -> list[HtmlColumn]:
    """The columns that are shown.

    A column without a filled cell, or that names one source for all rows, is left out.
    """
    columns = []
    used_places: set[int] = set()
    for place, name in enumerate(frame.columns):
        if place in used_places or not _is_informative(frame, place):
            continue
        places = (place, *_interval_places(frame, name))
        used_places |= set(places)
        title = _column_title(name, with_interval=len(places) > 1)
        numeric = all(frame.numeric(column) for column in places)
        words = [
            f"{word}: {meaning}" for word, meaning in GLOSSARY.items() if word in title.lower()
        ]
        columns.append(HtmlColumn(title, places, numeric, "; ".join(words)))
    return columns


def _is_informative(frame: Frame, place: int) -> bool:
    cells = {row[place] for row in frame.rows}
    if frame.columns[place] in CONSTANT_COLUMNS and len(cells) == 1:
        return False
    return any(cell_text(cell) not in ("-", "") for cell in cells)


def _interval_places(frame: Frame, name: str) -> tuple[int, ...]:
    """The columns with the ends of the interval of a value or change, none without an interval."""
    if name == "value":
        ends = ["low", "high"]
    elif name.startswith("delta"):
        metric = name.removeprefix("delta_")
        ends = [f"low_{metric}", f"high_{metric}"]
    else:
        return ()
    if not set(ends) <= set(frame.columns):
        return ()
    return tuple(frame.columns.index(end) for end in ends)


def _column_title(name: str, with_interval: bool) -> str:
    if not with_interval:
        return name.replace("_", " ")
    if name == "value":
        return "value [95 %]"
    if name == "delta":
        return "change [95 %]"
    return f"{name.removeprefix('delta_')} change [95 %]"


def _html_cell(column: HtmlColumn, row: Sequence[Cell]) -> HtmlCell:
    """A column's cell in a row of the frame: one thing, or a number with its interval."""
    classes = []
    if not column.numeric:
        classes.append("left")
    first, *ends = [row[place] for place in column.places]
    text = cell_text(first)
    if ends:
        # Changes have a sign; values of their own have none.
        signed = not column.name.startswith("value")
        if isinstance(first, float) and text != "-":
            text = _interval_number(first, signed)
        known_ends = [end for end in ends if isinstance(end, float) and end == end]
        if len(known_ends) == 2:
            low, high = known_ends
            text += f" [{_interval_number(low, signed)}, {_interval_number(high, signed)}]"
            if signed and (low > 0 or high < 0):
                classes.append("sure")
    elif isinstance(first, float) and text != "-" and column.name in COUNTS:
        text = f"{first:.1f}".removesuffix(".0")
    elif len(text) > MAX_LINE_LENGTH:
        classes.append("words")
        if len(text) > MAX_TEXT_LENGTH:
            text = f"{text[:MAX_TEXT_LENGTH]}…"
    return HtmlCell(text, " ".join(classes))


def _interval_number(number: float, signed: bool) -> str:
    # Rounded first, so that a rounding error does not show as -0.000.
    rounded = round(number, 9) + 0.0
    if signed:
        return f"{rounded:+.3f}"
    return f"{rounded:.3f}"
