"""Some whole prompts, ready for the statistics."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from darc.typing import Array, Integers

# Padded cells for each rating that a batch may hold.
PADDING = 2


@dataclass(frozen=True, eq=False)
class Batch:
    """Whole prompts with their scores (P, M, K, n), samples packed to the left, NaN after them.

    `candidate_ids[p]` are the candidates of prompt p in order of first appearance; where they are
    fewer than K, the scores beyond them are NaN. `scorer_ids` is [""] for a table without scorers.
    `raters` says who gave each sample, (P, M, K, n), as a place in `rater_names`, which are those
    of the whole table; -1 where there is none.
    Extra cells are read from the table's temporary file, so only while it is open.
    """

    prompt_ids: list[str]
    candidate_ids: list[list[str]]
    scorer_ids: list[str]
    scores: Array
    raters: Integers
    rater_names: list[str]
    _extras: tuple[str, ...] = field(repr=False)
    _read: Callable[[str], list[str]] = field(repr=False)
    _known: dict[str, list[list[str]]] = field(default_factory=dict, repr=False)

    def cells(self, column: str) -> list[list[str]]:
        """An extra column's cell of every candidate, by prompt, as on the candidate's first row."""
        if column not in self._known:
            words = iter(self._read(column))
            self._known[column] = [[next(words) for _ in row] for row in self.candidate_ids]
        return self._known[column]

    def extras(self, p: int, k: int) -> dict[str, str]:
        """The extra columns of candidate k of prompt p."""
        if not 0 <= k < len(self.candidate_ids[p]):
            raise IndexError(f"prompt {p} has no candidate {k}")
        return {name: self.cells(name)[p][k] for name in self._extras}


def packed(
    cell: Integers, sizes: Integers, scorers: int, *columns: Array | Integers
) -> Iterator[Any]:
    """Columns of samples as (P, M, K, n), filled up with NaN or, for integers, -1.

    Samples are sorted by their cell, which is candidate * scorers + scorer; prompts have `sizes`
    candidates each.
    """
    counts = np.bincount(cell, minlength=int(sizes.sum()) * scorers)
    prompt = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(prompt)) - (np.cumsum(sizes) - sizes)[prompt]
    shape = (len(sizes), scorers, int(sizes.max()), int(counts.max()))
    base = (prompt[:, None] * scorers + np.arange(scorers)) * shape[2] + place[:, None]
    shift = base.ravel() * shape[3] - (np.cumsum(counts) - counts)
    target = np.repeat(shift, counts) + np.arange(len(cell))
    for values in columns:
        result = np.full(shape, np.nan if values.dtype.kind == "f" else -1)
        result.reshape(-1)[target] = values
        yield result


def plan(
    rows: Integers, width: Integers, depth: Integers, most_rows: int, most_cells: int
) -> list[tuple[int, int]]:
    """Ranges of prompts (first, last + 1), cut where they get too large.

    A range holds several prompts only while their rows stay within `most_rows`, and prompts times
    the largest width times the largest depth, which padding makes of them, within `most_cells`.
    """
    ranges = []
    first = total = widest = deepest = 0
    sizes = zip(rows.tolist(), width.tolist(), depth.tolist(), strict=True)
    for index, (count, across, down) in enumerate(sizes):
        widest, deepest = max(widest, across), max(deepest, down)
        cells = (index + 1 - first) * widest * deepest
        if index > first and (total + count > most_rows or cells > most_cells):
            ranges.append((first, index))
            first, total, widest, deepest = index, 0, across, down
        total += count
    ranges.append((first, len(rows)))
    return ranges
