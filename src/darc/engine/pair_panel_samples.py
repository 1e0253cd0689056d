"""The samples of a panel whose raters compare pairs of answers."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.decide.statistics.pairwise import bradley_terry
from darc.engine.failures import OutOfCalls, PartFailed, error_text
from darc.engine.panel_samples import PanelSamples
from darc.engine.samples import SamplePlace
from darc.errors import DarcError, InputError, MissingExtra
from darc.models.remote.errors import OverLimit
from darc.parts.scorers.grades import MAX_GRADE
from darc.parts.scorers.pair_judge import PairJudge, pairs_to_compare
from darc.typing import Array

logger = logging.getLogger(__name__)

_CALLS_PER_PAIR = 2


@dataclass(frozen=True)
class _Comparison:
    judge: int
    left: int
    right: int


@dataclass(kw_only=True)
class PairPanelSamples(PanelSamples):
    """What n raters think of the candidates (1, K, n), from comparisons.

    A rater's comparisons become Bradley-Terry scores s with sum zero, and the sample is
    10 / (1 + exp(-s)): 5 for an answer that wins as often as it loses.
    """

    #: Whether every failing call is tried again as often as the client does.
    patient: bool = False

    async def fill(self, places: Sequence[SamplePlace]) -> None:
        """Let raters compare candidates, those of whom something is not known yet.

        Args:
            places: The places of the candidate and of the rater.

        Raises:
            PartFailed: If the panel as a whole has failed.
            OutOfCalls: If `max_calls` does not allow all of them.
        """
        judges = sorted({judge for judge, _ in self._missing_grades(places)})
        candidates = sorted({k for k, _ in places})
        texts = [self.candidates[k].text for k in candidates]
        comparisons = [
            _Comparison(judge, left, right)
            for judge in judges
            for left, right in pairs_to_compare(len(texts), judge)
        ]
        affordable = comparisons
        if self.max_calls is not None:
            room = max(0, self.max_calls - self.counts.calls) // _CALLS_PER_PAIR
            affordable = comparisons[:room]
        self.counts.calls += _CALLS_PER_PAIR * len(affordable)
        try:
            problem = await self._compare(affordable, texts, judges)
        finally:
            self._update_values()
        if problem is None and self.failures and self._panel_failed():
            problem = next(iter(self.failures.values()))
        if problem is not None:
            raise PartFailed({0: problem}, ["the panel"])
        if len(affordable) < len(comparisons):
            raise OutOfCalls

    async def _compare(
        self, comparisons: Sequence[_Comparison], texts: Sequence[str], judges: Sequence[int]
    ) -> Exception | None:
        """Make comparisons, and note what they say; the first error that ends it all."""
        with self.stage("score"):
            calls = [self._ask_for_winner(comparison, texts) for comparison in comparisons]
            results = await asyncio.gather(*calls, return_exceptions=True)
        outcomes: dict[_Comparison, float] = {}
        failures: dict[int, Exception] = {}
        for comparison, result in zip(comparisons, results, strict=True):
            if isinstance(result, OverLimit | InputError | MissingExtra):
                return result
            if isinstance(result, Exception):
                logger.info("a comparison is missing: %s", error_text(result))
                failures.setdefault(comparison.judge, result)
            elif isinstance(result, BaseException):
                raise result
            else:
                outcomes[comparison] = result
        self.counts.scored += len(outcomes)
        for judge in judges:
            own_outcomes = {key: value for key, value in outcomes.items() if key.judge == judge}
            scores = _scores_of(own_outcomes, len(texts))
            for text, score in zip(texts, scores, strict=True):
                if not np.isnan(score):
                    self.scores_by_text[judge][text] = np.array([score])
                elif judge in failures:
                    self.failures[judge, text] = failures[judge]
        return None

    async def _ask_for_winner(self, comparison: _Comparison, texts: Sequence[str]) -> float:
        judge = self.tools.scorers[comparison.judge].part
        assert isinstance(judge, PairJudge)
        left = texts[comparison.left]
        right = texts[comparison.right]
        call = judge.prefer_left(self.prompt, left, right, retry=self.patient)
        try:
            return await asyncio.wait_for(call, self.scoring.seconds)
        except TimeoutError:
            raise DarcError(f"{judge.name}: no answer in time", "raise the time limit") from None


def _scores_of(outcomes: dict[_Comparison, float], candidates: int) -> Array:
    """A rater's scores (K,) from comparisons, from 0 to 10; NaN of what was not compared."""
    if not outcomes:
        return np.full(candidates, np.nan)
    strengths = bradley_terry(
        [comparison.left for comparison in outcomes],
        [comparison.right for comparison in outcomes],
        None,
        list(outcomes.values()),
        candidates=candidates,
    )[:, 0]
    return np.asarray(MAX_GRADE / (1.0 + np.exp(-strengths)))
