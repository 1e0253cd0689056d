"""The rows of a file, gathered as records."""

from contextlib import ExitStack

import numpy as np

from darc.tables.codes import Names, Vocabulary
from darc.tables.frame import Frame
from darc.tables.labels import Labels
from darc.tables.pairwise import PairwiseEncoder
from darc.tables.partition import by_prompt
from darc.tables.records import Encoder
from darc.tables.schema import Schema
from darc.tables.spill import RecordSpill
from darc.tables.tidy import TidyEncoder
from darc.tables.wide import WideEncoder
from darc.typing import Integers

LABEL_BYTES_A_ROW = 32


class Collector:
    """Takes frames one after the other; its temporary files belong to `resources`."""

    def __init__(self, schema: Schema, spill_rows: int, resources: ExitStack) -> None:
        self.schema = schema
        self.rows = 0
        self.labels = Labels(schema.extras, spill_rows * LABEL_BYTES_A_ROW)
        resources.callback(self.labels.close)
        self._limit = spill_rows
        self._resources = resources
        self._vocabulary = Vocabulary()
        self._encoder = self._choose_encoder()
        self._records = RecordSpill(self._encoder.dtype, spill_rows)
        resources.callback(self._records.close)
        self._counts = np.zeros(1024, dtype=np.int64)
        self._prompts = 0
        self._last_prompt = 0
        self._in_order = True

    @property
    def counts(self) -> Integers:
        """How many records each prompt has."""
        return self._counts[: self._prompts]

    def add(self, frame: Frame) -> None:
        """Gather the rows of a frame."""
        records = self._encoder.encode(frame)
        prompt = records["prompt"]
        self.rows += len(frame)
        self._prompts = len(self._vocabulary.prompts)
        if self._prompts > len(self._counts):
            self._counts = np.pad(self._counts, (0, self._prompts))
        np.add.at(self._counts, prompt, 1)
        # Prompts are numbered as they appear, so rows are in order when the numbers never fall.
        self._in_order &= bool(prompt[0] >= self._last_prompt and (prompt[1:] >= prompt[:-1]).all())
        self._last_prompt = int(prompt[-1])
        self._records.append(records)

    def names(self) -> Names:
        """What the codes in the records stand for."""
        return self._vocabulary.names()

    def grouped(self) -> RecordSpill:
        """The records sorted by prompt, in file order within each."""
        if not self._in_order:
            scattered = self._records
            self._records = by_prompt(scattered, self.counts, self._limit)
            self._resources.callback(self._records.close)
            scattered.close()
            self._in_order = True
        return self._records

    def _choose_encoder(self) -> Encoder:
        if self.schema.layout == "pairwise":
            return PairwiseEncoder(self.schema, self._vocabulary, self.labels)
        if self.schema.layout == "wide":
            return WideEncoder(self.schema, self._vocabulary, self.labels)
        return TidyEncoder(self.schema, self._vocabulary, self.labels)
