"""Ids to integers and back."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from darc.errors import TableError
from darc.tables.frame import Frame
from darc.tables.index import HashIndex
from darc.typing import Integers

KNOWN_RATERS = 100_000
_BLANK = hash("")


def hash_codes(frame: Frame, column: str) -> Integers:
    """A 64-bit hash of each row's id; a row without one is refused.

    Ids are told apart by it: among a million, the chance that any two collide is 1 in 40 million.
    So memory need not grow with the number of candidates and raters.
    """
    texts = frame.texts(column)
    codes = np.fromiter(map(hash, texts), np.int64, len(texts))
    if (codes == _BLANK).any() and "" in texts:
        raise _blank(frame, column, texts)
    return codes


class Codes:
    """Numbers 0, 1, 2, ... for ids, in the order of their first appearance."""

    def __init__(self) -> None:
        self._index = HashIndex()
        self._words = bytearray()
        self._ends = array("q", [0])

    def __len__(self) -> int:
        return len(self._index)

    def __getitem__(self, code: int) -> str:
        """The id of a code."""
        return self._words[self._ends[code] : self._ends[code + 1]].decode("utf-8")

    def encode(self, frame: Frame, column: str) -> NDArray[np.int32]:
        """The code of each row's id; a row without one is refused."""
        codes, fresh = self._index.encode(hash_codes(frame, column))
        if len(fresh):
            texts = frame.texts(column)
            for row in fresh.tolist():
                self._words += texts[row].encode("utf-8")
                self._ends.append(len(self._words))
        return codes


class RaterCodes:
    """Hashes for rater ids, with the names of the first hundred thousand."""

    def __init__(self, limit: int = KNOWN_RATERS) -> None:
        self._limit = limit
        self._codes: dict[str, int] = {}

    def encode(self, frame: Frame, column: str) -> Integers:
        """The code of each row's rater; a row without one is refused."""
        texts = frame.texts(column)
        try:
            return np.fromiter(map(self._codes.__getitem__, texts), np.int64, len(texts))
        except KeyError:
            self.remember(texts)
        return hash_codes(frame, column)

    def remember(self, names: Sequence[str]) -> None:
        """Keep `names` while there is room."""
        if len(self._codes) < self._limit:
            for name in dict.fromkeys(names):
                if name and len(self._codes) < self._limit:
                    self._codes[name] = hash(name)

    def names(self) -> dict[int, str]:
        """The names that were kept, by their codes."""
        return {code: name for name, code in self._codes.items()}


class Vocabulary:
    """The codes of every kind of id in a table."""

    def __init__(self) -> None:
        self.prompts = Codes()
        self.scorers = Codes()
        self.raters = RaterCodes()

    def names(self) -> "Names":
        """What the codes stand for."""
        scorers = [self.scorers[code] for code in range(len(self.scorers))]
        return Names(self.prompts, scorers or [""], self.raters.names())


@dataclass(frozen=True)
class Names:
    """What the codes stand for; raters only as far as their names were kept."""

    prompts: Codes
    scorers: list[str]
    raters: Mapping[int, str]

    @cached_property
    def _sorted(self) -> tuple[Integers, Integers]:
        codes = np.fromiter(self.raters, np.int64, len(self.raters))
        order = np.argsort(codes)
        return codes[order], order

    def places(self, codes: Integers) -> Integers:
        """The place of each rater among those whose names were kept, -1 for the others."""
        known, order = self._sorted
        found = np.searchsorted(known, codes).clip(max=len(known) - 1)
        return np.where(known[found] == codes, order[found], -1)

    def rater(self, code: int) -> str:
        """How an error message calls a rater."""
        name = self.raters.get(code)
        return "one rater" if name is None else f"rater {name!r}"


def _blank(frame: Frame, column: str, texts: list[str]) -> TableError:
    return frame.fault(texts.index(""), f"no {column}", "give every row its ids")
