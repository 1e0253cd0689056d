"""Decisions for a table of ratings, a batch of prompts at a time: as rows and as a summary."""

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from darc.core.draws import prompt_seeds
from darc.core.normalization import Normalization
from darc.engine.deciding import RuleSpec, rater_ids, recurring, system_ids
from darc.errors import InputError
from darc.selection.decision import Decision, Decisions, decide
from darc.selection.pools import Ids, Pools
from darc.tables import Batch, RatingTable
from darc.tables.side import SideTable, check_side, side_inputs
from darc.typing import Array

Report = Callable[[int, int], None]
# Padded scores that a fit is made of: what is held in memory of a table of any size.
FITTED = 2_000_000


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


def decide_table(
    table: RatingTable,
    specs: Sequence[RuleSpec],
    *,
    normalize: Normalization = None,
    min_samples: int | None = None,
    seed: int = 0,
    side: SideTable | None = None,
    system: str = "auto",
    progress: Report | None = None,
) -> Iterator[DecidedBatch]:
    """The decisions of some rules on a table, batch by batch.

    A rule that is fitted is fitted once, on the table's `head`, so that how prompts are batched
    changes nothing. Rules with the same beta and gamma share their statistics. Rules that learn see
    raters and, unless `system` is "none", systems. `progress(done, total)` counts prompts.
    """
    check_side((spec.rule for spec in specs), side, table.extra_columns)
    ids, named = any(spec.learns for spec in specs), system != "none"

    def pools_of(spec: RuleSpec, part: "Batch | TableHead", systems: Ids | None) -> Pools:
        seeds = prompt_seeds(seed, part.prompt_ids)
        pools = Pools(part.scores, spec.beta, spec.gamma, normalize, None, min_samples, seeds)
        raters = rater_ids(part.raters, part.rater_names) if ids else None
        return replace(pools, raters=raters, systems=systems)

    fitted, done = [replace(spec, rule=spec.rule_for(table.scorer_ids)) for spec in specs], 0
    unfitted = [spec for spec in fitted if spec.rule.calibrate and spec.calibrations is None]
    if unfitted:
        first = head(table, ids and named)
        most = first.scores.shape[2]
        known = recurring(system_ids(first.systems, most)) if ids and named else None
        for spec in unfitted:
            assert spec.rule.calibrate is not None
            rule = spec.rule.bind()
            found = spec.rule.calibrate(pools_of(spec, first, known), rule.parameters)
            fitted[fitted.index(spec)] = replace(spec, rule=rule.bind(**found))
    for batch in table.batches():
        most = batch.scores.shape[2]
        systems = system_ids(table.systems(batch), most) if ids and named else None
        shared: dict[tuple[float, float], Pools] = {}
        decisions = []
        for spec in fitted:
            key = (spec.beta, spec.gamma)
            if key not in shared:
                shared[key] = pools_of(spec, batch, systems)
            pools = shared[key]
            extra = side_inputs(spec.rule, batch, side)
            if extra:
                pools = replace(pools, side=extra)
            decisions.append(decide(spec.rule, pools, batch.candidate_ids, "rater"))
        yield DecidedBatch(batch, tuple(fitted), decisions)
        done += len(batch.prompt_ids)
        if progress is not None:
            progress(done, table.prompts)


@dataclass(frozen=True, eq=False)
class TableHead:
    """The first prompts of a table, as many as a fit is made of, like a batch of them."""

    prompt_ids: list[str]
    scores: Array
    raters: NDArray[np.int64]
    rater_names: list[str]
    systems: list[list[str]]


def head(table: RatingTable, systems: bool, cells: int = FITTED) -> TableHead:
    """The first prompts of a table whose padded scores have at most so many `cells`, or one."""
    ids: list[str] = []
    names: list[list[str]] = []
    parts: list[tuple[Array, NDArray[np.int64]]] = []
    most = np.zeros(2, dtype=np.int64)
    known: list[str] = []
    for batch in table.batches():
        there = ~np.isnan(batch.scores)
        sizes = np.stack(
            [there.any(axis=(1, 3)).sum(axis=1), there.sum(axis=3).max(axis=(1, 2))], axis=1
        )
        largest = np.maximum(np.maximum.accumulate(sizes), most)
        padded = (len(ids) + 1 + np.arange(len(sizes))) * largest.prod(axis=1) * there.shape[1]
        count = int(np.searchsorted(padded, cells, side="right"))
        count = max(count, 0 if ids else 1)
        if count:
            most = largest[count - 1]
            parts.append((batch.scores[:count], batch.raters[:count]))
            ids += batch.prompt_ids[:count]
            names += table.systems(batch)[:count] if systems else []
            known = batch.rater_names
        if count < len(sizes):
            break
    shape = (len(ids), len(table.scorer_ids), *most.tolist())
    scores, raters = np.full(shape, np.nan), np.full(shape, -1, dtype=np.int64)
    start = 0
    for values, givers in parts:
        place = slice(start, start := start + len(values))
        _, _, candidates, samples = (min(pair) for pair in zip(values.shape, shape, strict=True))
        for whole, part in ((scores, values), (raters, givers)):
            whole[place, :, :candidates, :samples] = part[:, :, :candidates, :samples]
    return TableHead(ids, scores, raters, known, names)


@dataclass
class PicturedPrompt:
    """Keeps the decisions on the wanted prompt, or else on the most telling one.

    That is, where the rules differ, the prompt on which the last rule's choice has the most less
    sigma than the first rule's; where they never do, the one on which the choice has the most.
    """

    wanted: str | None = None
    prompt_id: str | None = None
    decisions: list[Decision] | None = None
    _rank: tuple[bool, float] = (False, -np.inf)

    def add(self, decided: DecidedBatch) -> None:
        """Look at a batch."""
        ids = decided.batch.prompt_ids
        if self.wanted is not None:
            if self.wanted in ids:
                self._keep(decided, ids.index(self.wanted))
            return
        first, last = decided.decisions[0].chosen["sigma"], decided.decisions[-1].chosen["sigma"]
        changed = decided.changed(len(decided.decisions) - 1)
        gain = np.nan_to_num(np.where(changed, first - last, first), nan=-1.0)
        place = int(np.lexsort((gain, changed))[-1])
        rank = (bool(changed[place]), float(gain[place]))
        if rank > self._rank:
            self._rank = rank
            self._keep(decided, place)

    def check(self) -> None:
        """Raise an `InputError` if the wanted prompt never came."""
        if self.wanted is not None and self.decisions is None:
            raise InputError(f"there is no prompt {self.wanted!r}", "see the prompt_id column")

    def _keep(self, decided: DecidedBatch, place: int) -> None:
        self.prompt_id = decided.batch.prompt_ids[place]
        self.decisions = decided.of(place)


NUMBERS = ("value", "mean", "sigma", "risk_premium")
COLUMNS = ("prompt_id", "rule", "candidate_id", *NUMBERS, "samples", "feasible", "flags")


@dataclass(frozen=True)
class Detail:
    """What to add to each decision: words, a certificate for the scale's bounds, the flip."""

    explain: bool = False
    bounds: tuple[float, float] | None = None
    delta: float = 0.05
    flip: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the added columns."""
        flags = (self.bounds is not None, self.flip, self.explain)
        names = ("lower_bound", "flip", "explanation")
        return tuple(name for name, wanted in zip(names, flags, strict=True) if wanted)

    def of(self, decision: Decision) -> dict[str, Any]:
        """The added columns of one decision."""
        result: dict[str, Any] = {}
        if self.bounds is not None:
            lower = decision.certificate(self.bounds, self.delta).lower_bound or ()
            result["lower_bound"] = lower[0] if len(lower) == 1 else list(lower)
        if self.flip:
            change = decision.flip(self.bounds)
            result["flip"] = None if change is None else vars(change)
        if self.explain:
            result["explanation"] = decision.explain()
        return result


class CsvRows:
    """Writes one line a prompt and rule, with the chosen candidate's extra columns at the end."""

    def __init__(self, stream: TextIO, extras: Sequence[str], detail: Detail) -> None:
        self._writer = csv.writer(stream, lineterminator="\n")
        self._extras, self._detail = tuple(extras), detail
        self._writer.writerow([*COLUMNS, *detail.columns, *self._extras])

    def add(self, decided: DecidedBatch) -> None:
        """Write the decisions of a batch."""
        made = [each.chosen for each in decided.decisions]
        for row, prompt_id in enumerate(decided.batch.prompt_ids):
            for spec, each, chosen in zip(decided.specs, decided.decisions, made, strict=True):
                index = int(each.index[row])
                cells: list[Any] = [
                    prompt_id,
                    spec.label,
                    decided.batch.candidate_ids[row][index],
                    *(_cell(chosen[name][row]) for name in NUMBERS),
                    int(chosen["count"][row]),
                    int(each.feasible[row].sum()),
                    " ".join(each.flags_of(row)),
                ]
                if self._detail.columns:
                    added = self._detail.of(each[row])
                    cells += [_cell(added[name]) for name in self._detail.columns]
                if self._extras:
                    kept = decided.batch.extras(row, index)
                    cells += [kept.get(name, "") for name in self._extras]
                self._writer.writerow(cells)


class JsonRows:
    """Writes one JSON object a line for each prompt and rule."""

    def __init__(self, stream: TextIO, extras: Sequence[str], detail: Detail) -> None:
        self._stream, self._extras, self._detail = stream, extras, detail

    def add(self, decided: DecidedBatch) -> None:
        """Write the decisions of a batch."""
        for row, prompt_id in enumerate(decided.batch.prompt_ids):
            for spec, each in zip(decided.specs, decided.decisions, strict=True):
                decision = each[row]
                data = {"prompt_id": prompt_id, "label": spec.label, **decision.to_dict()}
                data.update(self._detail.of(decision))
                if self._extras:
                    data["extra"] = decided.batch.extras(row, decision.index)
                self._stream.write(json.dumps(data, ensure_ascii=False) + "\n")


def _cell(value: Any) -> Any:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.12g}"
    return json.dumps(value) if isinstance(value, dict | list) else ("" if value is None else value)


@dataclass
class Summary:
    """Running averages of each rule's choices over all prompts."""

    specs: Sequence[RuleSpec]
    prompts: int = 0

    def __post_init__(self) -> None:
        """Begin with nothing."""
        count = len(self.specs)
        self.totals, self.known = np.zeros((2, count, len(NUMBERS)))
        self.changed, self.flags = [0] * count, [Counter[str]() for _ in self.specs]

    def add(self, decided: DecidedBatch) -> None:
        """Count the decisions of a batch."""
        self.specs = decided.specs
        self.prompts += len(decided.batch.prompt_ids)
        for rule, each in enumerate(decided.decisions):
            numbers = np.array([each.chosen[name] for name in NUMBERS])
            self.totals[rule] += np.nansum(numbers, axis=1)
            self.known[rule] += (~np.isnan(numbers)).sum(axis=1)
            self.changed[rule] += int(decided.changed(rule).sum())
            for name, raised in each.flags.items():
                self.flags[rule][name] += int(raised.sum())

    def average(self, rule: int, name: str) -> float:
        """The average of a number over a rule's choices."""
        place = rule, NUMBERS.index(name)
        return float(self.totals[place] / self.known[place]) if self.known[place] else np.nan
