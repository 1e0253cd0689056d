"""Caution: how much an answer may lose on average to divide people less."""

from typing import Literal, get_args

from darc.decide.statistics.arrays import check_weight
from darc.errors import InputError
from darc.typing import Level

CautionName = Literal["none", "low", "medium", "high"]
Caution = CautionName | Level

LEVELS: dict[str, float] = {"none": 0.0, "low": 0.5, "medium": 1.0, "high": 2.0}
MEDIUM = LEVELS["medium"]
NAMES = get_args(CautionName)
HINT = f"use {', '.join(NAMES)}, or a number from 0 up"


def parse_caution(caution: Caution | str) -> float:
    """The number that a caution stands for.

    Args:
        caution: A name ("none", "low", "medium" or "high"), or a number from 0 up, also as text.

    Returns:
        0 for none, 0.5 for low, 1 for medium, 2 for high, or the number itself.

    Raises:
        InputError: If it is neither a known name nor a number from 0 up.
    """
    if isinstance(caution, str):
        name = caution.strip().lower()
        if name in LEVELS:
            return LEVELS[name]
        try:
            caution = float(name)
        except ValueError:
            raise InputError(f"caution is {caution!r}", HINT) from None
    if isinstance(caution, bool) or not isinstance(caution, int | float):
        raise InputError(f"caution is {caution!r}", HINT)
    return check_weight("caution", caution)


def caution_words(caution: float) -> str:
    """A caution in words: its name where it has one, such as "medium caution", or its number."""
    if caution == 0:
        return "no caution"
    for name, level in LEVELS.items():
        if caution == level:
            return f"{name} caution"
    return f"caution {caution:g}"
