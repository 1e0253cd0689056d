"""Decisions as rows of CSV or JSON lines."""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np

from darc.decide.chosen_opinions import ChosenOpinions, chosen_opinions
from darc.decide.decision import Decision
from darc.ratings.decisions import DecidedBatch

NUMBERS = ("value", "mean", "sigma", "risk_premium")
COLUMNS = (
    "prompt_id",
    "rule",
    "candidate_id",
    *NUMBERS,
    "samples",
    "feasible",
    "flags",
    "unhappy",
    "caution",
    "held",
)


@dataclass(frozen=True)
class Detail:
    """What to add to each decision."""

    #: Whether to add the explanation.
    explain: bool = False
    #: The ends of the scale, to add a lower confidence bound on the mean of the choice.
    bounds: tuple[float, float] | None = None
    #: The failure probability of that bound.
    delta: float = 0.05
    #: Whether to add the smallest change of one rating that would change the choice.
    flip: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the added columns."""
        names = []
        if self.bounds is not None:
            names.append("lower_bound")
        if self.flip:
            names.append("flip")
        if self.explain:
            names.append("explanation")
        return tuple(names)

    def of(self, decision: Decision) -> dict[str, Any]:
        """The added columns of one decision."""
        values: dict[str, Any] = {}
        if self.bounds is not None:
            values["lower_bound"] = _lower_bound(decision, self.bounds, self.delta)
        if self.flip:
            change = decision.flip(self.bounds)
            values["flip"] = None
            if change is not None:
                values["flip"] = vars(change)
        if self.explain:
            values["explanation"] = decision.explain()
        return values


def _lower_bound(
    decision: Decision, bounds: tuple[float, float], delta: float
) -> float | list[float] | None:
    """A lower bound on the mean of the choice; a list with one per scorer if there are several.

    None for rewrites and panels of judges, which are not independent raters.
    """
    lower_bounds = decision.certificate(bounds, delta).lower_bound
    if lower_bounds is None:
        return None
    if len(lower_bounds) == 1:
        return lower_bounds[0]
    return list(lower_bounds)


class CsvRows:
    """Writes one line per prompt and rule, with the chosen candidate's extra columns at the end."""

    def __init__(self, stream: TextIO, extras: Sequence[str], detail: Detail) -> None:
        self._writer = csv.writer(stream, lineterminator="\n")
        self._extras = tuple(extras)
        self._detail = detail
        self._writer.writerow([*COLUMNS, *detail.columns, *self._extras])

    def add(self, decided: DecidedBatch) -> None:
        """Write the decisions of a batch."""
        opinions = [chosen_opinions(decisions) for decisions in decided.decisions]
        for prompt in range(len(decided.ratings.prompt_ids)):
            for rule in range(len(decided.methods)):
                cells = self._decision_cells(decided, opinions[rule], rule, prompt)
                decisions = decided.decisions[rule]
                if self._detail.columns:
                    details = self._detail.of(decisions[prompt])
                    cells += [_cell(details[name]) for name in self._detail.columns]
                if self._extras:
                    extras = decided.ratings.extras(prompt, int(decisions.index[prompt]))
                    cells += [extras.get(name, "") for name in self._extras]
                self._writer.writerow(cells)

    @staticmethod
    def _decision_cells(
        decided: DecidedBatch, opinions: ChosenOpinions | None, rule: int, prompt: int
    ) -> list[Any]:
        """The cells of `COLUMNS` for one rule and prompt."""
        decisions = decided.decisions[rule]
        method = decided.methods[rule]
        flags = decisions.flags_of(prompt)
        return [
            decided.ratings.prompt_ids[prompt],
            method.text,
            decided.ratings.candidate_ids[prompt][int(decisions.index[prompt])],
            *(_cell(decisions.chosen[name][prompt]) for name in NUMBERS),
            int(decisions.chosen["count"][prompt]),
            int(decisions.feasible[prompt].sum()),
            " ".join(flags),
            _cell(_unhappy(opinions, prompt)),
            _cell(method.caution),
            _cell("held" in flags),
        ]


class JsonRows:
    """Writes one JSON object per prompt and rule, one per line."""

    def __init__(self, stream: TextIO, extras: Sequence[str], detail: Detail) -> None:
        self._stream = stream
        self._extras = extras
        self._detail = detail

    def add(self, decided: DecidedBatch) -> None:
        """Write the decisions of a batch."""
        opinions = [chosen_opinions(decisions) for decisions in decided.decisions]
        for prompt, prompt_id in enumerate(decided.ratings.prompt_ids):
            for rule, method in enumerate(decided.methods):
                decision = decided.decisions[rule][prompt]
                data = {
                    "prompt_id": prompt_id,
                    "label": method.text,
                    **decision.to_dict(),
                    "unhappy": _unhappy(opinions[rule], prompt),
                    "caution": method.caution,
                    "held": decision.held,
                }
                data.update(self._detail.of(decision))
                if self._extras:
                    data["extra"] = decided.ratings.extras(prompt, decision.index)
                self._stream.write(json.dumps(data, ensure_ascii=False) + "\n")


def _unhappy(opinions: ChosenOpinions | None, prompt: int) -> int | None:
    """How many people are unhappy with a choice, None where that cannot be said."""
    if opinions is None or not opinions.known_scale:
        return None
    return int(opinions.unhappy[prompt])


def _cell(value: Any) -> Any:
    """A value as the cell of a CSV file."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float | np.floating):
        if np.isnan(value):
            return ""
        return f"{value:.12g}"
    if isinstance(value, dict | list):
        return json.dumps(value)
    return value
