"""Pairwise rows, one comparison each, to records."""

import numpy as np
from numpy.typing import NDArray

from darc.tables.codes import Vocabulary, hash_codes
from darc.tables.frame import Frame, shorten
from darc.tables.labels import LabelColumn, Labels
from darc.tables.numbers import MISSING
from darc.tables.records import COMPARISON
from darc.tables.schema import Schema
from darc.tables.spill import Records

OUTCOMES = {"left": 1.0, "right": 0.0, "tie": 0.5}


class PairwiseEncoder:
    """Records of comparisons; the outcome is the left candidate's share of the win."""

    def __init__(self, schema: Schema, vocabulary: Vocabulary, labels: Labels) -> None:
        self._columns = schema.columns
        self._vocabulary = vocabulary
        self._left = LabelColumn(labels, schema.columns["left_id"])
        self._right = LabelColumn(labels, schema.columns["right_id"])
        self.dtype = COMPARISON

    def encode(self, frame: Frame) -> Records:
        """One record a row."""
        columns, known = self._columns, self._vocabulary
        records = np.empty(len(frame), self.dtype)
        records["line"] = frame.lines
        records["prompt"] = prompt = known.prompts.encode(frame, columns["prompt_id"])
        records["left"] = left = hash_codes(frame, columns["left_id"])
        records["right"] = right = hash_codes(frame, columns["right_id"])
        records["rater"] = known.raters.encode(frame, columns["rater_id"])
        same = left == right
        if same.any():
            at = int(same.argmax())
            name = frame.texts(columns["left_id"])[at]
            raise frame.fault(
                at, f"candidate {name!r} is compared with itself", "give two different candidates"
            )
        absent = frame.absent(columns["winner"])
        if absent is not None:
            raise frame.fault(absent, f"no {columns['winner']}", "write null if it is missing")
        records["outcome"] = self._outcomes(frame)
        records["left_label"] = self._left.add(frame, prompt, left)
        records["right_label"] = self._right.add(frame, prompt, right)
        return records

    def _outcomes(self, frame: Frame) -> NDArray[np.float64]:
        texts = frame.texts(self._columns["winner"])
        outcomes = list(map(OUTCOMES.get, texts))
        if None not in outcomes:
            return np.array(outcomes, dtype=np.float64)
        left = frame.texts(self._columns["left_id"])
        right = frame.texts(self._columns["right_id"])
        values = np.empty(len(texts))
        for at, text in enumerate(texts):
            word = text.strip().lower()
            if word in OUTCOMES:
                values[at] = OUTCOMES[word]
            elif text in (left[at], right[at]):
                values[at] = OUTCOMES["left"] if text == left[at] else OUTCOMES["right"]
            elif word in MISSING:
                values[at] = np.nan
            else:
                raise frame.fault(
                    at,
                    f"the {self._columns['winner']} is {shorten(text)}",
                    f"it should be left, right, tie, {left[at]!r} or {right[at]!r}",
                )
        return values
