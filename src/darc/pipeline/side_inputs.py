"""The side inputs that rules need, for a batch of prompts."""

from collections.abc import Iterable
from itertools import count, takewhile

import numpy as np
from numpy.typing import NDArray

from darc.errors import InputError
from darc.selection.rule import Rule
from darc.tables import Batch
from darc.tables.side import SideTable

Array = NDArray[np.float64]


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
