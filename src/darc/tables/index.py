"""Hashes to consecutive numbers, thousands at a time."""

import numpy as np
from numpy.typing import NDArray

from darc.typing import Integers


class HashIndex:
    """Numbers 0, 1, 2, ... for 64-bit hashes, in the order of their first appearance.

    An open-addressing table in numpy. Looking up a block of rows at once lets the memory accesses
    overlap, which on scattered rows is several times faster than a dictionary of ids.
    """

    def __init__(self, capacity: int = 1024) -> None:
        self._keys = np.zeros(capacity, dtype=np.int64)
        self._numbers = np.full(capacity, -1, dtype=np.int32)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def encode(self, hashes: Integers) -> tuple[NDArray[np.int32], Integers]:
        """The number of each hash, and the rows in which new ones appear for the first time."""
        numbers = self._find(hashes)
        unknown = np.flatnonzero(numbers < 0)
        if not len(unknown):
            return numbers, unknown
        _, first = np.unique(hashes[unknown], return_index=True)
        fresh = unknown[np.sort(first)]
        self._add(hashes[fresh])
        numbers[unknown] = self._find(hashes[unknown])
        return numbers, fresh

    def _find(self, hashes: Integers) -> NDArray[np.int32]:
        slots = hashes & (len(self._keys) - 1)
        numbers: NDArray[np.int32] = self._numbers[slots]
        astray = np.flatnonzero((numbers >= 0) & (self._keys[slots] != hashes))
        while len(astray):
            slots[astray] = slot = (slots[astray] + 1) & (len(self._keys) - 1)
            numbers[astray] = number = self._numbers[slot]
            astray = astray[(number >= 0) & (self._keys[slot] != hashes[astray])]
        return numbers

    def _add(self, hashes: Integers) -> None:
        """Number new, distinct hashes; the table stays at most half full."""
        capacity = len(self._keys)
        while 2 * (self._size + len(hashes)) > capacity:
            capacity *= 2
        if capacity > len(self._keys):
            used = self._numbers >= 0
            keys, numbers = self._keys[used], self._numbers[used]
            self._keys = np.zeros(capacity, dtype=np.int64)
            self._numbers = np.full(capacity, -1, dtype=np.int32)
            self._place(keys, numbers)
        numbers = np.arange(self._size, self._size + len(hashes), dtype=np.int32)
        self._place(hashes, numbers)
        self._size += len(hashes)

    def _place(self, keys: Integers, numbers: NDArray[np.int32]) -> None:
        slots = keys & (len(self._keys) - 1)
        while len(keys):
            free = self._numbers[slots] < 0
            self._numbers[slots[free]] = numbers[free]
            # Where several wanted one slot, the last has it and the others move on.
            settled = self._numbers[slots] == numbers
            self._keys[slots[settled]] = keys[settled]
            keys, numbers = keys[~settled], numbers[~settled]
            slots = (slots[~settled] + 1) & (len(self._keys) - 1)
