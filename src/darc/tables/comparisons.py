"""Records of comparisons to batches."""

from dataclasses import dataclass

import numpy as np

from darc.core.pairwise import scalarize
from darc.errors import TableError, UnknownName
from darc.tables.batch import Batch, Samples
from darc.tables.codes import Names
from darc.tables.grouping import first_appearance
from darc.tables.labels import Labels
from darc.tables.plan import Sizes
from darc.tables.spill import Records
from darc.typing import Integers

METHODS = ("win-rate", "bradley-terry", "thurstone")
# Raters x candidates x candidates that one fit may work on; more are fitted in turns.
FIT_CELLS = 500_000


def check_method(name: str) -> None:
    """Refuse an unknown way to turn comparisons into samples."""
    if name not in METHODS:
        raise UnknownName("pairwise method", name, METHODS)


@dataclass(frozen=True)
class _Pairs:
    """Comparisons with candidates and raters numbered through all prompts by first appearance."""

    prompt: Integers
    label: Integers
    left: Integers
    right: Integers
    rater: Integers
    rater_prompt: Integers
    rater_code: Integers
    outcome: np.ndarray[tuple[int], np.dtype[np.float64]]


class Comparisons:
    """Checks and batches of records that are sorted by prompt."""

    def __init__(self, source: str, names: Names, labels: Labels, method: str) -> None:
        self._source = source
        self._names = names
        self._labels = labels
        self._method = method

    def check(self, records: Records, first: int, count: int) -> Sizes:
        """How large each prompt is; refuses candidates whose comparisons are all missing."""
        pairs = self._pairs(records, first)
        return Sizes(
            candidates=np.bincount(pairs.prompt, minlength=count),
            samples=np.bincount(pairs.rater_prompt, minlength=count),
        )

    def batch(self, records: Records, first: int, count: int) -> Batch:
        """The batch of `count` prompts from `first` on: a sample is what a rater makes of one."""
        pairs = self._pairs(records, first)
        every = np.arange(count + 1)
        candidates = np.searchsorted(pairs.prompt, every)
        raters = np.searchsorted(pairs.rater_prompt, every)
        rows = np.searchsorted(pairs.prompt[pairs.left], every)
        values, owners, judges = [], [], []
        for low, high in _turns(np.diff(candidates), np.diff(raters)):
            row = slice(rows[low], rows[high])
            base = candidates[pairs.prompt[pairs.left[row]]]
            # Raters are fitted each on their own, so one call does many prompts.
            table = scalarize(
                self._method,
                pairs.left[row] - base,
                pairs.right[row] - base,
                pairs.rater[row] - raters[low],
                pairs.outcome[row],
                candidates=int(np.diff(candidates[low : high + 1]).max()),
                raters=int(raters[high] - raters[low]),
            ).T
            judge, place = np.nonzero(~np.isnan(table))
            values.append(table[judge, place])
            judges.append(judge + raters[low])
            owners.append(place + candidates[pairs.rater_prompt[judges[-1]]])
        owner, judge = np.concatenate(owners), np.concatenate(judges)
        order = np.argsort(owner, kind="stable")
        samples = Samples(
            first=first,
            count=count,
            prompt=pairs.prompt,
            label=pairs.label,
            counts=np.bincount(owner, minlength=len(pairs.prompt)).reshape(-1, 1),
            values=np.concatenate(values)[order],
            raters=pairs.rater_code[judge[order]],
        )
        return samples.batch(self._names, self._labels)

    def _pairs(self, records: Records, first: int) -> _Pairs:
        prompt = records["prompt"] - np.int64(first)
        both = np.stack((records["left"], records["right"]), axis=1).ravel()
        label = np.stack((records["left_label"], records["right_label"]), axis=1).ravel()
        owner, opening = first_appearance(np.repeat(prompt, 2), both)
        sides = owner.reshape(-1, 2)
        judged = np.flatnonzero(~np.isnan(records["outcome"]))
        seen = np.zeros(len(opening), dtype=bool)
        seen[sides[judged]] = True
        if not seen.all():
            row = int(opening[int((~seen).argmax())])
            self._refuse_unseen(records[row // 2], label[row : row + 1])
        judge, rater_opening = first_appearance(prompt[judged], records["rater"][judged])
        return _Pairs(
            prompt=np.repeat(prompt, 2)[opening],
            label=label[opening],
            left=sides[judged, 0],
            right=sides[judged, 1],
            rater=judge,
            rater_prompt=prompt[judged][rater_opening],
            rater_code=records["rater"][judged][rater_opening],
            outcome=records["outcome"][judged],
        )

    def _refuse_unseen(self, record: np.void, label: Integers) -> None:
        name = self._labels.ids(label)[0]
        prompt = self._names.prompts[record["prompt"]]
        raise TableError(
            self._source,
            f"every comparison of candidate {name!r} of prompt {prompt!r} is missing",
            "leave the candidate out, or compare it",
            int(record["line"]),
        )


def _turns(candidates: Integers, raters: Integers) -> list[tuple[int, int]]:
    """Ranges of prompts whose fits stay within `FIT_CELLS`, or of a single prompt."""
    turns = []
    first = most = judges = 0
    for index, (some, more) in enumerate(zip(candidates.tolist(), raters.tolist(), strict=True)):
        most, judges = max(most, some), judges + more
        if index > first and judges * most**2 > FIT_CELLS:
            turns.append((first, index))
            first, most, judges = index, some, more
    turns.append((first, len(candidates)))
    return turns
