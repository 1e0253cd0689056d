"""What rules want to know of rated candidates besides the ratings: a file or further columns."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count, permutations, takewhile

import numpy as np

from darc.errors import InputError, TableError, nearest
from darc.selection.rule import Rule
from darc.tables import Batch
from darc.tables.database import Database
from darc.tables.load import load_file
from darc.tables.source import plain_file
from darc.typing import Array

SIMILARITY = "similarity"


@dataclass(frozen=True)
class SideTable:
    """Named numbers by (prompt, candidate), similarities by (prompt, candidate, candidate)."""

    source: str
    numbers: Mapping[str, Mapping[tuple[str, ...], float]]

    def column(self, name: str, prompt_id: str, candidate_ids: list[str]) -> list[float]:
        """The numbers of a prompt's candidates, in order; one that is not there is refused."""
        numbers = [self.numbers[name].get((prompt_id, each)) for each in candidate_ids]
        if None in numbers:
            lacking = candidate_ids[numbers.index(None)]
            raise TableError(
                self.source,
                f"there is no {name} for candidate {lacking!r} of prompt {prompt_id!r}",
                "give one row a candidate",
            )
        return [number for number in numbers if number is not None]

    def similarities(self, prompt_id: str, candidate_ids: list[str]) -> Array:
        """The similarity matrix (K, K) of a prompt's candidates, 1 on the diagonal."""
        result, known = np.eye(len(candidate_ids)), self.numbers.get(SIMILARITY, {})
        for (row, left), (column, right) in permutations(enumerate(candidate_ids), 2):
            keys = (prompt_id, left, right), (prompt_id, right, left)
            found = next((known[key] for key in keys if key in known), None)
            if found is None:
                raise TableError(
                    self.source,
                    f"there is no similarity of {left!r} and {right!r} for prompt {prompt_id!r}",
                    "give every pair once, in either order",
                )
            result[row, column] = found
        return result


def read_side(path: str | os.PathLike[str]) -> SideTable:
    """The side inputs of a file, held in memory.

    Rows are prompt_id, candidate_id and named numbers, or prompt_id, left_id, right_id, similarity.
    """
    found: dict[str, dict[tuple[str, ...], float]] = {}
    with Database() as db:
        loaded = load_file(db, plain_file(path, None, db.spare))
        paired = SIMILARITY in loaded.names
        ids = ("prompt_id", "left_id", "right_id") if paired else ("prompt_id", "candidate_id")
        for name in ids:
            if name not in loaded.names:
                hint = nearest(name, loaded.names)
                raise TableError(loaded.source, f"there is no column {name!r}", hint)
        keys = list(zip(*map(loaded.texts, ids), strict=True))
        for name in (SIMILARITY,) if paired else loaded.names:
            if name in ids or not (paired or loaded.looks_numeric(name)):
                continue
            loaded.refuse_first(loaded.number_faults([name]))
            known = found.setdefault(name, {})
            sql = f"SELECT coalesce({loaded.number(name)}, 'nan') AS n FROM raw ORDER BY rowid"
            for row, (key, value) in enumerate(
                zip(keys, db.arrays(sql)["n"].tolist(), strict=True)
            ):
                if key in known:
                    raise loaded.fault(row, f"{name} of {key} is given twice", "keep one")
                known[key] = value
    if not found:
        raise TableError(loaded.source, "there are no side inputs", "give named columns of numbers")
    return SideTable(loaded.source, found)


def check_side(rules: Iterable[Rule], table: SideTable | None, extras: Iterable[str]) -> None:
    """Raise an `InputError` for a rule whose side inputs are neither in the file nor beside it."""
    known = {*extras, *(table.numbers if table else ())}
    for rule in rules:
        for name in rule.required():
            if ("dropout_1" if name == "dropout" else name) not in known:
                raise InputError(
                    f"rule {rule.name!r} needs {name!r} for every candidate", _how(name)
                )


def _how(name: str) -> str:
    """How a side input is given."""
    if name == SIMILARITY:
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
        columns = {*(table.numbers if table else ()), *batch.extras(0, 0)}
        passes = list(takewhile(lambda name: name in columns, (f"dropout_{i}" for i in count(1))))
        if passes:
            result["dropout"] = np.stack([_input(name, batch, table) for name in passes], axis=-1)
    return result


def _input(name: str, batch: Batch, table: SideTable | None) -> Array:
    most = batch.scores.shape[2]
    axes = (most, most) if name == SIMILARITY else (most,)
    result = np.full((len(batch.prompt_ids), *axes), np.nan)
    for row, (prompt_id, candidates) in enumerate(
        zip(batch.prompt_ids, batch.candidate_ids, strict=True)
    ):
        size = len(candidates)
        if table is not None and name == SIMILARITY:
            result[row, :size, :size] = table.similarities(prompt_id, candidates)
        elif table is not None and name in table.numbers:
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
