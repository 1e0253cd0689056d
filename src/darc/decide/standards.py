"""What counts as a good rating: the scale, who is unhappy, and what is not acceptable."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.decide.statistics.arrays import check_number
from darc.errors import InputError
from darc.typing import Array

# The grades of a panel of raters.
PANEL_SCALE = (0.0, 10.0)
# Scales that people commonly rate on, the narrowest first.
COMMON_SCALES = (
    (0.0, 1.0),
    (-1.0, 1.0),
    (1.0, 5.0),
    (1.0, 6.0),
    (1.0, 7.0),
    (0.0, 10.0),
    (0.0, 100.0),
)


@dataclass(frozen=True)
class Standards:
    """What counts as a good rating.

    Attributes:
        scale: Lowest and highest rating that can be given, None if not known.
        threshold: A person who rates an answer below this is unhappy with it. None means the
            middle of the scale.
        no_rating_below: Only answers all of whose ratings reach this are chosen among. None allows
            every answer.
        poor_below: An answer whose mean is below this is poor. None means the middle of the scale.
    """

    scale: tuple[float, float] | None = None
    threshold: float | None = None
    no_rating_below: float | None = None
    poor_below: float | None = None

    def __post_init__(self) -> None:
        """Refuse a scale that has no middle, and limits that are not numbers."""
        if self.scale is not None:
            low, high = (check_number("scale", end) for end in self.scale)
            if not low < high:
                raise InputError(
                    f"the scale goes from {low:g} to {high:g}", "give its lower end first"
                )
        for name in ("threshold", "no_rating_below", "poor_below"):
            value = getattr(self, name)
            if value is not None:
                check_number(name, value)

    @property
    def middle(self) -> float | None:
        """The middle of the scale, None where no scale is known."""
        return None if self.scale is None else sum(self.scale) / 2

    @property
    def unhappy_below(self) -> float | None:
        """The rating below which a person is unhappy, None where that is not known."""
        return self.middle if self.threshold is None else self.threshold

    @property
    def poor_limit(self) -> float | None:
        """The mean below which an answer is poor, None where that is not known."""
        return self.middle if self.poor_below is None else self.poor_below


NO_STANDARDS = Standards()


def as_standards(
    scale: str | Sequence[float] | None = None,
    threshold: float | None = None,
    no_rating_below: float | None = None,
    poor_below: float | None = None,
) -> Standards:
    """The `Standards` of what a user gave, whose scale may be a text such as "1-5"."""
    ends = None if scale is None else parse_scale(scale)
    return Standards(ends, threshold, no_rating_below, poor_below)


def parse_scale(text: str | Sequence[float]) -> tuple[float, float]:
    """The two ends of a scale written as "1-5", "1,5", "1:5" or "-1 to 1", or given as a pair.

    Raises:
        InputError: If it is not two numbers, the lower one first.
    """
    hint = "write the lowest and the highest rating, such as 1-5 or 0-100"
    if not isinstance(text, str):
        ends = list(text)
    else:
        ends = _two_numbers(text)
    if len(ends) != 2:
        raise InputError(f"the scale {text!r} is not two numbers", hint)
    low, high = (check_number("scale", end) for end in ends)
    if not low < high:
        raise InputError(f"the scale {text!r} does not rise", hint)
    return low, high


def _two_numbers(text: str) -> list[float]:
    """The numbers on both sides of a separator, none where the text has another form."""
    for separator in (" to ", ",", ":", "..", "-"):
        # A minus sign at the very beginning belongs to the first number.
        head, found, tail = text[1:].partition(separator)
        if found:
            try:
                return [float(text[:1] + head), float(tail)]
            except ValueError:
                continue
    return []


def likely_scale(lowest: float, highest: float) -> tuple[float, float] | None:
    """The scale that ratings from `lowest` to `highest` were probably given on.

    The narrowest common scale that holds them all, or else their own range.

    Returns:
        The ends of the scale, None where all ratings are equal and fit no common scale.
    """
    for low, high in COMMON_SCALES:
        if low <= lowest and highest <= high:
            return low, high
    return (lowest, highest) if lowest < highest else None


def scale_of(ratings: Array) -> tuple[float, float] | None:
    """The scale that ratings, NaN where there is none, were probably given on."""
    if np.isnan(ratings).all():
        return None
    return likely_scale(float(np.nanmin(ratings)), float(np.nanmax(ratings)))
