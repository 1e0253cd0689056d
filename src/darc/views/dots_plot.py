"""The dot picture drawn with matplotlib, narrow enough to be read on a telephone."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from darc.views.chart import new_figure, plainly
from darc.views.dots import (
    CHOSEN,
    OTHER_CHOICE,
    DotPicture,
    DotRow,
    DotStrip,
    axis_ticks,
    stack_dots,
)
from darc.views.palette import BAND, CHOICE, GRID, INK, LABEL, LIGHT, OTHER, PALE, PALE_OTHER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# More answers than this are not drawn.
MOST_ROWS = 8
# All lengths are inches; scaled down to half, as on a telephone, the words are still read.
WIDTH = 5.4
SIDE = 0.3
LINE = 0.19
PADDING = 0.06
GAP = 0.12
DOT = 0.12
# Above the dots of an answer, where the line of the limit has a label and where it has none.
LABEL_ROOM = 0.25
HEAD_ROOM = 0.1
TALLEST_STACK = 0.85
# Piles of more dots than this become wider where there is room.
TALLEST_PILE = 6
TICK_ROOM = 0.24
TEXT_SIZE = 9.5
# So many letters of a text, of a name in bold and of a summary fit beside each other.
TEXT_LETTERS = 66
NAME_LETTERS = 56
MOST_TEXT_LINES = 3
UNHAPPY = LIGHT["wrong"]
COLORS = {CHOSEN: CHOICE, OTHER_CHOICE: OTHER}
BACKGROUNDS = {CHOSEN: BAND, OTHER_CHOICE: PALE_OTHER}
# The label of the limit ends at its line, unless the line is so close to the left end.
ROOM_FOR_LABEL = 0.35


@dataclass(frozen=True)
class _Line:
    """One line of words above or below the dots of an answer."""

    words: str
    color: str = INK
    weight: str = "normal"


def draw_ratings(picture: DotPicture) -> "Figure":
    """A figure of how each answer was rated, readable in grey.

    Answers stand below each other, each with its name and text above its dots. Open triangles are
    ratings of people who are unhappy. At most `MOST_ROWS` answers are drawn, the chosen ones first.

    Args:
        picture: What to draw.

    Returns:
        The figure, which `save_figure` writes to a file.
    """
    rows = picture.rows[:MOST_ROWS]
    hidden = len(picture.rows) - len(rows)
    head = _heading(picture)
    legend = _legend(picture)
    foot = _footing(hidden)
    heights = [_row_height(row, place == 0) for place, row in enumerate(rows)]
    height = (
        LINE * (len(head) + len(legend) + len(foot))
        + sum(heights)
        + GAP * (len(rows) + 2)
        + PADDING
    )
    with plainly():
        figure = new_figure(WIDTH, height)
        figure.set_layout_engine("none")
        axes = figure.add_axes((0, 0, 1, 1))
        # One unit is one inch in both directions, from the top left corner.
        axes.set_xlim(0, WIDTH)
        axes.set_ylim(height, 0)
        axes.axis("off")
        top = GAP
        for line in head:
            top = _write(axes, line, top)
        top += PADDING if head else 0.0
        for place, (row, row_height) in enumerate(zip(rows, heights, strict=True)):
            _draw_row(axes, row, top, row_height, label_limit=place == 0)
            top += row_height + GAP
        for entries in legend:
            _draw_legend(axes, entries, top)
            top += LINE
        for line in foot:
            top = _write(axes, line, top)
    return figure


def _heading(picture: DotPicture) -> list[_Line]:
    """The question, and what to know of all answers."""
    lines = textwrap.wrap(picture.title, NAME_LETTERS, max_lines=2, placeholder=" …")
    heading = [_Line(line, weight="bold") for line in lines]
    if picture.held:
        heading.append(_Line("None of these answers is good.", UNHAPPY, "bold"))
    return heading


def _footing(hidden: int) -> list[_Line]:
    """How many answers are left out."""
    if not hidden:
        return []
    answers = "1 more answer is" if hidden == 1 else f"{hidden} more answers are"
    return [_Line(f"{answers} not shown.", LABEL)]


def _words_above(row: DotRow) -> list[_Line]:
    """Badges, name and text of an answer."""
    color = COLORS.get(row.kind, INK)
    lines = [_Line(_joined(row.badges), color, "bold")] if row.badges else []
    name = f"{row.name}, {row.note}" if row.note else row.name
    lines += [
        _Line(words, weight="bold")
        for words in textwrap.wrap(name, NAME_LETTERS, max_lines=2, placeholder=" …")
    ]
    text = " ".join(row.text.split())
    lines += [
        _Line(words)
        for words in textwrap.wrap(text, TEXT_LETTERS, max_lines=MOST_TEXT_LINES, placeholder=" …")
    ]
    return lines


def _joined(badges: Sequence[str]) -> str:
    """Badges in one line, such as "Chosen by auto, highest average (Best-of-K)"."""
    return ", ".join([*badges[:1], *(badge[0].lower() + badge[1:] for badge in badges[1:])])


def _words_below(strip: DotStrip) -> list[_Line]:
    return [_Line(words, LABEL) for words in textwrap.wrap(strip.summary, TEXT_LETTERS)]


def _row_height(row: DotRow, label_limit: bool) -> float:
    words = len(_words_above(row)) * LINE
    return words + sum(_strip_height(strip, label_limit) for strip in row.strips) + 2 * PADDING


def _strip_height(strip: DotStrip, label_limit: bool) -> float:
    lines = len(_words_below(strip)) + (1 if strip.caption else 0)
    return _head_room(strip, label_limit) + _stack_height(strip) + TICK_ROOM + LINE * lines


def _head_room(strip: DotStrip, label_limit: bool) -> float:
    return LABEL_ROOM if label_limit and strip.limit_label else HEAD_ROOM


def _stack_height(strip: DotStrip) -> float:
    """How high the dots of a strip stand."""
    _, levels = _stacked(strip)
    tallest = max(levels, default=0) + 1
    return max(2 * DOT, min(DOT * tallest, TALLEST_STACK))


def _stacked(strip: DotStrip) -> tuple[list[float], list[int]]:
    """Where the dots of a strip stand: across the figure, and on which level."""
    return stack_dots([_across(strip, dot.value) for dot in strip.dots], DOT, TALLEST_PILE)


def _across(strip: DotStrip, value: float) -> float:
    """Where a value of a strip lies across the figure."""
    return 2 * SIDE + strip.share(value) * (WIDTH - 4 * SIDE)


def _write(axes: Any, line: _Line, top: float, across: float = SIDE) -> float:
    """Write a line of words below `top`, and say where it ends."""
    style = {"color": line.color, "weight": line.weight, "fontsize": TEXT_SIZE}
    axes.text(across, top + LINE / 2, line.words, ha="left", va="center", **style)
    return top + LINE


def _draw_row(axes: Any, row: DotRow, top: float, height: float, label_limit: bool) -> None:
    """One answer: who chooses it, its name and text, and its dots."""
    from matplotlib.patches import Rectangle

    background = BACKGROUNDS.get(row.kind, "white")
    edge = COLORS.get(row.kind, GRID)
    corner = (SIDE / 2, top)
    axes.add_patch(
        Rectangle(corner, WIDTH - SIDE, height, facecolor=background, edgecolor=GRID, zorder=0)
    )
    # A stripe on the left tells choices from other answers without colour.
    if row.kind:
        axes.add_patch(Rectangle(corner, 0.05, height, facecolor=edge, edgecolor=edge, zorder=1))
    place = top + PADDING
    for line in _words_above(row):
        place = _write(axes, line, place)
    for strip in row.strips:
        if strip.caption:
            place = _write(axes, _Line(strip.caption, LABEL), place)
        place += _head_room(strip, label_limit)
        _draw_strip(axes, strip, place, COLORS.get(row.kind, INK), label_limit)
        place += _stack_height(strip) + TICK_ROOM
        for line in _words_below(strip):
            place = _write(axes, line, place)


def _draw_strip(axes: Any, strip: DotStrip, top: float, color: str, label_limit: bool) -> None:
    """The dots of a strip below `top`, with axis, limit and average."""
    places, levels = _stacked(strip)
    stack = _stack_height(strip)
    base = top + stack + 0.03
    step = min(DOT, stack / (max(levels, default=0) + 1))
    size = (72 * max(0.05, min(DOT, step)) * 0.82) ** 2
    left = _across(strip, strip.low)
    right = _across(strip, strip.high)
    axes.plot([left, right], [base, base], color=PALE, linewidth=0.8, zorder=1)
    for tick in axis_ticks(strip.low, strip.high):
        across = _across(strip, tick)
        axes.plot([across, across], [base, base + 0.03], color=PALE, linewidth=0.8, zorder=1)
        look = {"ha": "center", "va": "top", "fontsize": 8, "color": LABEL}
        axes.text(across, base + 0.05, f"{tick:.4g}", **look)
    if strip.limit is not None:
        across = _across(strip, strip.limit)
        ends = [top - 0.06, base]
        axes.plot([across, across], ends, color=UNHAPPY, linewidth=0.9, linestyle=(0, (3, 2)))
        if label_limit:
            side = "right" if strip.share(strip.limit) > ROOM_FOR_LABEL else "left"
            look = {"ha": side, "va": "center", "fontsize": 8.5, "color": UNHAPPY}
            axes.text(across, top - 0.14, strip.limit_label, **look)
    if strip.mean is not None:
        across = _across(strip, strip.mean)
        axes.plot([across, across], [top - 0.04, base + 0.02], color=INK, linewidth=2.6, zorder=2)
    for unhappy in (False, True):
        chosen = [n for n, dot in enumerate(strip.dots) if dot.unhappy == unhappy]
        acrosses = [places[n] for n in chosen]
        downs = [base - 0.03 - step * (levels[n] + 0.5) for n in chosen]
        if chosen:
            axes.scatter(acrosses, downs, s=size, zorder=3, **_mark(unhappy, color))


def _mark(unhappy: bool, color: str) -> dict[str, Any]:
    """The look of a dot, as matplotlib's keywords."""
    if unhappy:
        return {"marker": "v", "facecolor": "white", "edgecolor": UNHAPPY, "linewidth": 1.2}
    return {"marker": "o", "facecolor": color, "edgecolor": color, "linewidth": 0.0}


def _legend(picture: DotPicture) -> list[list[tuple[str, str]]]:
    """Marks and what they mean, in as many lines as it takes."""
    entries = [("dot", picture.dot_label)]
    if picture.unhappy_label:
        entries.append(("unhappy", picture.unhappy_label))
    entries.append(("mean", "average"))
    lines: list[list[tuple[str, str]]] = [[]]
    for entry in entries:
        if (
            lines[-1]
            and sum(_entry_width(words) for _, words in [*lines[-1], entry]) > WIDTH - SIDE
        ):
            lines.append([])
        lines[-1].append(entry)
    return lines


def _entry_width(words: str) -> float:
    return 0.45 + 0.075 * len(words)


def _draw_legend(axes: Any, entries: Sequence[tuple[str, str]], top: float) -> None:
    """One line of marks and what they mean."""
    middle = top + LINE / 2
    across = SIDE
    for kind, words in entries:
        if kind == "mean":
            ends = [middle - 0.08, middle + 0.08]
            axes.plot([across + 0.05] * 2, ends, color=INK, linewidth=2.6)
        else:
            axes.scatter([across + 0.05], [middle], s=50, **_mark(kind == "unhappy", INK))
        _write(axes, _Line(words, LABEL), top, across + 0.16)
        across += _entry_width(words)
