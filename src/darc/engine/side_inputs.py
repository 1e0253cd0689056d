"""What rules want to know of rated candidates besides the ratings: a file or further columns."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count, takewhile
from typing import Any

import numpy as np

from darc.errors import InputError, TableError, nearest
from darc.selection.rule import Rule
from darc.tables import Batch
from darc.tables.database import Database
from darc.tables.load import load_file
from darc.tables.source import plain_file
from darc.typing import Array

Numbers1 = dict[tuple[str, str], float]
Numbers2 = dict[tuple[str, str, str], float]


@dataclass(frozen=True)
class SideTable:
    """Named numbers by (prompt, candidate), and similarities by (prompt, candidate, candidate)."""

    source: str
    columns: Mapping[str, Numbers1]
    similarity: Numbers2

    def column(self, name: str, prompt_id: str, candidate_ids: list[str]) -> list[float]:
        """The numbers of a prompt's candidates, in order; one that is not there is refused."""
        numbers = self.columns[name]
        for candidate in candidate_ids:
            if (prompt_id, candidate) not in numbers:
                raise TableError(
                    self.source,
                    f"there is no {name} for candidate {candidate!r} of prompt {prompt_id!r}",
                    "give one row a candidate",
                )
        return [numbers[prompt_id, candidate] for candidate in candidate_ids]

    def similarities(self, prompt_id: str, candidate_ids: list[str]) -> Array:
        """The similarity matrix (K, K) of a prompt's candidates, 1 on the diagonal."""
        result = np.eye(len(candidate_ids))
        for row, left in enumerate(candidate_ids):
            for column, right in enumerate(candidate_ids):
                if row != column:
                    result[row, column] = self._pair(prompt_id, left, right)
        return result

    def _pair(self, prompt_id: str, left: str, right: str) -> float:
        for key in ((prompt_id, left, right), (prompt_id, right, left)):
            if key in self.similarity:
                return self.similarity[key]
        raise TableError(
            self.source,
            f"there is no similarity of {left!r} and {right!r} for prompt {prompt_id!r}",
            "give every pair once, in either order",
        )


def read_side(path: str | os.PathLike[str]) -> SideTable:
    """The side inputs of a file, held in memory.

    Rows are prompt_id, candidate_id and named numbers, or prompt_id, left_id, right_id, similarity.
    """
    columns: dict[str, Numbers1] = {}
    similarity: Numbers2 = {}
    with Database() as db:
        loaded = load_file(db, plain_file(path, None, db.spare))
        paired = "similarity" in loaded.names
        ids = ("prompt_id", "left_id", "right_id") if paired else ("prompt_id", "candidate_id")
        for name in ids:
            if name not in loaded.names:
                hint = nearest(name, loaded.names)
                raise TableError(loaded.source, f"there is no column {name!r}", hint)
        keys: list[Any] = list(zip(*map(loaded.texts, ids), strict=True))
        for name in ("similarity",) if paired else loaded.names:
            if name in ids or not (paired or loaded.looks_numeric(name)):
                continue
            loaded.refuse_first(loaded.number_faults([name]))
            known: Any = similarity if paired else columns.setdefault(name, {})
            numbers = db.arrays(f"SELECT {loaded.number(name)} AS n FROM raw ORDER BY rowid")["n"]
            for row, (key, value) in enumerate(zip(keys, numbers.tolist(), strict=True)):
                if key in known:
                    raise loaded.fault(row, f"{name} of {key} is given twice", "keep one")
                known[key] = np.nan if value is None else value
    if not columns and not similarity:
        raise TableError(loaded.source, "there are no side inputs", "give named columns of numbers")
    return SideTable(loaded.source, columns, similarity)


def check_side(rules: Iterable[Rule], table: SideTable | None, extras: Iterable[str]) -> None:
    """Raise an `InputError` for a rule whose side inputs are neither in the file nor beside it."""
    known = {*extras, *(table.columns if table else ())}
    if table is not None and table.similarity:
        known.add("similarity")
    for rule in rules:
        for name in rule.required():
            if ("dropout_1" if name == "dropout" else name) not in known:
                raise InputError(
                    f"rule {rule.name!r} needs {name!r} for every candidate", _how(name)
                )


def _how(name: str) -> str:
    """How a side input is given."""
    if name == "similarity":
        return "give a file with prompt_id, left_id, right_id, similarity after --side"
    if name == "dropout":
        return (
            "give its samples, such as those of the scorer dropout:MODEL, as columns of the "
            "ratings, or of a file after --side, named dropout_1, dropout_2, ..."
        )
    return f"give it as a column of the ratings, or of a file after --side, named {name}"


def side_inputs(rule: Rule, batch: Batch, table: SideTable | None) -> dict[str, Array]:
    """What the rule needs, or can use, of the side inputs, padded with NaN to (P, K, ...)."""
    result = {name: _input(name, batch, table) for name in rule.required() if name != "dropout"}
    if "dropout" in (*rule.required(), *rule.takes):
        columns = {*(table.columns if table else ()), *batch.extras(0, 0)}
        passes = list(takewhile(lambda name: name in columns, (f"dropout_{i}" for i in count(1))))
        if passes:
            result["dropout"] = np.stack([_input(name, batch, table) for name in passes], axis=-1)
    return result


def _input(name: str, batch: Batch, table: SideTable | None) -> Array:
    most = batch.scores.shape[2]
    if name == "similarity":
        result = np.full((len(batch.prompt_ids), most, most), np.nan)
    else:
        result = np.full((len(batch.prompt_ids), most), np.nan)
    for row, (prompt_id, candidates) in enumerate(
        zip(batch.prompt_ids, batch.candidate_ids, strict=True)
    ):
        size = len(candidates)
        if table is not None and name == "similarity":
            result[row, :size, :size] = table.similarities(prompt_id, candidates)
        elif table is not None and name in table.columns:
            result[row, :size] = table.column(name, prompt_id, candidates)
        else:
            result[row, :size] = [_extra(batch, row, k, name) for k in range(size)]
    return result


def _extra(batch: Batch, row: int, candidate: int, name: str) -> float:
    text = batch.extras(row, candidate).get(name, "")
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"{name} of candidate {batch.candidate_ids[row][candidate]!r}, prompt "
            f"{batch.prompt_ids[row]!r}, is {text!r}, which is no number",
            "give a number for every candidate",
        ) from None
