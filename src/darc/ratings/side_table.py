"""Side inputs of rules: numbers about candidates from a file, or from other columns of ratings."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, permutations

import numpy as np

from darc.decide.rule import Rule
from darc.errors import InputError, TableError, nearest
from darc.ratings.database import Database
from darc.ratings.loading import load_file
from darc.ratings.plain_files import plain_file
from darc.ratings.ratings import Ratings
from darc.ratings.raw_rows import RawRows
from darc.typing import Array

SIMILARITY = "similarity"
DROPOUT = "dropout"
_FIRST_DROPOUT = "dropout_1"
# How a side input that is missing can be given.
_HINTS = {
    SIMILARITY: "give a file with prompt_id, left_id, right_id, similarity after --side-file",
    DROPOUT: (
        "give its samples, such as those of the scorer dropout:MODEL, as columns of the "
        "ratings, or of a file after --side-file, named dropout_1, dropout_2, ..."
    ),
}
_OTHER_HINT = "give it as a column of the ratings, or of a file after --side-file, named {}"

#: (prompt, candidate), or (prompt, left candidate, right candidate) for similarities.
Key = tuple[str, ...]


@dataclass(frozen=True)
class SideTable:
    """The side inputs of a file."""

    #: What errors call the file.
    source: str
    #: The numbers by name and key.
    numbers: Mapping[str, Mapping[Key, float]]

    def numbers_of(self, name: str, prompt_id: str, candidates: Sequence[str]) -> Array:
        """The numbers of a prompt's candidates.

        Returns:
            Numbers (K,). Similarities are (K, K), given in either order, and 1 on the diagonal.

        Raises:
            TableError: One is missing.
        """
        if name == SIMILARITY:
            return self._similarities(prompt_id, candidates)
        numbers = self.numbers[name]
        for candidate in candidates:
            if (prompt_id, candidate) not in numbers:
                raise TableError(
                    self.source,
                    f"there is no {name} for candidate {candidate!r} of prompt {prompt_id!r}",
                    "give one row per candidate",
                )
        return np.array([numbers[prompt_id, candidate] for candidate in candidates])

    def _similarities(self, prompt_id: str, candidates: Sequence[str]) -> Array:
        numbers = self.numbers[SIMILARITY]
        result = np.eye(len(candidates))
        for (row, left), (column, right) in permutations(enumerate(candidates), 2):
            similarity = numbers.get((prompt_id, left, right))
            if similarity is None:
                similarity = numbers.get((prompt_id, right, left))
            if similarity is None:
                raise TableError(
                    self.source,
                    f"there is no similarity of {left!r} and {right!r} for prompt {prompt_id!r}",
                    "give every pair once, in either order",
                )
            result[row, column] = similarity
        return result


def read_side_table(path: str | os.PathLike[str]) -> SideTable:
    """Read the side inputs of a file into memory.

    Args:
        path: A file whose rows are prompt_id, candidate_id and named numbers, or prompt_id,
            left_id, right_id and similarity.

    Raises:
        TableError: It cannot be read, a column is missing or a row is at fault.
    """
    with Database() as db:
        loaded = load_file(db, plain_file(path, None, db.spare_path))
        if SIMILARITY in loaded.names:
            key_columns = ["prompt_id", "left_id", "right_id"]
            number_columns = [SIMILARITY]
        else:
            key_columns = ["prompt_id", "candidate_id"]
            others = [name for name in loaded.names if name not in key_columns]
            number_columns = [name for name in others if loaded.looks_numeric(name)]
        for name in key_columns:
            if name not in loaded.names:
                hint = nearest(name, loaded.names)
                raise TableError(loaded.source, f"there is no column {name!r}", hint)
        keys = list(zip(*(loaded.texts(name) for name in key_columns), strict=True))
        numbers = {name: _numbers_by_key(loaded, name, keys) for name in number_columns}
    if not numbers:
        raise TableError(loaded.source, "there are no side inputs", "give named columns of numbers")
    return SideTable(loaded.source, numbers)


def _numbers_by_key(loaded: RawRows, name: str, keys: Sequence[Key]) -> dict[Key, float]:
    """The numbers of a column by the key of their row."""
    loaded.raise_first(loaded.number_faults([name]))
    sql = f"SELECT coalesce({loaded.number(name)}, 'nan') AS n FROM raw ORDER BY rowid"
    values = loaded.db.arrays(sql)["n"].tolist()
    numbers: dict[Key, float] = {}
    for row, (key, value) in enumerate(zip(keys, values, strict=True)):
        if key in numbers:
            raise loaded.error_at(row, f"{name} of {key} is given twice", "keep one")
        numbers[key] = value
    return numbers


def check_side_inputs(
    rules: Iterable[Rule], table: SideTable | None, extra_columns: Iterable[str]
) -> None:
    """Check that each rule's side inputs are in the file or among the ratings' columns.

    Raises:
        InputError: One is in neither.
    """
    columns = set(extra_columns) - {SIMILARITY}
    if table is not None:
        columns |= table.numbers.keys()
    for rule in rules:
        for name in rule.required():
            column = name
            if name == DROPOUT:
                column = _FIRST_DROPOUT
            if column not in columns:
                message = f"rule {rule.name!r} needs {name!r} for every candidate"
                raise InputError(message, _HINTS.get(name, _OTHER_HINT.format(name)))


def side_inputs_of(
    rules: Iterable[Rule], ratings: Ratings, table: SideTable | None
) -> dict[str, Array]:
    """The side inputs that any of the rules needs or can use.

    Args:
        rules: The rules.
        ratings: The ratings, whose extra columns may be side inputs.
        table: The side inputs of a file, which come first.

    Returns:
        Arrays (P, K, ...) by name, padded with NaN.
    """
    result: dict[str, Array] = {}
    for rule in rules:
        for name in rule.required():
            if name != DROPOUT:
                result[name] = _side_input(name, ratings, table)
        if DROPOUT in rule.side_names:
            columns = list(_dropout_columns(ratings, table))
            if columns:
                passes = [_side_input(name, ratings, table) for name in columns]
                result[DROPOUT] = np.stack(passes, axis=-1)
    return result


def _dropout_columns(ratings: Ratings, table: SideTable | None) -> Iterator[str]:
    """The names dropout_1, dropout_2 and so on, as far as there are such columns."""
    columns = set(ratings.extra_columns)
    if table is not None:
        columns |= table.numbers.keys()
    for number in count(1):
        name = f"{DROPOUT}_{number}"
        if name not in columns:
            return
        yield name


def _side_input(name: str, ratings: Ratings, table: SideTable | None) -> Array:
    """One side input of all candidates, (P, K), or (P, K, K) for similarities."""
    prompts, _, candidates, _ = ratings.shape
    shape: tuple[int, ...] = (prompts, candidates)
    if name == SIMILARITY:
        shape = (prompts, candidates, candidates)
    result = np.full(shape, np.nan)
    for prompt, candidate_ids in enumerate(ratings.candidate_ids):
        if table is not None and name in table.numbers:
            numbers = table.numbers_of(name, ratings.prompt_ids[prompt], candidate_ids)
        else:
            numbers = _column_numbers(name, ratings, prompt)
        corner = tuple(slice(size) for size in numbers.shape)
        result[prompt][corner] = numbers
    return result


def _column_numbers(name: str, ratings: Ratings, prompt: int) -> Array:
    """The numbers that an extra column has for a prompt's candidates, (K,)."""
    candidate_ids = ratings.candidate_ids[prompt]
    texts = ratings.extra_columns[name][prompt]
    numbers = []
    for candidate_id, text in zip(candidate_ids, texts, strict=True):
        try:
            numbers.append(float(text))
        except ValueError:
            raise InputError(
                f"{name} of candidate {candidate_id!r}, prompt {ratings.prompt_ids[prompt]!r}, "
                f"is {text!r}, which is not a number",
                "give a number for every candidate",
            ) from None
    return np.array(numbers)
