"""The scale on which users say that a scorer's numbers lie."""

from dataclasses import dataclass

import numpy as np

from darc.errors import InputError


@dataclass(frozen=True)
class ScoreScale:
    """Where a scorer's numbers lie."""

    #: The mean score of ordinary answers, if it is known.
    location: float | None
    #: The standard deviation of the scores of ordinary answers, if it is known.
    scale: float | None
    #: The lowest and the highest score.
    bounds: tuple[float, float]


def check_scale(
    name: str, location: float | None, scale: float | None, bounds: tuple[float, float]
) -> ScoreScale:
    """Check the scale that a user gave a scorer.

    Args:
        name: The scorer's name, for the error.
        location: The mean score of ordinary answers, or None.
        scale: The standard deviation of the scores of ordinary answers, or None.
        bounds: The lowest and the highest score.

    Returns:
        The checked scale.

    Raises:
        InputError: If scores cannot be normalised by it.
    """
    is_valid = (
        _is_number_or_none(location)
        and _is_number_or_none(scale)
        and (scale is None or scale > 0)
        and bounds[0] < bounds[1]
    )
    if not is_valid:
        raise InputError(
            f"scorer {name!r} has location {location}, scale {scale} and bounds {bounds}",
            "location must be a number, scale above 0, and low less than high",
        )
    return ScoreScale(location, scale, (float(bounds[0]), float(bounds[1])))


def _is_number_or_none(value: float | None) -> bool:
    return value is None or (isinstance(value, int | float) and bool(np.isfinite(value)))
