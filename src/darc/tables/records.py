"""The records that rows become, whatever the layout."""

from typing import Any, Protocol

import numpy as np

from darc.tables.frame import Frame
from darc.tables.spill import Records

COMPARISON = np.dtype(
    [
        ("line", "<i8"),
        ("rater", "<i8"),
        ("left", "<i8"),
        ("right", "<i8"),
        ("left_label", "<i8"),
        ("right_label", "<i8"),
        ("prompt", "<i4"),
        ("outcome", "<f4"),
    ]
)


def rating_dtype(extras: int) -> np.dtype[Any]:
    """The type of one rating in a table with so many extra columns."""
    fields: list[Any] = [
        ("line", "<i8"),
        ("rater", "<i8"),
        ("rating", "<f8"),
        ("candidate", "<i8"),
        ("label", "<i8"),
        ("prompt", "<i4"),
        ("scorer", "<i4"),
    ]
    return np.dtype([*fields, ("hashes", "<u4", (extras,))] if extras else fields)


class Encoder(Protocol):
    """Turns the rows of one layout into records, each with at least a `prompt` and a `line`."""

    dtype: np.dtype[Any]

    def encode(self, frame: Frame) -> Records:
        """The records of a frame, in the order of its rows."""
        ...
