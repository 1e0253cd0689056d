"""Records of ratings to batches."""

import numpy as np

from darc.errors import TableError
from darc.tables.batch import Batch, Samples
from darc.tables.codes import Names
from darc.tables.grouping import Grouping, duplicate, group
from darc.tables.labels import Labels
from darc.tables.plan import Sizes
from darc.tables.spill import Records


class Ratings:
    """Checks and batches of records that are sorted by prompt."""

    def __init__(self, source: str, names: Names, labels: Labels) -> None:
        self._source = source
        self._names = names
        self._labels = labels

    def check(self, records: Records, first: int, count: int) -> Sizes:
        """How large each prompt is; refuses unrated candidates and raters who rate one twice."""
        grouping = group(records, first, len(self._names.scorers))
        if not grouping.counts.any(axis=1).all():
            self._refuse_unrated(records, grouping)
        twice = duplicate(records, grouping)
        if twice is not None:
            self._refuse_twice(records, *twice)
        self._labels.check(records, grouping.owner, grouping.first)
        starts = np.searchsorted(grouping.prompt, np.arange(count))
        return Sizes(
            candidates=np.bincount(grouping.prompt, minlength=count),
            samples=np.maximum.reduceat(grouping.counts.max(axis=1), starts),
        )

    def batch(self, records: Records, first: int, count: int) -> Batch:
        """The batch of `count` prompts from `first` on."""
        grouping = group(records, first, len(self._names.scorers))
        samples = Samples(
            first=first,
            count=count,
            prompt=grouping.prompt,
            label=records["label"][grouping.first],
            counts=grouping.counts,
            values=records["rating"][grouping.rows],
            raters=records["rater"][grouping.rows],
        )
        return samples.batch(self._names, self._labels)

    def _refuse_unrated(self, records: Records, grouping: Grouping) -> None:
        record = records[grouping.first[int((~grouping.counts.any(axis=1)).argmax())]]
        raise TableError(
            self._source,
            f"every rating of {self._called(record)} is missing",
            "leave the candidate out, or rate it",
            int(record["line"]),
        )

    def _refuse_twice(self, records: Records, first: int, second: int) -> None:
        record, line = records[second], int(records["line"][first])
        rater = self._names.rater(int(record["rater"]))
        scorer = self._names.scorers[record["scorer"]]
        under = f" under scorer {scorer!r}" if scorer else ""
        raise TableError(
            self._source,
            f"{rater} rates {self._called(record)}{under} twice, first on line {line}",
            "keep one of the two",
            int(record["line"]),
        )

    def _called(self, record: np.void) -> str:
        candidate = self._labels.ids(np.array([record["label"]]))[0]
        return f"candidate {candidate!r} of prompt {self._names.prompts[record['prompt']]!r}"
