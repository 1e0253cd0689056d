"""Some whole prompts, ready for the statistics."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from darc.typing import Array, Integers


@dataclass(frozen=True)
class SampleBatch:
    """The samples of some prompts, candidate by candidate, scorer by scorer.

    `prompt` is each candidate's prompt (from 0, each has some); `counts` (candidates, scorers) says
    how many of the `values` and `raters` belong to each.
    """

    prompt: Integers
    counts: Integers
    values: Array
    raters: Integers

    def packed(self) -> Array:
        """The values as (P, M, K, n), NaN where there are none."""
        sizes = np.bincount(self.prompt)
        first = np.cumsum(sizes) - sizes
        scorers, most, depth = self.counts.shape[1], int(sizes.max()), int(self.counts.max())
        scores = np.full((len(sizes), scorers, most, depth), np.nan)
        place = np.arange(len(self.prompt)) - first[self.prompt]
        base = (self.prompt[:, None] * scorers + np.arange(scorers)) * most + place[:, None]
        counts = self.counts.ravel()
        shift = base.ravel() * depth - (np.cumsum(counts) - counts)
        scores.reshape(-1)[np.repeat(shift, counts) + np.arange(len(self.values))] = self.values
        return scores


@dataclass(frozen=True, eq=False)
class Batch:
    """Whole prompts with their scores (P, M, K, n), samples packed to the left, NaN after them.

    `candidate_ids[p]` are the candidates of prompt p in order of first appearance; where they are
    fewer than K, the scores beyond them are NaN. `scorer_ids` is [""] for a table without scorers,
    and `rater_names` are the raters of the whole table.
    Extra cells are read from the table's temporary file, so only while it is open.
    """

    prompt_ids: list[str]
    candidate_ids: list[list[str]]
    scorer_ids: list[str]
    scores: Array
    rater_names: list[str]
    _samples: SampleBatch = field(repr=False)
    _extras: tuple[str, ...] = field(repr=False)
    _read: Callable[[str], list[str]] = field(repr=False)
    _known: dict[str, list[list[str]]] = field(default_factory=dict, repr=False)

    def rater_ids(self, p: int, m: int, k: int) -> list[str]:
        """Who gave the samples scores[p, m, k], in their order."""
        places = self.raters[p, m, k]
        return [self.rater_names[place] for place in places.tolist() if place >= 0]

    @property
    def raters(self) -> Integers:
        """Who gave each sample, (P, M, K, n), as a place in `rater_names`; -1 where none."""
        places = np.full(self.scores.shape, -1, dtype=np.int64)
        # Raters come candidate by candidate, scorer by scorer.
        turned = places.transpose(0, 2, 1, 3)
        turned[~np.isnan(self.scores.transpose(0, 2, 1, 3))] = self._samples.raters
        return places

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
