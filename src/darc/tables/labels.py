"""The words that belong to candidates: their ids and their extra cells."""

from itertools import compress

import numpy as np
from numpy.typing import NDArray

from darc.tables.frame import Frame
from darc.tables.spill import Records, Spill
from darc.typing import Integers

# Neither byte is ever part of UTF-8.
_BETWEEN, _END = b"\xfe", b"\xff"
_NEAR, _FAR = 65_536, 256


class Labels:
    """Ids and extra cells of candidates, found again by their offset.

    Memory would grow with the number of candidates, so the words go to disk with the records. They
    are written wherever the rows turn to another candidate. An extra column that varies within a
    candidate belongs to its ratings and is given up; to see that wherever the rows are, each record
    carries a hash of its extra cells. `varies` has the first line that showed it, by column.
    """

    def __init__(self, extras: tuple[str, ...], limit: int) -> None:
        self.extras = extras
        self._kept = np.ones(len(extras), dtype=bool)
        self.varies: dict[str, int] = {}
        self._spill = Spill(limit)
        self._end = 0

    @property
    def kept(self) -> tuple[str, ...]:
        """The extra columns that do not vary within any candidate checked so far."""
        return tuple(compress(self.extras, self._kept))

    def append(self, columns: list[list[str]], chosen: NDArray[np.bool_]) -> Integers:
        """The offsets at which the words of the chosen rows were put."""
        cells = [map(str.encode, compress(texts, chosen)) for texts in columns]
        words = list(map(_BETWEEN.join, zip(*cells, strict=True)))
        sizes = np.fromiter(map(len, words), np.int64, len(words)) + len(_END)
        self._spill.write(self._end, b"".join((_END.join(words), _END) if words else ()))
        offsets = self._end + np.cumsum(sizes) - sizes
        self._end += int(sizes.sum())
        return offsets

    def check(self, records: Records, owner: Integers, first: Integers) -> None:
        """Give up the columns that vary among rows of one `owner`, whose first row is `first`."""
        if self._kept.any():
            hashes = records["hashes"]
            other = hashes != hashes[first[owner]]
            for place in np.flatnonzero(other.any(axis=0) & self._kept).tolist():
                line = int(records["line"][other[:, place].argmax()])
                self.varies[self.extras[place]] = line
                self._kept[place] = False

    def column(self, name: str, offsets: Integers) -> list[str]:
        """The candidates' cells of an extra column at some offsets."""
        return self.ids(offsets, 1 + self.extras.index(name))

    def ids(self, offsets: Integers, place: int = 0) -> list[str]:
        """The candidates' ids at some offsets, or their extra cells at a place from 1 on."""
        order = np.argsort(offsets)
        ascending = offsets[order].tolist()
        # Words close together are read many at a time, words far apart one by one.
        near = ascending[-1] - ascending[0] < _FAR * len(ascending)
        ids = [""] * len(ascending)
        base, data = 0, b""
        for at, offset in zip(order.tolist(), ascending, strict=True):
            stop = data.find(_END, offset - base)
            if stop < 0:
                base, data = offset, self._read(offset, _NEAR if near else _FAR)
                stop = data.find(_END)
            words = data[offset - base : stop].split(_BETWEEN, place + 1)
            ids[at] = words[place].decode("utf-8")
        return ids

    def cells(self, offset: int) -> dict[str, str]:
        """The extra cells at an offset, by column."""
        words = self._read(offset, _FAR).partition(_END)[0].split(_BETWEEN)
        named = zip(self.extras, words[1:], strict=True)
        return {name: cell.decode("utf-8") for name, cell in compress(named, self._kept)}

    def close(self) -> None:
        """Forget everything."""
        self._spill.close()

    def _read(self, offset: int, size: int) -> bytes:
        """At least one candidate's words from `offset` on."""
        data = self._spill.read(offset, size)
        while _END not in data:
            data += self._spill.read(offset + len(data), len(data))
        return data


class LabelColumn:
    """Writes the words of one id column, and knows the row that came last."""

    def __init__(self, labels: Labels, column: str) -> None:
        self._labels = labels
        self._column = column
        self._last = (-1, 0)
        self._offset = 0

    def add(self, frame: Frame, prompt: NDArray[np.int32], code: Integers) -> Integers:
        """The offset of the words of each row's candidate."""
        turns = np.ones(len(frame), dtype=bool)
        turns[1:] = (prompt[1:] != prompt[:-1]) | (code[1:] != code[:-1])
        turns[0] = (int(prompt[0]), int(code[0])) != self._last
        self._last = int(prompt[-1]), int(code[-1])
        columns = [frame.texts(self._column), *(_cells(frame, n) for n in self._labels.extras)]
        offsets = np.concatenate(([self._offset], self._labels.append(columns, turns)))
        self._offset = int(offsets[-1])
        return np.asarray(offsets[np.cumsum(turns)])

    def hashes(self, frame: Frame) -> NDArray[np.uint32]:
        """A hash of each extra cell, (rows, extra columns)."""
        result = np.empty((len(frame), len(self._labels.extras)), dtype=np.uint32)
        for index, name in enumerate(self._labels.extras):
            codes = np.fromiter(map(hash, _cells(frame, name)), np.int64, len(frame))
            result[:, index] = codes & 0xFFFFFFFF
        return result


def _cells(frame: Frame, name: str) -> list[str]:
    return frame.texts(name) if name in frame.names else [""] * len(frame)
