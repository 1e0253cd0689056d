"""The dot picture as HTML with inline SVG, which needs no drawing library."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from darc.views.dot_layout import axis_ticks, stack_dots
from darc.views.dots import Dot, DotPicture, DotRow, DotStrip
from darc.views.html import environment
from darc.views.style_sheet import TEMPLATES, color_variables

STYLE = TEMPLATES / "dots.css"
# Rows after these are folded away.
MAX_OPEN_ROWS = 8
# A longer text is folded after its beginning, which has at most so many letters.
MAX_TEXT_LENGTH = 240
BEGINNING_LENGTH = 150
# Dots of this width in pixels do not cover each other on a strip as wide as on a telephone.
STRIP_WIDTH = 310
DOT_WIDTH = 9.0
MAX_STACK_HEIGHT = 72.0
# Piles of more dots than this become wider if there is room.
MAX_PILE = 6
MIN_RADIUS = 2.0
# A screen reader is given this many different values one by one, and a range if there are more.
MAX_VALUES_READ = 12
# The label of the limit ends at its line, unless the line is closer than this to the left end.
ROOM_FOR_LABEL = 0.35


@dataclass(frozen=True)
class _Mark:
    """One dot in its place.

    Attributes:
        x: Its place along the strip, such as "12.50%".
        y: Its place below the top of the strip in pixels.
        title: What is shown when the pointer rests on it.
    """

    x: str
    y: str
    title: str


@dataclass(frozen=True)
class _Tick:
    """A number on the axis: `x` is its place along the strip, such as "12.50%"."""

    x: str
    text: str


@dataclass(frozen=True)
class _DrawnStrip:
    """A strip with everything in its place: per cent along it, pixels down.

    Attributes:
        caption: What the strip shows, empty for the only strip.
        summary: The numbers in words.
        label: What a screen reader says.
        content: The marks of people who are content, and of scores.
        unhappy: The marks of unhappy people.
        radius: The radius of a mark.
        top: Where the marks begin.
        base: Where the axis is.
        height: The height of the strip.
        mean: Where the bar of the average stands, empty for no bar.
        limit: Where the line of the limit stands, empty for no line.
        limit_label: What the line means, empty if it needs no label.
        limit_anchor: The end of the label that touches the line.
        ticks: The numbers on the axis.
    """

    caption: str
    summary: str
    label: str
    content: list[_Mark]
    unhappy: list[_Mark]
    radius: float
    top: float
    base: float
    height: float
    mean: str
    limit: str
    limit_label: str
    limit_anchor: str
    ticks: list[_Tick]


@dataclass(frozen=True)
class _DrawnRow:
    """An answer as the template shows it.

    Attributes:
        answer: The answer.
        beginning: Its text, or the beginning of a long one.
        full_text: The whole of a long text, empty if the beginning is all.
        strips: Its strips.
    """

    answer: DotRow
    beginning: str
    full_text: str
    strips: list[_DrawnStrip]


def dots_figure(picture: DotPicture, inline_style: bool = True) -> Markup:
    """Render a picture as a `<figure>` element, whose style is in `STYLE`.

    Args:
        picture: The picture; every text in it is escaped.
        inline_style: Whether strips carry their sizes as inline style, which the style of a
            notebook cannot override. A page whose policy forbids inline style has to do without.

    Returns:
        The element.
    """
    # The line of the limit is the same for all answers, so only the first one labels it.
    rows = [_draw_row(row, label_limit=number == 0) for number, row in enumerate(picture.rows)]
    html = (
        environment()
        .get_template("dots.html")
        .render(
            picture=picture,
            rows=rows[:MAX_OPEN_ROWS],
            folded=rows[MAX_OPEN_ROWS:],
            label=picture_label(picture),
            inline_style=inline_style,
        )
    )
    return Markup(html)


def notebook_html(
    picture: DotPicture | None,
    *,
    answer: str,
    explanation: str,
    rows: Sequence[Sequence[str]] = (),
    sure: str = "",
) -> str:
    """Render an answer, why it was chosen, and the picture, with their own style.

    Args:
        picture: The picture, None if nothing could be compared.
        answer: The text of the answer, empty to leave it out.
        explanation: Why it was chosen.
        rows: Rows of a table with the answers (name, why not, beginning), empty for no table.
        sure: How sure the choice is, empty where that is not known.

    Returns:
        An element that a notebook shows.
    """
    figure = Markup("")
    held = ""
    if picture is not None:
        figure = dots_figure(picture)
        held = picture.held
    style = color_variables(".darc") + STYLE.read_text(encoding="utf-8")
    return (
        environment()
        .get_template("notebook.html")
        .render(
            style=Markup(style),
            figure=figure,
            held=held,
            answer=answer,
            explanation=explanation,
            rows=rows,
            sure=sure,
        )
    )


def picture_label(picture: DotPicture) -> str:
    """What a screen reader says of the whole picture."""
    answers = f"{len(picture.rows)} answers"
    if len(picture.rows) == 1:
        answers = "1 answer"
    sentences = []
    if picture.held:
        sentences.append(picture.held)
    sentences.append(f"How {answers} were rated, one dot per sample.")
    for row in picture.rows:
        if row.badges:
            badges = " and ".join(badge[0].lower() + badge[1:] for badge in row.badges)
            summaries = "; ".join(strip.summary for strip in row.strips)
            sentences.append(f"{row.name}, {badges}: {summaries}.")
    return " ".join(sentences)


def _draw_row(row: DotRow, label_limit: bool) -> _DrawnRow:
    strips = [_draw_strip(row, strip, label_limit) for strip in row.strips]
    if len(row.text) <= MAX_TEXT_LENGTH:
        return _DrawnRow(row, row.text, "", strips)
    return _DrawnRow(row, _beginning(row.text), row.text, strips)


def _beginning(text: str) -> str:
    """The first words of a long text."""
    start = text[:BEGINNING_LENGTH]
    complete_words = " ".join(start.split(" ")[:-1])
    return f"{(complete_words or start).rstrip()} …"


def _draw_strip(row: DotRow, strip: DotStrip, label_limit: bool) -> _DrawnStrip:
    """Put the dots of a strip in their places."""
    positions = [STRIP_WIDTH * strip.position(dot.value) for dot in strip.dots]
    positions, levels = stack_dots(positions, DOT_WIDTH, MAX_PILE)
    highest_level = max(levels, default=0)
    step = min(DOT_WIDTH, MAX_STACK_HEIGHT / (highest_level + 1))
    radius = max(MIN_RADIUS, step / 2 - 0.2)
    limit_label = ""
    if label_limit:
        limit_label = strip.limit_label
    top = 6.0
    if limit_label:
        top = 20.0
    lowest_dots = top + step * max(highest_level, 1) + radius
    base = lowest_dots + radius + 3
    content: list[_Mark] = []
    unhappy: list[_Mark] = []
    for dot, position, level in zip(strip.dots, positions, levels, strict=True):
        mark = _Mark(
            x=_percent(position / STRIP_WIDTH),
            y=f"{lowest_dots - step * level:.1f}",
            title=_dot_title(dot),
        )
        if dot.unhappy:
            unhappy.append(mark)
        else:
            content.append(mark)
    return _DrawnStrip(
        caption=strip.caption,
        summary=strip.summary,
        label=_strip_label(row, strip),
        content=content,
        unhappy=unhappy,
        radius=radius,
        top=top,
        base=base,
        height=base + 18,
        mean=_position_text(strip, strip.mean),
        limit=_position_text(strip, strip.limit),
        limit_label=limit_label,
        limit_anchor=_limit_anchor(strip),
        ticks=[
            _Tick(_percent(strip.position(tick)), f"{tick:.4g}")
            for tick in axis_ticks(strip.low, strip.high)
        ],
    )


def _dot_title(dot: Dot) -> str:
    value = f"{dot.value:.4g}"
    if dot.name:
        return f"{dot.name}: {value}"
    return value


def _limit_anchor(strip: DotStrip) -> str:
    """Which end of the limit's label touches its line, as SVG's text-anchor."""
    if strip.limit is not None and strip.position(strip.limit) > ROOM_FOR_LABEL:
        return "end"
    return "start"


def _position_text(strip: DotStrip, value: float | None) -> str:
    """Where a value lies along the strip, such as "12.50%"; empty for no value."""
    if value is None:
        return ""
    return _percent(strip.position(value))


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"


def _strip_label(row: DotRow, strip: DotStrip) -> str:
    """What a screen reader says of one strip."""
    start = row.name
    if strip.caption:
        start = f"{row.name}, {strip.caption}"
    return f"{start}: {_values_text(strip)}; {strip.summary}"


def _values_text(strip: DotStrip) -> str:
    """The values of the dots, such as "2 3 times, 9", or their range if there are many."""
    counts = Counter(f"{dot.value:.3g}" for dot in strip.dots)
    values = []
    for value, times in counts.items():
        if times == 1:
            values.append(value)
        else:
            values.append(f"{value} {times} times")
    if len(values) > MAX_VALUES_READ:
        return f"{len(strip.dots)} dots from {values[0]} to {values[-1]}"
    return ", ".join(values)
