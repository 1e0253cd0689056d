"""Decisions as rows of a file and as a summary, and the one prompt that is worth a picture."""

import csv
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np

from darc.engine.deciding import RuleSpec
from darc.engine.ratings import DecidedBatch
from darc.errors import InputError
from darc.selection.decision import Decision


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
                self.prompt_id, self.decisions = self.wanted, decided.of(ids.index(self.wanted))
            return
        first, last = decided.decisions[0].chosen["sigma"], decided.decisions[-1].chosen["sigma"]
        changed = decided.changed(len(decided.decisions) - 1)
        gain = np.nan_to_num(np.where(changed, first - last, first), nan=-1.0)
        place = int(np.lexsort((gain, changed))[-1])
        rank = (bool(changed[place]), float(gain[place]))
        if rank > self._rank:
            self._rank, self.prompt_id, self.decisions = rank, ids[place], decided.of(place)

    def check(self) -> None:
        """Raise an `InputError` if the wanted prompt never came."""
        if self.wanted is not None and self.decisions is None:
            raise InputError(f"there is no prompt {self.wanted!r}", "see the prompt_id column")


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
        wanted = {"lower_bound": self.bounds, "flip": self.flip, "explanation": self.explain}
        return tuple(name for name, given in wanted.items() if given)

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


class Summary:
    """Averages of each rule's choices over all prompts, and how often each flag was raised."""

    def __init__(self, specs: Sequence[RuleSpec]) -> None:
        self.specs, self.prompts = specs, 0
        self.flags: list[Counter[str]] = [Counter() for _ in specs]
        self.changed = [0] * len(specs)
        self._sums = np.zeros((2, len(specs), len(NUMBERS)))

    def add(self, decided: DecidedBatch) -> None:
        """Count the decisions of a batch."""
        self.specs = decided.specs
        self.prompts += len(decided.batch.prompt_ids)
        for rule, each in enumerate(decided.decisions):
            numbers = np.array([each.chosen[name] for name in NUMBERS])
            self._sums[:, rule] += np.nansum(numbers, axis=1), (~np.isnan(numbers)).sum(axis=1)
            self.changed[rule] += int(decided.changed(rule).sum())
            self.flags[rule] += Counter({name: int(up.sum()) for name, up in each.flags.items()})

    def averages(self, rule: int) -> list[float]:
        """The averages of a rule's `NUMBERS`, NaN where there are none."""
        pairs = zip(*self._sums[:, rule].tolist(), strict=True)
        return [total / known if known else np.nan for total, known in pairs]
