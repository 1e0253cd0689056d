"""Wide rows, one candidate each and a column a rater, to records."""

import numpy as np
from numpy.typing import NDArray

from darc.tables.codes import Vocabulary, hash_codes
from darc.tables.frame import Frame
from darc.tables.labels import LabelColumn, Labels
from darc.tables.numbers import Numbers
from darc.tables.records import rating_dtype
from darc.tables.schema import Schema, is_named
from darc.tables.spill import Records


class WideEncoder:
    """Records of ratings, none for an empty cell, but one of NaN for a row without any rating."""

    def __init__(self, schema: Schema, vocabulary: Vocabulary, labels: Labels) -> None:
        self._schema = schema
        self._vocabulary = vocabulary
        self._labels = LabelColumn(labels, schema.columns["candidate_id"])
        self._numbers = Numbers()
        self._columns = frozenset((*schema.columns.values(), *schema.raters, *schema.extras))
        vocabulary.raters.remember(schema.raters)
        self._raters = np.array([hash(name) for name in schema.raters], dtype=np.int64)
        self.dtype = rating_dtype(len(schema.extras))

    def encode(self, frame: Frame) -> Records:
        """The records of each row's ratings, in the order of the columns."""
        self._check_names(frame)
        columns, known = self._schema.columns, self._vocabulary
        prompt = known.prompts.encode(frame, columns["prompt_id"])
        candidate = hash_codes(frame, columns["candidate_id"])
        ratings = np.stack([self._ratings(frame, name) for name in self._schema.raters], axis=1)
        present = ~np.isnan(ratings)
        present[~present.any(axis=1), 0] = True
        row, column = np.nonzero(present)
        records = np.zeros(len(row), self.dtype)
        records["line"] = frame.lines[row]
        records["prompt"] = prompt[row]
        records["candidate"] = candidate[row]
        records["rater"] = self._raters[column]
        records["rating"] = ratings[row, column]
        if "scorer_id" in columns:
            records["scorer"] = known.scorers.encode(frame, columns["scorer_id"])[row]
        records["label"] = self._labels.add(frame, prompt, candidate)[row]
        if "hashes" in records.dtype.fields:
            records["hashes"] = self._labels.hashes(frame)[row]
        return records

    def _ratings(self, frame: Frame, name: str) -> NDArray[np.float64]:
        if name not in frame.names:
            return np.full(len(frame), np.nan)
        return frame.numbers(name, self._numbers)

    def _check_names(self, frame: Frame) -> None:
        """Refuse a rater column that turns up after the columns were decided (JSON only)."""
        if self._schema.raters_given or self._columns.issuperset(frame.names):
            return
        for name in frame.names:
            if name not in self._columns and is_named(name) and frame.looks_numeric(name):
                raise frame.fault(
                    frame.present(name),
                    f"the first rows of the file do not have {name!r}",
                    "give every rater in the first row (null where missing), or name the raters",
                )
