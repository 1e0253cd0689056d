"""Decisions as rows of CSV or JSON lines."""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np

from darc.cli.chosen_opinions import ChosenOpinions, chosen_opinions
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
        wanted = {"lower_bound": self.bounds, "flip": self.flip, "explanation": self.explain}
        return tuple(name for name, is_wanted in wanted.items() if is_wanted)

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
    """Writes one line per prompt and rule, with the chosen candidate's extra columns at the end."""

    def __init__(self, stream: TextIO, extras: Sequence[str], detail: Detail) -> None:
        self._writer = csv.writer(stream, lineterminator="\n")
        self._extras = tuple(extras)
        self._detail = detail
        self._writer.writerow([*COLUMNS, *detail.columns, *self._extras])

    def add(self, decided: DecidedBatch) -> None:
        """Write the decisions of a batch."""
        opinions = [chosen_opinions(decisions) for decisions in decided.decisions]
        for row, prompt_id in enumerate(decided.ratings.prompt_ids):
            for place, method in enumerate(decided.methods):
                decisions = decided.decisions[place]
                index = int(decisions.index[row])
                flags = decisions.flags_of(row)
                cells: list[Any] = [
                    prompt_id,
                    method.text,
                    decided.ratings.candidate_ids[row][index],
                    *(_cell(decisions.chosen[name][row]) for name in NUMBERS),
                    int(decisions.chosen["count"][row]),
                    int(decisions.feasible[row].sum()),
                    " ".join(flags),
                    _cell(_unhappy(opinions[place], row)),
                    _cell(method.caution),
                    "true" if "held" in flags else "false",
                ]
                if self._detail.columns:
                    added = self._detail.of(decisions[row])
                    cells += [_cell(added[name]) for name in self._detail.columns]
                if self._extras:
                    extra_values = decided.ratings.extras(row, index)
                    cells += [extra_values.get(name, "") for name in self._extras]
                self._writer.writerow(cells)


class JsonRows:
    """Writes one JSON object per prompt and rule, one per line."""

    def __init__(self, stream: TextIO, extras: Sequence[str], detail: Detail) -> None:
        self._stream = stream
        self._extras = extras
        self._detail = detail

    def add(self, decided: DecidedBatch) -> None:
        """Write the decisions of a batch."""
        opinions = [chosen_opinions(decisions) for decisions in decided.decisions]
        for row, prompt_id in enumerate(decided.ratings.prompt_ids):
            for place, method in enumerate(decided.methods):
                decision = decided.decisions[place][row]
                data = {
                    "prompt_id": prompt_id,
                    "label": method.text,
                    **decision.to_dict(),
                    "unhappy": _unhappy(opinions[place], row),
                    "caution": method.caution,
                    "held": decision.held,
                }
                data.update(self._detail.of(decision))
                if self._extras:
                    data["extra"] = decided.ratings.extras(row, decision.index)
                self._stream.write(json.dumps(data, ensure_ascii=False) + "\n")


def _unhappy(opinions: ChosenOpinions | None, row: int) -> int | None:
    """How many people are unhappy with a choice, None where that cannot be said."""
    if opinions is None or not opinions.known_scale:
        return None
    return int(opinions.unhappy[row])


def _cell(value: Any) -> Any:
    """A value as the cell of a CSV file."""
    if value is None:
        return ""
    if isinstance(value, float | np.floating):
        if np.isnan(value):
            return ""
        return f"{value:.12g}"
    if isinstance(value, dict | list):
        return json.dumps(value)
    return value
