"""Some whole prompts, ready for the statistics."""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from darc.tables.codes import Names
from darc.tables.labels import Labels
from darc.typing import Array, Integers


@dataclass(frozen=True, eq=False)
class Batch:
    """Whole prompts with their scores (P, M, K, n), samples packed to the left, NaN after them.

    `candidate_ids[p]` are the candidates of prompt p in order of first appearance; where they are
    fewer than K, the scores beyond them are NaN. `scorer_ids` is [""] for a table without scorers.
    Extra cells are read from the table's temporary file, so only while it is open.
    """

    prompt_ids: list[str]
    candidate_ids: list[list[str]]
    scorer_ids: list[str]
    scores: Array
    _first_candidate: Integers = field(repr=False)
    _cell_starts: Integers = field(repr=False)
    _raters: Integers = field(repr=False)
    _names: Names = field(repr=False)
    _labels: Labels = field(repr=False)
    _offsets: Integers = field(repr=False)

    def rater_ids(self, p: int, m: int, k: int) -> list[str]:
        """Who gave the samples scores[p, m, k], in their order; "" where the name is unknown."""
        cell = self._candidate(p, k) * len(self.scorer_ids) + m
        codes = self._raters[self._cell_starts[cell] : self._cell_starts[cell + 1]]
        return [self._names.raters.get(code, "") for code in codes.tolist()]

    @property
    def raters(self) -> Integers:
        """Who gave each sample, (P, M, K, n), as a place in `rater_names`; -1 where unknown."""
        places = np.full(self.scores.shape, -1, dtype=np.int64)
        # Raters come candidate by candidate, scorer by scorer.
        turned = places.transpose(0, 2, 1, 3)
        turned[~np.isnan(self.scores.transpose(0, 2, 1, 3))] = self._names.places(self._raters)
        return places

    @property
    def rater_names(self) -> list[str]:
        """The raters of the whole table whose names were kept."""
        return list(self._names.raters.values())

    def cells(self, column: str) -> list[list[str]]:
        """An extra column's cell of every candidate, by prompt."""
        words = self._labels.column(column, self._offsets)
        return [words[low:high] for low, high in pairwise(self._first_candidate.tolist())]

    def extras(self, p: int, k: int) -> dict[str, str]:
        """The extra columns of candidate k of prompt p, as on its first row."""
        return self._labels.cells(int(self._offsets[self._candidate(p, k)]))

    def _candidate(self, p: int, k: int) -> int:
        """The number of a candidate among all candidates of the batch."""
        if not 0 <= k < len(self.candidate_ids[p]):
            raise IndexError(f"prompt {p} has no candidate {k}")
        return int(self._first_candidate[p]) + k


@dataclass(frozen=True)
class Samples:
    """The samples of `count` prompts from `first` on, candidate by candidate, scorer by scorer.

    `prompt` and `label` are each candidate's prompt (from 0) and where its words are; `counts`
    (candidates, scorers) says how many of the `values` and `raters` belong to each.
    """

    first: int
    count: int
    prompt: Integers
    label: Integers
    counts: Integers
    values: Array
    raters: Integers

    def batch(self, names: Names, labels: Labels) -> Batch:
        """The batch of these samples."""
        first = np.searchsorted(self.prompt, np.arange(self.count + 1))
        starts = np.concatenate(([0], np.cumsum(self.counts.ravel())))
        ids = labels.ids(self.label)
        return Batch(
            prompt_ids=[names.prompts[self.first + p] for p in range(self.count)],
            candidate_ids=[ids[low:high] for low, high in pairwise(first.tolist())],
            scorer_ids=names.scorers,
            scores=self._packed(first, starts),
            _first_candidate=first,
            _cell_starts=starts,
            _raters=self.raters,
            _names=names,
            _labels=labels,
            _offsets=self.label,
        )

    def _packed(self, first: Integers, starts: Integers) -> Array:
        """The values as (P, M, K, n), NaN where there are none."""
        scorers = self.counts.shape[1]
        most = int(np.diff(first).max())
        depth = int(self.counts.max())
        scores = np.full((self.count, scorers, most, depth), np.nan)
        place = np.arange(len(self.prompt)) - first[self.prompt]
        base = (self.prompt[:, None] * scorers + np.arange(scorers)) * most + place[:, None]
        shift = base.ravel() * depth - starts[:-1]
        index = np.repeat(shift, self.counts.ravel()) + np.arange(len(self.values))
        scores.reshape(-1)[index] = self.values
        return scores
