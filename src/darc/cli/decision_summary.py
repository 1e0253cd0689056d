"""Averages of the choices of each rule over all prompts."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from darc.cli.decision_rows import NUMBERS
from darc.decide.chosen_opinions import chosen_opinions, is_below_best_mean
from darc.decide.method import Method
from darc.ratings.decisions import DecidedBatch


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
        self._sums = np.zeros((len(methods), len(NUMBERS)))
        self._counts = np.zeros((len(methods), len(NUMBERS)))
        self._unhappy = [0] * len(methods)
        self._ratings = [0] * len(methods)

    def add(self, decided: DecidedBatch) -> None:
        """Count the decisions of a batch."""
        self.methods = decided.methods
        self.prompts += len(decided.ratings.prompt_ids)
        for rule, decisions in enumerate(decided.decisions):
            numbers = np.array([decisions.chosen[name] for name in NUMBERS])
            self._sums[rule] += np.nansum(numbers, axis=1)
            self._counts[rule] += (~np.isnan(numbers)).sum(axis=1)
            self.changed[rule] += int(decided.changed(rule).sum())
            self.below_best_mean[rule] += int(is_below_best_mean(decisions).sum())
            opinions = chosen_opinions(decisions)
            if opinions is not None:
                self.known_scale = opinions.known_scale
                self._unhappy[rule] += int(opinions.unhappy.sum())
                self._ratings[rule] += int(opinions.ratings.sum())
            for name, raised in decisions.flags.items():
                self.flags[rule][name] += int(raised.sum())

    def averages(self, rule: int) -> list[float]:
        """The averages of a rule's `NUMBERS`, NaN where there are none."""
        with np.errstate(invalid="ignore"):
            averages = self._sums[rule] / self._counts[rule]
        return [float(average) for average in averages]

    def unhappy_share(self, rule: int) -> float:
        """The share of unhappy ratings among those of a rule's choices, NaN without any."""
        if not self._ratings[rule]:
            return float("nan")
        return self._unhappy[rule] / self._ratings[rule]
