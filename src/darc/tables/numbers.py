"""Text to numbers, a column at a time."""

import numpy as np

from darc.typing import Array

MISSING = frozenset({"", "na", "nan", "null", "none"})
_AS_USUALLY_SPELLED = MISSING | {"NA", "NaN", "NULL", "Null", "None", "NONE"}


class NotANumberError(ValueError):
    """The text at `position` of a column is not a number, nor a word for a missing one."""

    def __init__(self, position: int, text: str) -> None:
        super().__init__(position, text)
        self.position = position
        self.text = text


class Numbers:
    """Reads columns of numbers, and remembers what it read: ratings repeat, and reading is slow."""

    def __init__(self, limit: int = 10_000) -> None:
        self._limit = limit
        self._known: dict[str, float] = {}

    def parse(self, texts: list[str]) -> Array:
        """The numbers, NaN where missing, as `parse_numbers` gives them."""
        try:
            return np.fromiter(map(self._known.__getitem__, texts), np.float64, len(texts))
        except KeyError:
            pass
        values = parse_numbers(texts)
        if len(self._known) < self._limit:
            self._known.update(zip(texts, values.tolist(), strict=True))
        else:
            self._known.clear()
            self._limit = 0
        return values


def parse_numbers(texts: list[str]) -> Array:
    """The numbers, NaN where `texts` are blank, NaN, NA, null or None; infinities as they are."""
    try:
        return _convert(texts)
    except ValueError:
        pass
    try:
        return _convert(["nan" if text in _AS_USUALLY_SPELLED else text for text in texts])
    except ValueError:
        return np.array([_number(position, text) for position, text in enumerate(texts)])


def mostly_numbers(texts: list[str]) -> bool:
    """Whether at least half of what is not missing can be read as numbers."""
    verdict = [is_number(text) for text in texts if text.strip().lower() not in MISSING]
    return 2 * sum(verdict) >= len(verdict)


def is_number(text: str) -> bool:
    """Whether `text` is one number."""
    try:
        _convert([text])
    except ValueError:
        return False
    return True


def _convert(texts: list[str]) -> Array:
    values = np.fromiter(map(float, texts), np.float64, len(texts))
    # Python reads 1_000 as a number; in a file of ratings it is a slip.
    if "_" in "".join(texts):
        raise ValueError
    return values


def _number(position: int, text: str) -> float:
    if text.strip().lower() in MISSING:
        return np.nan
    if not is_number(text):
        raise NotANumberError(position, text)
    return float(text)
