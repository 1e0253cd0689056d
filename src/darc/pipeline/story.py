"""The whole story of one decision: answers, rewrites, scores, choice."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from darc.selection.decision import Decision
from darc.types import Candidate, Prompt, Rejection, Variant

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Story:
    """One prompt's candidates with their variants, and what each scorer gave them.

    `scores` is (M, K, n): the original first, then the variants; NaN where there is none or where
    it was never looked at. `milliseconds` is by stage; `calls` counts the texts scored;
    `rewritten` are the candidates whose rewrites were made.
    """

    prompt: Prompt
    candidates: Sequence[Candidate]
    variants: Sequence[Sequence[Variant]]
    rejections: Sequence[Rejection]
    scorers: Sequence[str]
    scores: Array
    decision: Decision
    milliseconds: dict[str, float] = field(default_factory=dict)
    calls: int = 0
    rewritten: frozenset[int] = frozenset()

    @property
    def most(self) -> int:
        """How many texts there were to score, at most."""
        candidates, places = self.scores.shape[1:]
        return candidates * (places - int(np.isnan(self.scores[:, :, 0]).all()))

    @property
    def answer(self) -> str:
        """The chosen answer."""
        return self.candidates[self.decision.index].text

    def why_not(self, index: int) -> str:
        """Why a candidate was not chosen, in a few words; empty for the choice."""
        decision = self.decision
        if index == decision.index:
            return ""
        first = int(np.isnan(self.scores[:, :, 0]).all())
        few = len(self.variants[index]) + 1 - first < max(1.0, decision.statistics.count.max() / 2)
        if few and index in self.rewritten:
            return "too few rewrites"
        if decision.bounded is not None and decision.bounded[index]:
            return "ruled out early"
        statistics = decision.statistics
        if not decision.feasible[index]:
            gap = np.nanmax(statistics.value) - statistics.value[index]
            return f"value {gap:.2f} below the best"
        if statistics.sigma[index] > statistics.sigma[decision.index]:
            return "higher sigma"
        return "ranked lower"
