"""Decisions for a table of ratings, a batch of prompts at a time, with side inputs from a file."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, permutations, takewhile

import numpy as np
from numpy.typing import NDArray

from darc.decide.decision import Decision, Decisions, decide
from darc.decide.method import RuleSpec, rater_ids, recurring, system_ids
from darc.decide.model.calibration import DEFAULT
from darc.decide.pools import Ids, Pools
from darc.decide.rule import Rule
from darc.decide.standards import NO_STANDARDS, Standards, likely_scale
from darc.decide.statistics.draws import prompt_seeds
from darc.decide.statistics.kernel import Normalization
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
    if "dropout" in (*rule.required(), *rule.takes):
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
    specs: Sequence[RuleSpec]
    decisions: Sequence[Decisions]

    def changed(self, rule: int) -> NDArray[np.bool_]:
        """Where a rule chose another candidate than the first rule, (P,)."""
        return np.asarray(self.decisions[rule].index != self.decisions[0].index)

    def of(self, position: int) -> list[Decision]:
        """Every rule's decision on one prompt."""
        return [each[position] for each in self.decisions]


def _unlearning(spec: RuleSpec) -> RuleSpec:
    """The rule with the default calibration, where it would learn from the table."""
    if not spec.learns or spec.calibrations is not None:
        return spec
    return replace(spec, rule=spec.rule.bind(calibration=DEFAULT))


def decide_table(
    table: RatingTable,
    specs: Sequence[RuleSpec],
    *,
    normalize: Normalization = None,
    min_samples: int | None = None,
    seed: int = 0,
    side: SideTable | None = None,
    system: str = "auto",
    standards: Standards = NO_STANDARDS,
    progress: Report | None = None,
) -> Iterator[DecidedBatch]:
    """The decisions of some rules on a table, batch by batch.

    A rule that is fitted is fitted once, on the table's `head`, so that how prompts are batched
    changes nothing. Rules with the same beta and gamma share their statistics. Rules that learn or
    ask for raters see them, and rules that learn see systems too, unless `system` is "none".
    Rewrites teach nothing about people: on their scores nothing is learnt from the table.
    `standards` say what counts as a good rating. `progress(done, total)` counts prompts.
    """
    _check_side((spec.rule for spec in specs), side, table.extra_columns)
    about_wording = is_about_wording(table)
    if about_wording:
        specs = [_unlearning(spec) for spec in specs]
    learns = any(spec.learns for spec in specs)
    named = system != "none"
    groups = table.groups() if learns or any(spec.rule.raters for spec in specs) else {}

    def pools_of(spec: RuleSpec, part: Batch, systems: Ids | None) -> Pools:
        # Rules that do without raters still tell who was unhappy.
        return Pools(
            part.scores,
            spec.beta,
            spec.gamma,
            normalize,
            min_samples=min_samples,
            drawn=prompt_seeds(seed, part.prompt_ids),
            raters=rater_ids(part.raters, part.rater_names, groups),
            systems=systems,
            sample="rewrite" if about_wording else "rater",
            standards=standards,
        )

    fitted, done = [replace(spec, rule=spec.rule_for(table.scorer_ids)) for spec in specs], 0
    unfitted = [spec for spec in fitted if spec.rule.calibrate and spec.calibrations is None]
    if unfitted:
        first = table.head(FITTED)
        most = first.scores.shape[2]
        known = recurring(system_ids(table.systems(first), most)) if learns and named else None
        for spec in unfitted:
            rule = spec.rule.fitted(pools_of(spec, first, known))
            fitted[fitted.index(spec)] = replace(spec, rule=rule)
    for batch in table.batches():
        most = batch.scores.shape[2]
        systems = system_ids(table.systems(batch), most) if learns and named else None
        shared: dict[tuple[float, float], Pools] = {}
        decisions = []
        for spec in fitted:
            key = (spec.beta, spec.gamma)
            if key not in shared:
                shared[key] = pools_of(spec, batch, systems)
            extra = _side_inputs(spec.rule, batch, side)
            pools = shared[key].sharing(side=extra) if extra else shared[key]
            decisions.append(decide(spec.rule, pools, batch.candidate_ids))
        yield DecidedBatch(batch, tuple(fitted), decisions)
        done += len(batch.prompt_ids)
        if progress is not None:
            progress(done, table.prompts)
