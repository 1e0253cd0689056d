"""The dot picture drawn with matplotlib, narrow enough to be read on a telephone."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from darc.views.chart import new_figure, plain_drawing
from darc.views.dot_layout import axis_ticks, stack_dots
from darc.views.dots import CHOSEN, OTHER_CHOICE, DotPicture, DotRow, DotStrip
from darc.views.palette import BAND, CHOICE, GRID, INK, LABEL, LIGHT, OTHER, PALE, PALE_OTHER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# More answers than this are not drawn.
MAX_ROWS = 8
# All lengths are inches. Scaled down to half, as on a telephone, the words can still be read.
WIDTH = 5.4
SIDE = 0.3
LINE = 0.19
PADDING = 0.06
GAP = 0.12
DOT = 0.12
# The room above the dots of an answer with and without a label on the line of the limit.
LABEL_ROOM = 0.25
HEAD_ROOM = 0.1
MAX_STACK_HEIGHT = 0.85
# Piles of more dots than this become wider if there is room.
MAX_PILE = 6
TICK_ROOM = 0.24
TEXT_SIZE = 9.5
# The number of letters of a text or summary, and of a name in bold, that fit on a line.
TEXT_LETTERS = 66
NAME_LETTERS = 56
MAX_TEXT_LINES = 3
UNHAPPY = LIGHT["wrong"]
COLORS = {CHOSEN: CHOICE, OTHER_CHOICE: OTHER}
BACKGROUNDS = {CHOSEN: BAND, OTHER_CHOICE: PALE_OTHER}
# The label of the limit ends at its line, unless the line is closer than this to the left end.
ROOM_FOR_LABEL = 0.35


@dataclass(frozen=True)
class _Line:
    """One line of words above or below the dots of an answer."""

    words: str
    color: str = INK
    weight: str = "normal"


@dataclass(frozen=True)
class _LegendEntry:
    """A mark ("dot", "unhappy" or "mean") and what it means."""

    mark: str
    words: str

    @property
    def width(self) -> float:
        """About how wide it is."""
        return 0.45 + 0.075 * len(self.words)


def draw_ratings(picture: DotPicture) -> "Figure":
    """Draw how each answer was rated, legible in grey.

    Answers stand below each other, each with its name and text above its dots. Open triangles are
    ratings of people who are unhappy. At most `MAX_ROWS` answers are drawn, the chosen ones first.

    Args:
        picture: What to draw.

    Returns:
        The figure, which `save_figure` writes to a file.

    Raises:
        MissingExtra: If matplotlib is not installed.
    """
    rows = picture.rows[:MAX_ROWS]
    heading = _heading(picture)
    legend = _legend(picture)
    footing = _footing(len(picture.rows) - len(rows))
    # Only the first answer labels the line of the limit.
    row_heights = [_row_height(row, number == 0) for number, row in enumerate(rows)]
    words_height = LINE * (len(heading) + len(legend) + len(footing))
    height = words_height + sum(row_heights) + GAP * (len(rows) + 2) + PADDING
    with plain_drawing():
        figure = new_figure(WIDTH, height)
        axes = _inch_axes(figure, height)
        y = GAP
        for line in heading:
            y = _write_line(axes, line, y)
        if heading:
            y += PADDING
        for number, (row, row_height) in enumerate(zip(rows, row_heights, strict=True)):
            _draw_row(axes, row, y, row_height, label_limit=number == 0)
            y += row_height + GAP
        for entries in legend:
            _draw_legend(axes, entries, y)
            y += LINE
        for line in footing:
            y = _write_line(axes, line, y)
    return figure


def _inch_axes(figure: "Figure", height: float) -> Any:
    """Axes in which one unit is one inch in both directions, from the top left corner."""
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(height, 0)
    axes.axis("off")
    return axes


def _heading(picture: DotPicture) -> list[_Line]:
    """The question, and why the chosen answer is held back."""
    title = textwrap.wrap(picture.title, NAME_LETTERS, max_lines=2, placeholder=" …")
    heading = [_Line(words, weight="bold") for words in title]
    if picture.held:
        heading.append(_Line(picture.held, UNHAPPY, "bold"))
    return heading


def _footing(hidden: int) -> list[_Line]:
    """How many answers are left out."""
    if hidden == 0:
        return []
    if hidden == 1:
        return [_Line("1 more answer is not shown.", LABEL)]
    return [_Line(f"{hidden} more answers are not shown.", LABEL)]


def _words_above(row: DotRow) -> list[_Line]:
    """Badges, name and text of an answer."""
    lines = []
    if row.badges:
        lines.append(_Line(_join_badges(row.badges), COLORS.get(row.kind, INK), "bold"))
    name = row.name
    if row.note:
        name = f"{row.name}, {row.note}"
    name_lines = textwrap.wrap(name, NAME_LETTERS, max_lines=2, placeholder=" …")
    lines += [_Line(words, weight="bold") for words in name_lines]
    text = " ".join(row.text.split())
    text_lines = textwrap.wrap(text, TEXT_LETTERS, max_lines=MAX_TEXT_LINES, placeholder=" …")
    lines += [_Line(words) for words in text_lines]
    return lines


def _join_badges(badges: Sequence[str]) -> str:
    """Badges in one line, such as "Chosen by auto, highest average (Best-of-K)"."""
    others = [badge[0].lower() + badge[1:] for badge in badges[1:]]
    return ", ".join([badges[0], *others])


def _words_below(strip: DotStrip) -> list[_Line]:
    return [_Line(words, LABEL) for words in textwrap.wrap(strip.summary, TEXT_LETTERS)]


def _row_height(row: DotRow, label_limit: bool) -> float:
    words = len(_words_above(row)) * LINE
    strips = sum(_strip_height(strip, label_limit) for strip in row.strips)
    return words + strips + 2 * PADDING


def _strip_height(strip: DotStrip, label_limit: bool) -> float:
    lines = len(_words_below(strip))
    if strip.caption:
        lines += 1
    return _head_room(strip, label_limit) + _stack_height(strip) + TICK_ROOM + LINE * lines


def _head_room(strip: DotStrip, label_limit: bool) -> float:
    if label_limit and strip.limit_label:
        return LABEL_ROOM
    return HEAD_ROOM


def _stack_height(strip: DotStrip) -> float:
    """How high the dots of a strip stand."""
    _, levels = _stack(strip)
    tallest = max(levels, default=0) + 1
    return max(2 * DOT, min(DOT * tallest, MAX_STACK_HEIGHT))


def _stack(strip: DotStrip) -> tuple[list[float], list[int]]:
    """Where the dots of a strip stand: across the figure, and on which level."""
    return stack_dots([_x(strip, dot.value) for dot in strip.dots], DOT, MAX_PILE)


def _x(strip: DotStrip, value: float) -> float:
    """Where a value of a strip lies across the figure."""
    return 2 * SIDE + strip.position(value) * (WIDTH - 4 * SIDE)


def _write_line(axes: Any, line: _Line, y: float, x: float = SIDE) -> float:
    """Write a line of words below `y`, and return where it ends."""
    axes.text(
        x,
        y + LINE / 2,
        line.words,
        ha="left",
        va="center",
        color=line.color,
        weight=line.weight,
        fontsize=TEXT_SIZE,
    )
    return y + LINE


def _draw_row(axes: Any, row: DotRow, y: float, height: float, label_limit: bool) -> None:
    """Draw one answer: who chooses it, its name and text, and its dots."""
    _draw_background(axes, row, y, height)
    color = COLORS.get(row.kind, INK)
    y += PADDING
    for line in _words_above(row):
        y = _write_line(axes, line, y)
    for strip in row.strips:
        if strip.caption:
            y = _write_line(axes, _Line(strip.caption, LABEL), y)
        y += _head_room(strip, label_limit)
        _draw_strip(axes, strip, y, color, label_limit)
        y += _stack_height(strip) + TICK_ROOM
        for line in _words_below(strip):
            y = _write_line(axes, line, y)


def _draw_background(axes: Any, row: DotRow, y: float, height: float) -> None:
    from matplotlib.patches import Rectangle

    corner = (SIDE / 2, y)
    background = BACKGROUNDS.get(row.kind, "white")
    axes.add_patch(
        Rectangle(corner, WIDTH - SIDE, height, facecolor=background, edgecolor=GRID, zorder=0)
    )
    # A stripe on the left tells choices from other answers without colour.
    if row.kind:
        color = COLORS.get(row.kind, GRID)
        axes.add_patch(Rectangle(corner, 0.05, height, facecolor=color, edgecolor=color, zorder=1))


def _draw_strip(axes: Any, strip: DotStrip, top: float, color: str, label_limit: bool) -> None:
    """Draw the dots of a strip below `top`, with axis, limit and average."""
    base = top + _stack_height(strip) + 0.03
    _draw_axis(axes, strip, base)
    if strip.limit is not None:
        _draw_limit(axes, strip, strip.limit, top, base, label_limit)
    if strip.mean is not None:
        x = _x(strip, strip.mean)
        axes.plot([x, x], [top - 0.04, base + 0.02], color=INK, linewidth=2.6, zorder=2)
    _draw_dots(axes, strip, base, color)


def _draw_axis(axes: Any, strip: DotStrip, base: float) -> None:
    ends = [_x(strip, strip.low), _x(strip, strip.high)]
    axes.plot(ends, [base, base], color=PALE, linewidth=0.8, zorder=1)
    for tick in axis_ticks(strip.low, strip.high):
        x = _x(strip, tick)
        axes.plot([x, x], [base, base + 0.03], color=PALE, linewidth=0.8, zorder=1)
        axes.text(x, base + 0.05, f"{tick:.4g}", ha="center", va="top", fontsize=8, color=LABEL)


def _draw_limit(
    axes: Any, strip: DotStrip, limit: float, top: float, base: float, label_limit: bool
) -> None:
    x = _x(strip, limit)
    dashes = (0, (3, 2))
    axes.plot([x, x], [top - 0.06, base], color=UNHAPPY, linewidth=0.9, linestyle=dashes)
    if not label_limit:
        return
    alignment = "left"
    if strip.position(limit) > ROOM_FOR_LABEL:
        alignment = "right"
    axes.text(
        x,
        top - 0.14,
        strip.limit_label,
        ha=alignment,
        va="center",
        fontsize=8.5,
        color=UNHAPPY,
    )


def _draw_dots(axes: Any, strip: DotStrip, base: float, color: str) -> None:
    positions, levels = _stack(strip)
    step = min(DOT, _stack_height(strip) / (max(levels, default=0) + 1))
    # Matplotlib wants the area of a mark in square points.
    size = (72 * max(0.05, min(DOT, step)) * 0.82) ** 2
    for unhappy in (False, True):
        dots = [number for number, dot in enumerate(strip.dots) if dot.unhappy == unhappy]
        if dots:
            xs = [positions[number] for number in dots]
            ys = [base - 0.03 - step * (levels[number] + 0.5) for number in dots]
            axes.scatter(xs, ys, s=size, zorder=3, **_mark_style(unhappy, color))


def _mark_style(unhappy: bool, color: str) -> dict[str, Any]:
    """The style of a dot, as matplotlib's keywords."""
    if unhappy:
        return {"marker": "v", "facecolor": "white", "edgecolor": UNHAPPY, "linewidth": 1.2}
    return {"marker": "o", "facecolor": color, "edgecolor": color, "linewidth": 0.0}


def _legend(picture: DotPicture) -> list[list[_LegendEntry]]:
    """Marks and what they mean, in as many lines as it takes."""
    entries = [_LegendEntry("dot", picture.dot_label)]
    if picture.unhappy_label:
        entries.append(_LegendEntry("unhappy", picture.unhappy_label))
    entries.append(_LegendEntry("mean", "average"))
    lines: list[list[_LegendEntry]] = [[]]
    for entry in entries:
        width = sum(other.width for other in lines[-1]) + entry.width
        if lines[-1] and width > WIDTH - SIDE:
            lines.append([])
        lines[-1].append(entry)
    return lines


def _draw_legend(axes: Any, entries: Sequence[_LegendEntry], y: float) -> None:
    """Draw one line of marks and what they mean."""
    middle = y + LINE / 2
    x = SIDE
    for entry in entries:
        if entry.mark == "mean":
            ends = [middle - 0.08, middle + 0.08]
            axes.plot([x + 0.05, x + 0.05], ends, color=INK, linewidth=2.6)
        else:
            style = _mark_style(entry.mark == "unhappy", INK)
            axes.scatter([x + 0.05], [middle], s=50, **style)
        _write_line(axes, _Line(entry.words, LABEL), y, x + 0.16)
        x += entry.width
