"""Decisions for a table of ratings, a batch of prompts at a time, with side inputs from a file."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, permutations, takewhile

import numpy as np
from numpy.typing import NDArray

from darc.decide.decide_all import decisions_of
from darc.decide.decision import Decision, Decisions
from darc.decide.ids import rater_ids, recurring_systems, system_ids
from darc.decide.method import Method
from darc.decide.rule import Rule
from darc.decide.sample_batch import SampleBatch
from darc.decide.standards import Standards, likely_scale
from darc.errors import InputError, TableError, nearest
from darc.ratings import Batch, RatingTable
from darc.ratings.database import Database
from darc.ratings.loading import load_file
from darc.ratings.plain_files import plain_file
from darc.typing import Array

Report = Callable[[int, int], None]
# Padded scores that a fit is made of: what is held in memory of a table of any size.
FITTED = 2_000_000
SIMILARITY = "similarity"
# What `darc export` calls the samples of a run without a panel.
REWRITE = re.compile(r"rewrite \d+")
# How a side input is given.
HOW = {
    SIMILARITY: "give a file with prompt_id, left_id, right_id, similarity after --side",
    "dropout": (
        "give its samples, such as those of the scorer dropout:MODEL, as columns of the "
        "ratings, or of a file after --side, named dropout_1, dropout_2, ..."
    ),
}
ELSE = "give it as a column of the ratings, or of a file after --side, named {}"


@dataclass(frozen=True)
class SideTable:
    """Named numbers by (prompt, candidate), similarities by (prompt, candidate, candidate)."""

    source: str
    numbers: Mapping[str, Mapping[tuple[str, ...], float]]

    def of(self, name: str, prompt_id: str, candidates: Sequence[str]) -> Array:
        """The numbers of a prompt's candidates, (K,); one that is not there is refused.

        Similarities are (K, K), given in either order, and 1 on the diagonal.
        """
        known = self.numbers[name]
        if name != SIMILARITY:
            for each in candidates:
                if (prompt_id, each) not in known:
                    raise TableError(
                        self.source,
                        f"there is no {name} for candidate {each!r} of prompt {prompt_id!r}",
                        "give one row a candidate",
                    )
            return np.array([known[prompt_id, each] for each in candidates])
        result = np.eye(len(candidates))
        for (row, left), (column, right) in permutations(enumerate(candidates), 2):
            found = known.get((prompt_id, left, right), known.get((prompt_id, right, left)))
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


def _check_side(rules: Iterable[Rule], table: SideTable | None, extras: Iterable[str]) -> None:
    """Refuse a rule whose side inputs are neither in the file nor beside the ratings."""
    known = {*extras} - {SIMILARITY} | {*(table.numbers if table else ())}
    for rule in rules:
        for name in rule.required():
            if ("dropout_1" if name == "dropout" else name) not in known:
                what = f"rule {rule.name!r} needs {name!r} for every candidate"
                raise InputError(what, HOW.get(name, ELSE.format(name)))


def _side_inputs(rule: Rule, batch: Batch, table: SideTable | None) -> dict[str, Array]:
    """What the rule needs, or can use, of the side inputs, padded with NaN to (P, K, ...)."""
    result = {name: _input(name, batch, table) for name in rule.required() if name != "dropout"}
    if "dropout" in rule.side_names:
        columns = {*(table.numbers if table else ()), *batch.extras(0, 0)}
        passes = list(takewhile(lambda name: name in columns, (f"dropout_{i}" for i in count(1))))
        if passes:
            result["dropout"] = np.stack([_input(name, batch, table) for name in passes], axis=-1)
    return result


def _input(name: str, batch: Batch, table: SideTable | None) -> Array:
    most = batch.scores.shape[2]
    result = np.full((len(batch.prompt_ids), most, *[most] * (name == SIMILARITY)), np.nan)
    for row, (prompt_id, candidates) in enumerate(
        zip(batch.prompt_ids, batch.candidate_ids, strict=True)
    ):
        if table is not None and name in table.numbers:
            own = table.of(name, prompt_id, candidates)
        else:
            own = np.array([_extra(batch, row, k, name) for k in range(len(candidates))])
        result[row][tuple(slice(size) for size in own.shape)] = own
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


def is_about_wording(table: RatingTable) -> bool:
    """Whether a table has the scores of rewrites, as `darc export` writes those of a run."""
    names = table.rater_names
    return bool(names) and all(REWRITE.fullmatch(name) for name in names)


def standards_for(table: RatingTable, standards: Standards) -> Standards:
    """The standards with the likely scale of a table's ratings, where they have no scale.

    The scores of rewrites, of several scorers and of comparisons are on no scale of satisfaction.
    """
    several = len(table.scorer_ids) > 1
    if standards.scale is not None or several or table.layout == "pairwise":
        return standards
    if is_about_wording(table):
        return standards
    return replace(standards, scale=likely_scale(*table.rating_range()))


@dataclass(frozen=True)
class DecidedBatch:
    """A batch of prompts and each rule's decisions on it, in the order of the rules."""

    batch: Batch
    methods: Sequence[Method]
    decisions: Sequence[Decisions]

    def changed(self, rule: int) -> NDArray[np.bool_]:
        """Where a rule chose another candidate than the first rule, (P,)."""
        return np.asarray(self.decisions[rule].index != self.decisions[0].index)

    def of(self, position: int) -> list[Decision]:
        """Every rule's decision on one prompt."""
        return [each[position] for each in self.decisions]


def decide_table(
    table: RatingTable,
    methods: Sequence[Method],
    *,
    side: SideTable | None = None,
    system: str = "auto",
    progress: Report | None = None,
) -> Iterator[DecidedBatch]:
    """The decisions of some methods on a table, batch by batch.

    A rule that is fitted is fitted once, on the table's `head`, so that how prompts are batched
    changes nothing. Rules that learn or ask for raters see them, and rules that learn see systems
    too, unless `system` is "none". Rewrites teach nothing about people: on their scores nothing is
    learnt from the table. `progress(done, total)` counts prompts.
    """
    _check_side((method.rule for method in methods), side, table.extra_columns)
    about_wording = is_about_wording(table)
    if about_wording:
        methods = [method.without_learning() for method in methods]
    learns = any(method.learns for method in methods)
    uses_systems = learns and system != "none"
    groups = {}
    if learns or any(method.rule.inputs.raters for method in methods):
        groups = table.groups()

    def sample_batch(batch: Batch, learning: bool = False) -> SampleBatch:
        systems = None
        if uses_systems:
            systems = system_ids(table.systems(batch), batch.scores.shape[2])
        if systems is not None and learning:
            systems = recurring_systems(systems)
        return SampleBatch(
            samples=batch.scores,
            prompt_ids=batch.prompt_ids,
            candidate_ids=batch.candidate_ids,
            scorers=table.scorer_ids,
            # Rules that do without raters still tell who was unhappy.
            raters=rater_ids(batch.raters, batch.rater_names, groups),
            systems=systems,
            side={} if learning else _all_side_inputs(methods, batch, side),
            sample="rewrite" if about_wording else "rater",
        )

    fitted = [method.bound_to(table.scorer_ids) for method in methods]
    if any(method.learns_from_samples for method in methods):
        head = sample_batch(table.head(FITTED), learning=True)
        fitted = [method.fitted(head) for method in methods]
    done = 0
    for batch in table.batches():
        yield DecidedBatch(batch, fitted, decisions_of(fitted, sample_batch(batch)))
        done += len(batch.prompt_ids)
        if progress is not None:
            progress(done, table.prompts)


def _all_side_inputs(
    methods: Sequence[Method], batch: Batch, table: SideTable | None
) -> dict[str, Array]:
    """The side inputs that any of the methods uses."""
    side: dict[str, Array] = {}
    for method in methods:
        side |= _side_inputs(method.rule, batch, table)
    return side
