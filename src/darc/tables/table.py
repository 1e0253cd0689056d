"""A table of ratings that has been read and found good."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Protocol

from darc.errors import TableError
from darc.registry.capabilities import Closing
from darc.tables.batch import Batch
from darc.tables.labels import Labels
from darc.tables.plan import Sizes
from darc.tables.spill import Records, RecordSpill
from darc.typing import Integers


class Assembler(Protocol):
    """Checks records that are sorted by prompt and makes batches of them."""

    def check(self, records: Records, first: int, count: int) -> Sizes:
        """How large each of `count` prompts from `first` on is; refuses what cannot be used."""
        ...

    def batch(self, records: Records, first: int, count: int) -> Batch:
        """The batch of `count` prompts from `first` on."""
        ...


class RatingTable(Closing):
    """The ratings of a file, in batches of whole prompts, in order of first appearance.

    `rows` counts the file's rows and `prompts` its prompts; `extra_columns` are those that say
    something about a candidate, and `system` is the one that names its system, "" where none
    does. It owns temporary files: use it as a context manager.
    """

    def __init__(
        self,
        *,
        source: str,
        layout: str,
        rows: int,
        scorer_ids: list[str],
        system: str,
        labels: Labels,
        records: RecordSpill,
        starts: Integers,
        ranges: list[tuple[int, int]],
        assembler: Assembler,
        resources: ExitStack,
    ) -> None:
        self.layout = layout
        self.rows = rows
        self.prompts = len(starts) - 1
        self.scorer_ids = scorer_ids
        self.extra_columns = labels.kept
        self.system = system
        self._source = source
        self._labels = labels
        self._records = records
        self._starts = starts
        self._ranges = ranges
        self._assembler = assembler
        self._resources = resources

    def batches(self) -> Iterator[Batch]:
        """All prompts, a batch at a time; may be called again."""
        for first, last in self._ranges:
            records = self._records.read(int(self._starts[first]), int(self._starts[last]))
            yield self._assembler.batch(records, first, last - first)

    def systems(self, batch: Batch) -> list[list[str]]:
        """The system of each candidate of a batch, its own id where no column says.

        A system that varies within a candidate is refused.
        """
        if not self.system:
            return batch.candidate_ids
        if self.system in self._labels.varies:
            raise TableError(
                self._source,
                f"the {self.system} of this candidate is not that of its first row",
                "give every candidate one system, or use --system none",
                self._labels.varies[self.system],
            )
        return batch.cells(self.system)

    def close(self) -> None:
        """Remove the temporary files."""
        self._resources.close()
