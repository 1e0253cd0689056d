"""A block of rows, whatever the file format."""

import re
from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from darc.errors import TableError
from darc.tables.numbers import NotANumberError, Numbers, mostly_numbers

Lines = NDArray[np.int64]


class Frame(ABC):
    """Some consecutive rows: `names` of the columns, and for each row its line in the file."""

    def __init__(self, source: str, names: tuple[str, ...], lines: Lines) -> None:
        self.source = source
        self.names = names
        self.lines = lines

    def __len__(self) -> int:
        return len(self.lines)

    @abstractmethod
    def texts(self, name: str) -> list[str]:
        """The cells of a column as text, empty where there is none."""

    def absent(self, name: str) -> int | None:
        """The first row that has no such field at all, where the format allows that."""
        return None

    def present(self, name: str) -> int:
        """The first row that has such a field."""
        return 0

    def looks_numeric(self, name: str) -> bool:
        """Whether a column seems to hold numbers: most of its cells do, or all are missing."""
        return mostly_numbers(self.texts(name))

    def numbers(self, name: str, reader: Numbers) -> NDArray[np.float64]:
        """The cells of a column as finite numbers, NaN where missing."""
        try:
            values = self._numbers(name, reader)
        except NotANumberError as problem:
            comma = re.fullmatch(r"\s*[-+]?\d+,\d+\s*", problem.text)
            raise self.fault(
                problem.position,
                f"{shorten(problem.text)} in column {name!r} is not a number",
                "write decimals with a point, or let darc import read it"
                if comma
                else "leave the cell empty if it is missing; darc import --scale reads words",
            ) from None
        infinite = np.isinf(values)
        if infinite.any():
            raise self.fault(
                int(infinite.argmax()),
                f"an infinity (or a number too large) in column {name!r}",
                "leave the cell empty if it is missing",
            )
        return values

    def fault(self, position: int, message: str, hint: str = "") -> TableError:
        """The error that says what is wrong with the row at `position`."""
        return TableError(self.source, message, hint, int(self.lines[position]))

    def _numbers(self, name: str, reader: Numbers) -> NDArray[np.float64]:
        return reader.parse(self.texts(name))


def shorten(text: str, length: int = 40) -> str:
    """`text` in quotation marks, cut where it gets too long for an error message."""
    return repr(text if len(text) <= length else text[: length - 3] + "...")
