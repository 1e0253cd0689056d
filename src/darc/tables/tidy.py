"""Tidy rows, one rating each, to records."""

import numpy as np

from darc.tables.codes import Vocabulary, hash_codes
from darc.tables.frame import Frame
from darc.tables.labels import LabelColumn, Labels
from darc.tables.numbers import Numbers
from darc.tables.records import rating_dtype
from darc.tables.schema import Schema
from darc.tables.spill import Records


class TidyEncoder:
    """Records of ratings; a missing rating stays, as NaN, to tell that its candidate exists."""

    def __init__(self, schema: Schema, vocabulary: Vocabulary, labels: Labels) -> None:
        self._columns = schema.columns
        self._vocabulary = vocabulary
        self._labels = LabelColumn(labels, schema.columns["candidate_id"])
        self._numbers = Numbers()
        self.dtype = rating_dtype(len(schema.extras))

    def encode(self, frame: Frame) -> Records:
        """One record a row."""
        columns, known = self._columns, self._vocabulary
        records = np.zeros(len(frame), self.dtype)
        records["line"] = frame.lines
        records["prompt"] = prompt = known.prompts.encode(frame, columns["prompt_id"])
        records["candidate"] = candidate = hash_codes(frame, columns["candidate_id"])
        records["rater"] = known.raters.encode(frame, columns["rater_id"])
        absent = frame.absent(columns["rating"])
        if absent is not None:
            raise frame.fault(absent, f"no {columns['rating']}", "write null if it is missing")
        records["rating"] = frame.numbers(columns["rating"], self._numbers)
        if "scorer_id" in columns:
            records["scorer"] = known.scorers.encode(frame, columns["scorer_id"])
        records["label"] = self._labels.add(frame, prompt, candidate)
        if "hashes" in records.dtype.fields:
            records["hashes"] = self._labels.hashes(frame)
        return records
