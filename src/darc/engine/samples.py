"""The samples of one prompt's candidates: the originals and their rewrites, scored on demand."""

import asyncio
import logging
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from darc.engine.cost import CallCounts, Clock
from darc.engine.failures import REWRITER, OutOfCalls, PartFailed, error_text
from darc.engine.rewriting import RewriteRunner
from darc.engine.scoring import ScoreRunner
from darc.engine.tools import Tools
from darc.models.remote.errors import OverLimit
from darc.models.remote.meter import CURRENT_METER, Meter
from darc.parts.rewriters import Rewrites
from darc.types import Candidate, CutOff, Prompt, Scores, Written
from darc.typing import Array

logger = logging.getLogger(__name__)

#: The places of a candidate and of one of its samples.
SamplePlace = tuple[int, int]


@dataclass(kw_only=True)
class Samples:
    """The scores (M, K, n) of one prompt's candidates, as far as they are known.

    Sample 0 of a candidate is the original and sample i its rewrite i. A candidate is rewritten
    when the first of its rewrites is needed. Equal texts are scored once. With
    `dataclasses.replace` the same knowledge serves other candidates.
    """

    #: Describes the scorers, and makes rewrites and scores through the two runners.
    tools: Tools
    rewriting: RewriteRunner
    scoring: ScoreRunner
    prompt: Prompt
    candidates: Sequence[Candidate] = ()
    #: How many rewrites of each candidate are wanted.
    n_aug: int = 0
    #: The request that calls are made for; owners take turns.
    owner: Hashable = None
    #: How many texts may be scored; None for any number.
    max_calls: int | None = None
    #: The place of the first sample that counts: 1 where the originals do not.
    first_sample: int = 0
    #: The rewrites of each candidate that has been rewritten.
    rewrites: dict[int, Rewrites] = field(default_factory=dict)
    clock: Clock = field(default_factory=Clock)
    counts: CallCounts = field(default_factory=CallCounts)
    #: Count the remote calls of the stages "rewrite" and "score".
    meters: Mapping[str, Meter] = field(default_factory=dict)
    #: For each scorer, its scores by text.
    scores_by_text: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin with no scores."""
        #: Whether a part that fails fails the whole decision.
        self.fails_as_a_whole = False
        self._empty = self.tools.empty_scores(self.candidates, self.n_aug)
        self.values = self._empty.values
        #: The places of the scorers that have not failed.
        self.active_scorers = list(range(len(self.values)))
        if not self.scores_by_text:
            self.scores_by_text = [{} for _ in self.tools.scorers]

    @property
    def scores(self) -> Scores:
        """The scores so far, of all scorers."""
        return replace(self._empty, values=self.values, complete=self.complete)

    @property
    def complete(self) -> bool:
        """Whether every sample that exists has all its scores."""
        for k in range(len(self.candidates)):
            rewrites = self.rewrites.get(k)
            if rewrites is None and self.n_aug:
                return False
            n_samples = 1
            if rewrites is not None:
                n_samples += len(rewrites.variants)
            if np.isnan(self.values[:, k, self.first_sample : n_samples]).any():
                return False
        return True

    def restore(self, scores: Scores) -> None:
        """Take over scores of an earlier run of the same candidates."""
        self.values[:] = scores.values
        for m, scores_by_text in enumerate(self.scores_by_text):
            for k, i in np.argwhere(~np.isnan(scores.values[m])).tolist():
                text = self._text((k, i))
                if text is not None:
                    scores_by_text[text] = float(scores.values[m, k, i])

    def first_scores(self, candidates: Sequence[Candidate]) -> Array:
        """The scores of some candidates' first samples.

        Args:
            candidates: Any candidates, not only those of these samples.

        Returns:
            Scores (M, candidates), NaN where there is none.
        """
        rows = []
        for scores_by_text in self.scores_by_text:
            row = [scores_by_text.get(candidate.text, np.nan) for candidate in candidates]
            rows.append(row)
        return np.array(rows)

    def share_scores(self, text: str, copy: str) -> None:
        """Take over the scores of a text for a copy of it."""
        for scores_by_text in self.scores_by_text:
            if text in scores_by_text:
                scores_by_text.setdefault(copy, scores_by_text[text])

    def drop_rewrites(self) -> None:
        """Go on with the originals alone."""
        self.n_aug = 0
        self.first_sample = 0
        self.values = self.values[:, :, :1]
        self._empty = self.tools.empty_scores(self.candidates, 0)

    async def score_all(self, candidates: Sequence[int]) -> None:
        """Score every sample of some candidates, and the originals where there is no rewrite."""
        sample_places = range(self.first_sample, self.values.shape[2])
        await self.fill([(k, i) for i in sample_places for k in candidates])
        await self.score_originals_if_needed(candidates)

    async def score_originals_if_needed(self, candidates: Sequence[int]) -> bool:
        """Score the originals of candidates none of which has a scored sample.

        Returns:
            Whether that was so.
        """
        values = self.values[np.ix_(self.active_scorers, list(candidates))]
        nothing_scored = bool(np.isnan(values).all())
        if nothing_scored and self.first_sample:
            await self.fill([(k, 0) for k in candidates])
        return nothing_scored

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage, and let its meter count the remote calls inside the block."""
        token = None
        if name in self.meters:
            token = CURRENT_METER.set(self.meters[name])
        try:
            with self.clock.stage(name):
                yield
        finally:
            if token is not None:
                CURRENT_METER.reset(token)

    async def rewrite(self, candidates: Sequence[int]) -> None:
        """Rewrite those candidates that are not rewritten yet.

        Args:
            candidates: The places of the candidates.

        Raises:
            PartFailed: If the rewriter fails. Rewrites that succeeded are kept.
        """
        missing = [k for k in dict.fromkeys(candidates) if k not in self.rewrites]
        if not missing:
            return
        if self.n_aug == 0:
            self.rewrites |= {k: Rewrites((), ()) for k in missing}
            return
        calls = [
            self.rewriting.rewrite(self.prompt, self.candidates[k], self.n_aug, self.owner)
            for k in missing
        ]
        with self.stage("rewrite"):
            results = await asyncio.gather(*calls, return_exceptions=True)
        for k, result in zip(missing, results, strict=True):
            if isinstance(result, Rewrites):
                self.rewrites[k] = result
        for result in results:
            if isinstance(result, Exception):
                logger.warning("the rewriter failed: %s", error_text(result))
                raise PartFailed({REWRITER: result}, ["the rewriter"])
            if isinstance(result, BaseException):
                raise result

    async def fill(self, places: Sequence[SamplePlace]) -> None:
        """Make and score samples that are not scored yet.

        Args:
            places: The places of the candidate and of its sample.

        Raises:
            PartFailed: If the rewriter or scorers fail. Scores that succeeded are kept.
            OutOfCalls: If `max_calls` does not allow all of them.
        """
        await self.rewrite([candidate for candidate, sample in places if sample > 0])
        texts: dict[SamplePlace, str] = {}
        for place in places:
            text = self._text(place)
            if text is not None:
                texts[place] = text
        allowed_texts, over_budget = self._texts_to_score(texts.values())
        failures: dict[int, Exception] = {}
        try:
            if allowed_texts:
                failures = await self._score(allowed_texts)
        finally:
            for (k, i), text in texts.items():
                for m in self.active_scorers:
                    self.values[m, k, i] = self.scores_by_text[m].get(text, np.nan)
        if failures:
            raise PartFailed(failures, [f"scorer {self._empty.scorers[m]}" for m in failures])
        if over_budget:
            raise OutOfCalls

    def _texts_to_score(self, texts: Iterable[str]) -> tuple[list[str], bool]:
        """The texts that some scorer has not scored, and whether the budget left some out.

        A text that any scorer has seen is paid for already.
        """
        new_texts = []
        unpaid_texts = []
        for text in dict.fromkeys(texts):
            if any(text not in self.scores_by_text[m] for m in self.active_scorers):
                new_texts.append(text)
                if all(text not in scores_by_text for scores_by_text in self.scores_by_text):
                    unpaid_texts.append(text)
        affordable = len(unpaid_texts)
        if self.max_calls is not None:
            affordable = min(affordable, max(0, self.max_calls - self.counts.calls))
        self.counts.calls += affordable
        dropped_texts = set(unpaid_texts[affordable:])
        allowed_texts = [text for text in new_texts if text not in dropped_texts]
        return allowed_texts, bool(dropped_texts)

    def _text(self, place: SamplePlace) -> str | None:
        """The original (sample 0) or a rewrite that has been made; None where there is none."""
        k, sample = place
        candidate = self.candidates[k]
        text: str
        if sample == 0:
            text = candidate.text
        else:
            rewrites = self.rewrites.get(k)
            if rewrites is None or sample > len(rewrites.variants):
                return None
            text = rewrites.variants[sample - 1].text
        if candidate.truncated:
            text = CutOff(text)
        certainty = candidate.certainty
        if certainty is None:
            certainty = candidate.log_likelihood
        if sample == 0 and certainty is not None:
            if not isinstance(text, Written):
                text = Written(text)
            text.certainty = certainty
        return text

    async def _score(self, texts: Sequence[str]) -> dict[int, Exception]:
        """Ask every active scorer for the scores that it has not given yet.

        Returns:
            The errors of those that failed, by their places.
        """
        failures: dict[int, Exception] = {}
        with self.stage("score"):
            calls = [self._ask_scorer(m, texts, failures) for m in self.active_scorers]
            await asyncio.gather(*calls)
        return dict(sorted(failures.items()))

    async def _ask_scorer(
        self, m: int, texts: Sequence[str], failures: dict[int, Exception]
    ) -> None:
        """Ask one scorer for the scores that it has not given yet, and note its failure."""
        scores_by_text = self.scores_by_text[m]
        missing = [text for text in texts if text not in scores_by_text]
        if not missing:
            return
        batches = [missing]
        meter = CURRENT_METER.get()
        if meter is not None and meter.limited:
            # The limit may end the scoring at any text. Scores that are paid for must not be lost.
            batches = [[text] for text in missing]
        calls = [
            self.scoring.score_texts(m, self.prompt, batch, self.owner, self.counts)
            for batch in batches
        ]
        results = await asyncio.gather(*calls, return_exceptions=True)
        for batch, result in zip(batches, results, strict=True):
            if isinstance(result, Exception):
                name = self._empty.scorers[m]
                logger.debug("scorer %s failed: %s", name, error_text(result))
                if m not in failures or isinstance(result, OverLimit):
                    failures[m] = result
            elif isinstance(result, BaseException):
                raise result
            else:
                scores_by_text.update(zip(batch, result.tolist(), strict=True))
