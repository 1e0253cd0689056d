"""Decisions as rows of a file and as a summary, and the one prompt that is worth a picture."""

import csv
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np

from darc.decide.decision import Decision, Decisions
from darc.decide.method import Method
from darc.errors import InputError
from darc.ratings.decisions import DecidedBatch
from darc.typing import Array, Integers, Mask


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
        ids = decided.ratings.prompt_ids
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
COLUMNS = (
    *("prompt_id", "rule", "candidate_id", *NUMBERS, "samples", "feasible", "flags"),
    *("unhappy", "caution", "held"),
)
# A mean that is lower by less than this share of it is as high.
TIE_SHARE = 1e-9


@dataclass(frozen=True, eq=False)
class ChosenOpinions:
    """What people think of the choice for each prompt of a batch, (P,) each.

    Attributes:
        unhappy: How many people are unhappy with it, or rate it clearly lower.
        ratings: How many ratings it has.
        known_scale: Whether "unhappy" may be said, see `Opinions.known_scale`.
    """

    unhappy: Integers
    ratings: Integers
    known_scale: bool


def chosen_opinions(decisions: Decisions) -> ChosenOpinions | None:
    """The opinions about the choices of a batch, as `Decision.opinions` has them for one prompt.

    Returns:
        None for scores of rewrites or of several scorers, which are not opinions of people.
    """
    pools = decisions.pools
    if pools.about_wording or pools.shape[1] != 1:
        return None
    ratings = pools.samples[:, 0]
    limit = pools.standards.unhappy_below
    limits = _clearly_lower(ratings) if limit is None else np.full(len(ratings), limit)
    chosen = ratings[np.arange(len(ratings)), decisions.index]
    return ChosenOpinions(
        unhappy=(chosen < limits[:, None]).sum(axis=-1),
        ratings=(~np.isnan(chosen)).sum(axis=-1),
        known_scale=limit is not None,
    )


def _clearly_lower(ratings: Array) -> Array:
    """One pooled within-candidate deviation below the average of a prompt's ratings, (P,)."""
    count = (~np.isnan(ratings)).sum(axis=-1, keepdims=True)
    mean = np.nansum(ratings, axis=-1, keepdims=True) / np.maximum(count, 1)
    squares = np.nansum((ratings - mean) ** 2, axis=(1, 2))
    degrees = np.maximum(count - 1, 0).sum(axis=(1, 2))
    average = np.nansum(ratings, axis=(1, 2)) / np.maximum(count.sum(axis=(1, 2)), 1)
    return np.asarray(average - np.sqrt(squares / np.maximum(degrees, 1)))


def is_below_best_mean(decisions: Decisions) -> Mask:
    """Where another candidate than the one with the highest average was chosen, (P,)."""
    best = np.nanmax(decisions.statistics.mean, axis=1)
    slack = TIE_SHARE * (1 + np.abs(best))
    return np.asarray(decisions.chosen["mean"] < best - slack)


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
        opinions = [chosen_opinions(decisions) for decisions in decided.decisions]
        for row, prompt_id in enumerate(decided.ratings.prompt_ids):
            for place, method in enumerate(decided.methods):
                each = decided.decisions[place]
                index = int(each.index[row])
                flags = each.flags_of(row)
                cells: list[Any] = [
                    prompt_id,
                    method.text,
                    decided.ratings.candidate_ids[row][index],
                    *(_cell(each.chosen[name][row]) for name in NUMBERS),
                    int(each.chosen["count"][row]),
                    int(each.feasible[row].sum()),
                    " ".join(flags),
                    _cell(_unhappy(opinions[place], row)),
                    _cell(method.caution),
                    "true" if "held" in flags else "false",
                ]
                if self._detail.columns:
                    added = self._detail.of(each[row])
                    cells += [_cell(added[name]) for name in self._detail.columns]
                if self._extras:
                    kept = decided.ratings.extras(row, index)
                    cells += [kept.get(name, "") for name in self._extras]
                self._writer.writerow(cells)


class JsonRows:
    """Writes one JSON object a line for each prompt and rule."""

    def __init__(self, stream: TextIO, extras: Sequence[str], detail: Detail) -> None:
        self._stream, self._extras, self._detail = stream, extras, detail

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
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.12g}"
    return json.dumps(value) if isinstance(value, dict | list) else ("" if value is None else value)


class Summary:
    """Averages of each rule's choices over all prompts, and how often each flag was raised.

    Attributes:
        methods: The methods.
        prompts: How many prompts were decided.
        flags: For each rule, on how many prompts each flag was raised.
        changed: For each rule, on how many prompts it chose another candidate than the first rule.
        below_best_mean: For each rule, on how many prompts it chose another candidate than the one
            with the highest average.
        known_scale: Whether "unhappy" may be said; None for scores that are not people's.
    """

    def __init__(self, methods: Sequence[Method]) -> None:
        self.methods = methods
        self.prompts = 0
        self.flags: list[Counter[str]] = [Counter() for _ in methods]
        self.changed = [0] * len(methods)
        self.below_best_mean = [0] * len(methods)
        self.known_scale: bool | None = None
        self._sums = np.zeros((2, len(methods), len(NUMBERS)))
        self._unhappy = [0] * len(methods)
        self._ratings = [0] * len(methods)

    def add(self, decided: DecidedBatch) -> None:
        """Count the decisions of a batch."""
        self.methods = decided.methods
        self.prompts += len(decided.ratings.prompt_ids)
        for rule, each in enumerate(decided.decisions):
            numbers = np.array([each.chosen[name] for name in NUMBERS])
            self._sums[:, rule] += np.nansum(numbers, axis=1), (~np.isnan(numbers)).sum(axis=1)
            self.changed[rule] += int(decided.changed(rule).sum())
            self.below_best_mean[rule] += int(is_below_best_mean(each).sum())
            opinions = chosen_opinions(each)
            if opinions is not None:
                self.known_scale = opinions.known_scale
                self._unhappy[rule] += int(opinions.unhappy.sum())
                self._ratings[rule] += int(opinions.ratings.sum())
            self.flags[rule] += Counter({name: int(up.sum()) for name, up in each.flags.items()})

    def averages(self, rule: int) -> list[float]:
        """The averages of a rule's `NUMBERS`, NaN where there are none."""
        pairs = zip(*self._sums[:, rule].tolist(), strict=True)
        return [total / known if known else np.nan for total, known in pairs]

    def unhappy_share(self, rule: int) -> float:
        """The share of unhappy ratings among those of a rule's choices, NaN without any."""
        if not self._ratings[rule]:
            return float("nan")
        return self._unhappy[rule] / self._ratings[rule]
