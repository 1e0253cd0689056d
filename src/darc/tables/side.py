"""Side inputs of candidates: numbers that some rules need beside the ratings."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from darc.errors import TableError, nearest
from darc.tables.formats import frames
from darc.tables.numbers import Numbers
from darc.tables.read import BLOCK_BYTES
from darc.tables.source import Source

Array = NDArray[np.float64]
Numbers1 = dict[tuple[str, str], float]
Numbers2 = dict[tuple[str, str, str], float]


@dataclass(frozen=True)
class SideTable:
    """Named numbers by (prompt, candidate), and similarities by (prompt, candidate, candidate)."""

    source: str
    columns: Mapping[str, Numbers1]
    similarity: Numbers2

    def column(self, name: str, prompt_id: str, candidate_ids: list[str]) -> list[float]:
        """The numbers of a prompt's candidates, in order; one that is not there is refused."""
        numbers = self.columns[name]
        for candidate in candidate_ids:
            if (prompt_id, candidate) not in numbers:
                raise TableError(
                    self.source,
                    f"there is no {name} for candidate {candidate!r} of prompt {prompt_id!r}",
                    "give one row a candidate",
                )
        return [numbers[prompt_id, candidate] for candidate in candidate_ids]

    def similarities(self, prompt_id: str, candidate_ids: list[str]) -> Array:
        """The similarity matrix (K, K) of a prompt's candidates, 1 on the diagonal."""
        result = np.eye(len(candidate_ids))
        for row, left in enumerate(candidate_ids):
            for column, right in enumerate(candidate_ids):
                if row != column:
                    result[row, column] = self._pair(prompt_id, left, right)
        return result

    def _pair(self, prompt_id: str, left: str, right: str) -> float:
        for key in ((prompt_id, left, right), (prompt_id, right, left)):
            if key in self.similarity:
                return self.similarity[key]
        raise TableError(
            self.source,
            f"there is no similarity of {left!r} and {right!r} for prompt {prompt_id!r}",
            "give every pair once, in either order",
        )


def read_side(path: str | os.PathLike[str], chosen: str = "auto") -> SideTable:
    """The side inputs of a file, held in memory.

    Rows are prompt_id, candidate_id and named numbers, or prompt_id, left_id, right_id, similarity.
    """
    columns: dict[str, Numbers1] = {}
    similarity: Numbers2 = {}
    with Source(path) as source:
        for frame in frames(source, chosen, BLOCK_BYTES, lambda done: None):
            paired = "similarity" in frame.names
            ids = ("prompt_id", "left_id", "right_id") if paired else ("prompt_id", "candidate_id")
            for name in ids:
                if name not in frame.names:
                    raise TableError(
                        source.name, f"there is no column {name!r}", nearest(name, frame.names)
                    )
            keys = list(zip(*(frame.texts(name) for name in ids), strict=True))
            for name in ("similarity",) if paired else frame.names:
                if name in ids or not (paired or frame.looks_numeric(name)):
                    continue
                values = frame.numbers(name, Numbers()).tolist()
                known = similarity if paired else columns.setdefault(name, {})
                for position, (key, value) in enumerate(zip(keys, values, strict=True)):
                    if key in known:
                        raise frame.fault(position, f"{name} of {key} is given twice", "keep one")
                    known[key] = value
    if not columns and not similarity:
        raise TableError(source.name, "there are no side inputs", "give named columns of numbers")
    return SideTable(source.name, columns, similarity)
