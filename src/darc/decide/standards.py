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
    """What counts as a good rating."""

    #: Lowest and highest rating that can be given, None if not known.
    scale: tuple[float, float] | None = None
    #: A person who rates an answer below this is unhappy with it. None means the middle of the
    #: scale.
    threshold: float | None = None
    #: Only answers all of whose ratings reach this are chosen among. None allows every answer.
    no_rating_below: float | None = None
    #: An answer whose mean is below this is poor. None means the middle of the scale.
    poor_below: float | None = None

    def __post_init__(self) -> None:
        """Refuse a scale that has no middle, and limits that are not numbers."""
        if self.scale is not None:
            low = check_number("scale", self.scale[0])
            high = check_number("scale", self.scale[1])
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
        if self.scale is None:
            return None
        return sum(self.scale) / 2

    @property
    def unhappy_below(self) -> float | None:
        """The rating below which a person is unhappy, None where that is not known."""
        if self.threshold is None:
            return self.middle
        return self.threshold

    @property
    def poor_limit(self) -> float | None:
        """The mean below which an answer is poor, None where that is not known."""
        if self.poor_below is None:
            return self.middle
        return self.poor_below


NO_STANDARDS = Standards()


def as_standards(
    scale: str | Sequence[float] | None = None,
    threshold: float | None = None,
    no_rating_below: float | None = None,
    poor_below: float | None = None,
) -> Standards:
    """Read the standards that a user gives, whose scale may be a text such as "1-5".

    Raises:
        InputError: If the scale is not two rising numbers, or a limit is not a number.
    """
    ends = None
    if scale is not None:
        ends = parse_scale(scale)
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
    low = check_number("scale", ends[0])
    high = check_number("scale", ends[1])
    if not low < high:
        raise InputError(f"the scale {text!r} does not rise", hint)
    return low, high


def _two_numbers(text: str) -> list[float]:
    """The numbers on both sides of a separator, none where the text has another form."""
    for separator in (" to ", ",", ":", "..", "-"):
        # A minus sign at the very beginning belongs to the first number.
        if separator not in text[1:]:
            continue
        head, _, tail = text[1:].partition(separator)
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
    if lowest < highest:
        return lowest, highest
    return None


def scale_of(ratings: Array) -> tuple[float, float] | None:
    """The scale that ratings, NaN where there is none, were probably given on."""
    if np.isnan(ratings).all():
        return None
    return likely_scale(float(np.nanmin(ratings)), float(np.nanmax(ratings)))
