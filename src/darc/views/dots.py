"""The dot picture as data: one row per answer, one dot per rater or wording."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

# A strip with more samples than this is thinned: each dot then stands for several samples.
MAX_DOTS = 240
# What the answer with the highest average is marked with.
BEST_OF_K = "Highest average (Best-of-K)"
# The kinds of rows, which renderers give colours.
CHOSEN = "chosen"
OTHER_CHOICE = "other"


@dataclass(frozen=True)
class Dot:
    """One sample of an answer.

    Attributes:
        value: The rating or score.
        name: Who gave it or what it is of, empty if unknown.
        unhappy: Whether it is a rating below the limit.
    """

    value: float
    name: str = ""
    unhappy: bool = False


@dataclass(frozen=True)
class DotStrip:
    """Dots on one axis.

    Attributes:
        dots: The samples, the lowest first.
        low: The left end of the axis.
        high: The right end of the axis.
        summary: The numbers in words, such as "average 6.4, 3 of 8 unhappy".
        mean: Where the bar of the average stands, None for no bar.
        limit: Where the line of the limit stands, None for no line.
        limit_label: What the line means, such as "unhappy below 5".
        caption: What the strip shows, for an answer that has several strips.
    """

    dots: tuple[Dot, ...]
    low: float
    high: float
    summary: str = ""
    mean: float | None = None
    limit: float | None = None
    limit_label: str = ""
    caption: str = ""

    def position(self, value: float) -> float:
        """Where a value lies on the axis, 0 at the left end and 1 at the right end."""
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class DotRow:
    """One answer.

    Attributes:
        name: What the answer is called.
        text: What it says, empty if unknown.
        strips: Its dots, usually one strip.
        badges: Who chooses it, such as "Chosen by auto".
        kind: `CHOSEN`, `OTHER_CHOICE` or empty.
        note: What else to know of it, such as "written 3 times".
    """

    name: str
    text: str
    strips: tuple[DotStrip, ...]
    badges: tuple[str, ...] = ()
    kind: str = ""
    note: str = ""


@dataclass(frozen=True)
class DotPicture:
    """How every answer to one prompt was rated or scored.

    Attributes:
        rows: The answers: the chosen one, those that other rules choose, then by falling average.
        dot_label: What one dot is, such as "one rater".
        unhappy_label: What an unhappy mark means, empty if the picture has none.
        title: The question, empty if unknown.
        held: Why the chosen answer is held back, empty where it is not.
    """

    rows: tuple[DotRow, ...]
    dot_label: str
    unhappy_label: str = ""
    title: str = ""
    held: str = ""


def make_strip(
    dots: Sequence[Dot],
    scale: tuple[float, float] | None = None,
    *,
    summary: str = "",
    mean: float | None = None,
    limit: float | None = None,
    limit_label: str = "",
    caption: str = "",
    samples_per_dot: int = 1,
) -> DotStrip:
    """Make a strip whose axis spans the scale and all dots.

    Args:
        dots: The samples, in any order.
        scale: The ends of the scale, None if unknown.
        summary: The numbers in words.
        mean: Where the bar of the average stands, None for no bar.
        limit: Where the line of the limit stands. It is left out if it is off the axis.
        limit_label: What the line means.
        caption: What the strip shows, for an answer that has several strips.
        samples_per_dot: How many samples one dot stands for.

    Returns:
        The strip.
    """
    low, high = _axis_ends(dots, scale)
    if limit is None or not low <= limit <= high:
        limit = None
        limit_label = ""
    return DotStrip(
        dots=_thin_out(dots, samples_per_dot),
        low=low,
        high=high,
        summary=summary,
        mean=mean,
        limit=limit,
        limit_label=limit_label,
        caption=caption,
    )


def count_samples_per_dot(largest: int) -> int:
    """How many samples one dot stands for if the largest strip has this many samples."""
    return max(1, math.ceil(largest / MAX_DOTS))


def _axis_ends(dots: Sequence[Dot], scale: tuple[float, float] | None) -> tuple[float, float]:
    values = [dot.value for dot in dots]
    if scale is not None:
        values.extend(scale)
    low = min(values, default=0.0)
    high = max(values, default=1.0)
    if low < high:
        return low, high
    margin = max(0.5, abs(low) * 0.1)
    return low - margin, high + margin


def _thin_out(dots: Sequence[Dot], step: int) -> tuple[Dot, ...]:
    """Keep every `step`-th dot, the lowest first; the lowest of both kinds is always kept."""
    ordered = sorted(dots, key=lambda dot: dot.value)
    unhappy = [dot for dot in ordered if dot.unhappy]
    content = [dot for dot in ordered if not dot.unhappy]
    return (*unhappy[::step], *content[::step])
