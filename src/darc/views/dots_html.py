"""The dot picture as HTML with inline SVG, which needs no drawing library."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from darc.views.dots import DotPicture, DotRow, DotStrip, axis_ticks, stack_dots
from darc.views.html import environment
from darc.views.palette import TEMPLATES, color_variables

STYLE = TEMPLATES / "dots.css"
# Rows after these are folded away.
MOST_OPEN_ROWS = 8
# A longer text is folded after its beginning.
LONGEST_TEXT = 240
BEGINNING = 150
# Dots of this width do not cover each other on a strip of this width, that of a telephone.
STRIP_WIDTH = 310
DOT_WIDTH = 9.0
TALLEST_STACK = 72.0
# Piles of more dots than this become wider where there is room.
TALLEST_PILE = 6
SMALLEST_RADIUS = 2.0
# More different values than this are not read out one by one.
MOST_VALUES_READ = 12
# The label of the limit ends at its line, unless the line is so close to the left end.
ROOM_FOR_LABEL = 0.35


@dataclass(frozen=True)
class _Mark:
    """One dot in its place: `across` in per cent of the strip, `down` in pixels."""

    across: str
    down: str
    title: str


@dataclass(frozen=True)
class _DrawnStrip:
    """A strip with everything in its place: per cent across, pixels down.

    `limit_label` is empty where the line needs no label, and `limit_anchor` the side of it that
    touches the line.
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
    ticks: list[tuple[str, str]]


def dots_figure(picture: DotPicture) -> Markup:
    """The picture as a `<figure>` element, whose style is in `STYLE`; every text is escaped."""
    rows = [
        (row, _text_parts(row.text), [_draw_strip(row, strip, place == 0) for strip in row.strips])
        for place, row in enumerate(picture.rows)
    ]
    html = (
        environment()
        .get_template("dots.html")
        .render(
            picture=picture,
            rows=rows[:MOST_OPEN_ROWS],
            folded=rows[MOST_OPEN_ROWS:],
            label=read_out(picture),
        )
    )
    return Markup(html)


def notebook_html(picture: DotPicture | None, **values: Any) -> str:
    """An answer, why it was chosen, and the picture, with their own style.

    Args:
        picture: The picture, None where nothing could be compared.
        **values: What else the template "notebook.html" shows.
    """
    style = color_variables(".darc") + STYLE.read_text(encoding="utf-8")
    figure = "" if picture is None else dots_figure(picture)
    held = picture is not None and picture.held
    template = environment().get_template("notebook.html")
    return template.render(style=Markup(style), figure=figure, held=held, **values)


def read_out(picture: DotPicture) -> str:
    """What a screen reader says of the whole picture."""
    answers = "1 answer" if len(picture.rows) == 1 else f"{len(picture.rows)} answers"
    sentences = [f"How {answers} were rated, one dot per sample."]
    for row in picture.rows:
        if row.badges:
            badges = " and ".join(badge[0].lower() + badge[1:] for badge in row.badges)
            summaries = "; ".join(strip.summary for strip in row.strips)
            sentences.append(f"{row.name}, {badges}: {summaries}.")
    if picture.held:
        sentences.insert(0, "None of these answers is good.")
    return " ".join(sentences)


def _text_parts(text: str) -> tuple[str, str]:
    """The beginning of a text and the whole of it, which is empty where the beginning is all."""
    if len(text) <= LONGEST_TEXT:
        return text, ""
    beginning = " ".join(text[:BEGINNING].split(" ")[:-1]) or text[:BEGINNING]
    return f"{beginning.rstrip()} …", text


def _draw_strip(row: DotRow, strip: DotStrip, label_limit: bool) -> _DrawnStrip:
    """Put the dots of a strip in their places."""
    places = [STRIP_WIDTH * strip.share(dot.value) for dot in strip.dots]
    places, levels = stack_dots(places, DOT_WIDTH, TALLEST_PILE)
    tallest = max(levels, default=0)
    step = min(DOT_WIDTH, TALLEST_STACK / (tallest + 1))
    radius = max(SMALLEST_RADIUS, step / 2 - 0.2)
    limit_label = strip.limit_label if label_limit else ""
    top = 20.0 if limit_label else 6.0
    floor = top + step * max(tallest, 1) + radius
    base = floor + radius + 3
    content: list[_Mark] = []
    unhappy: list[_Mark] = []
    for dot, place, level in zip(strip.dots, places, levels, strict=True):
        title = f"{dot.name}: {dot.value:.4g}" if dot.name else f"{dot.value:.4g}"
        mark = _Mark(_percent(place / STRIP_WIDTH), f"{floor - step * level:.1f}", title)
        (unhappy if dot.unhappy else content).append(mark)
    limit = None if strip.limit is None else strip.share(strip.limit)
    ticks = axis_ticks(strip.low, strip.high)
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
        mean="" if strip.mean is None else _percent(strip.share(strip.mean)),
        limit="" if limit is None else _percent(limit),
        limit_label=limit_label,
        limit_anchor="end" if limit is not None and limit > ROOM_FOR_LABEL else "start",
        ticks=[(_percent(strip.share(tick)), f"{tick:.4g}") for tick in ticks],
    )


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"


def _strip_label(row: DotRow, strip: DotStrip) -> str:
    """What a screen reader says of one strip."""
    counts = Counter(f"{dot.value:.3g}" for dot in strip.dots)
    values = [value if times == 1 else f"{value} {times} times" for value, times in counts.items()]
    if len(values) > MOST_VALUES_READ:
        values = [f"{len(strip.dots)} dots from {values[0]} to {values[-1]}"]
    start = f"{row.name}, {strip.caption}" if strip.caption else row.name
    return f"{start}: {', '.join(values)}; {strip.summary}"
