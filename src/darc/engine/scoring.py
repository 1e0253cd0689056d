"""Asks scorers for scores: in full batches, checked, retried, and never twice for the same text."""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from darc.engine.batcher import Batcher
from darc.engine.cost import CallCounts
from darc.engine.failures import JobTimedOut, error_text
from darc.engine.scheduling import FairScheduler
from darc.engine.score_cache import ScoreCache, score_keys
from darc.engine.threads import run_in_thread
from darc.engine.workers import Workers
from darc.errors import DarcError, InputError, MissingExtra
from darc.parts.ready import ReadyScorer
from darc.parts.scorers.base import Pair
from darc.parts.scorers.list_judge import ListJudge
from darc.types import Prompt
from darc.typing import Array

logger = logging.getLogger(__name__)

_RESUME_HINT = "correct the cause and run again: what is written stays"
# Batches of long texts are bounded so that they do not keep everybody else waiting.
_MAX_CHARACTERS_IN_PROCESS = 10_000
_MAX_CHARACTERS = 30_000
_LONGEST_QUOTE = 60


@dataclass(frozen=True)
class ScorerRetry:
    """How often and how long a local scorer is asked for the same texts.

    A remote scorer is asked once, because its client has a retry policy of its own.
    """

    #: How many calls are made, including the first.
    attempts: int = 3
    #: How long one call may take, in seconds; this holds for remote scorers and rewriters too.
    seconds: float = 600.0
    #: How long to wait before the second attempt, in seconds; each later wait is four times longer.
    wait: float = 1.0
    #: Waits so many seconds.
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class ScoreRunner:
    """Scores texts with the scorers of an engine, using cached scores where there are any.

    Args:
        scorers: The scorers; they are addressed by their places.
        workers: Runs the scorers that are made for worker processes.
        cache: Scores of earlier runs, None to compute everything.
        retry: How often and how long scorers are asked.
    """

    def __init__(
        self,
        scorers: Sequence[ReadyScorer],
        workers: Workers,
        cache: ScoreCache | None = None,
        retry: ScorerRetry | None = None,
    ) -> None:
        self._scorers = scorers
        self._workers = workers
        self._cache = cache
        self._retry = retry or ScorerRetry()
        #: How long one call may take, in seconds.
        self.seconds = self._retry.seconds
        self._batchers: dict[int, Batcher[Pair, float]] = {}
        for place, scorer in enumerate(scorers):
            # A remote scorer that makes one call per text anyway gains nothing from batches.
            if scorer.batch_size > 1 or not scorer.remote:
                self._batchers[place] = self._make_batcher(place, scorer)

    async def score_texts(
        self,
        place: int,
        prompt: Prompt,
        texts: Sequence[str],
        owner: Hashable,
        counts: CallCounts,
    ) -> Array:
        """Score each text with one scorer.

        Args:
            place: The place of the scorer.
            prompt: The conversation that the texts answer.
            texts: The texts to score.
            owner: The request this belongs to; owners take turns.
            counts: Updated with how many texts were scored and how many came from the cache.

        Returns:
            Scores of shape (texts,), or (texts, criteria) if the scorer has several criteria.

        Raises:
            DarcError: If the scorer fails at every attempt.
        """
        scorer = self._scorers[place]
        keys = self._cache_keys(scorer, prompt, texts)
        scores = self._read_cache(keys, (len(texts), max(1, len(scorer.criteria))))
        missing = np.flatnonzero(np.isnan(scores).any(axis=1)).tolist()
        if missing:
            pairs = [(prompt, texts[i]) for i in missing]
            new_scores = await self._ask_scorer(place, pairs, owner)
            scores[missing] = np.reshape(new_scores, (len(missing), scores.shape[1]))
            self._write_cache([keys[i] for i in missing] if keys else [], scores[missing])
        counts.scored += len(missing)
        counts.from_cache += len(texts) - len(missing)
        if scorer.criteria:
            return scores
        return scores[:, 0]

    async def grade_list(
        self,
        place: int,
        prompt: Prompt,
        texts: Sequence[str],
        counts: CallCounts,
        *,
        retry: bool = True,
        unreadable_reply: str | None = None,
    ) -> Array:
        """Let a judge grade several texts in one call.

        Args:
            place: The place of the judge.
            prompt: The conversation that the texts answer.
            texts: The texts to grade, which the judge sees side by side.
            counts: Updated with how many texts were graded and how many came from the cache.
            retry: Whether a failing call may be tried again.
            unreadable_reply: What the judge replied before, where it is asked again.

        Returns:
            Grades of shape (texts, criteria), with one column if there are no criteria.

        Raises:
            DarcError: If the judge fails.
        """
        scorer = self._scorers[place]
        judge = scorer.part
        assert isinstance(judge, ListJudge)
        keys = self._cache_keys(scorer, prompt, texts, context="\0".join(texts))
        shape = (len(texts), max(1, len(scorer.criteria)))
        grades = self._read_cache(keys, shape)
        if not np.isnan(grades).any():
            counts.from_cache += len(texts)
            return grades
        seconds = self._retry.seconds
        try:
            if scorer.remote:
                call = judge.grade_list_async(
                    prompt, texts, unreadable_reply=unreadable_reply, retry=retry
                )
                grades = await asyncio.wait_for(call, seconds)
            else:
                grade_list = partial(judge.grade_list, unreadable_reply=unreadable_reply)
                grades = await run_in_thread(grade_list, prompt, texts, seconds=seconds)
        except (TimeoutError, JobTimedOut):
            source = f"scorer {scorer.name!r}, prompt {prompt.id!r}"
            raise JobTimedOut(f"{source}: no answer within {seconds:g} s", _RESUME_HINT) from None
        self._write_cache(keys, grades)
        counts.scored += len(texts)
        return grades

    async def aclose(self) -> None:
        """Cancel the calls that are running."""
        for batcher in self._batchers.values():
            await batcher.aclose()

    def _make_batcher(self, place: int, scorer: ReadyScorer) -> Batcher[Pair, float]:
        if scorer.in_process:
            scheduler = self._workers.scheduler
            max_characters = _MAX_CHARACTERS_IN_PROCESS
        else:
            scheduler = FairScheduler(scorer.parallel)
            max_characters = _MAX_CHARACTERS
        return Batcher(
            partial(self._call_with_retries, place),
            max_items=scorer.batch_size,
            scheduler=scheduler,
            item_weight=lambda pair: len(pair[1]),
            max_weight=max_characters,
            cancellable=scorer.remote or scorer.in_process,
        )

    def _cache_keys(
        self, scorer: ReadyScorer, prompt: Prompt, texts: Sequence[str], context: str = ""
    ) -> list[tuple[bytes, ...]]:
        """The cache keys of each text, one per criterion; empty where nothing can be cached.

        The context is what the scores depend on besides the text itself.
        """
        if self._cache is None or not scorer.version:
            return []
        version = scorer.version
        if context:
            version = f"{version} {hashlib.sha256(context.encode()).hexdigest()}"
        names = [f"{scorer.name} {criterion}" for criterion in scorer.criteria] or [scorer.name]
        columns = [score_keys(name, version, prompt, texts) for name in names]
        return list(zip(*columns, strict=True))

    def _read_cache(self, keys: Sequence[Sequence[bytes]], shape: tuple[int, int]) -> Array:
        """The cached scores (texts, criteria), NaN where there is none."""
        scores = np.full(shape, np.nan)
        if self._cache is None or not keys:
            return scores
        cached_scores = self._cache.read([key for row in keys for key in row])
        scores[:] = [[cached_scores.get(key, np.nan) for key in row] for row in keys]
        return scores

    def _write_cache(self, keys: Sequence[Sequence[bytes]], scores: Array) -> None:
        if self._cache is None or not keys:
            return
        flat_keys = [key for row in keys for key in row]
        self._cache.write(dict(zip(flat_keys, scores.ravel().tolist(), strict=True)))

    async def _ask_scorer(
        self, place: int, pairs: Sequence[Pair], owner: Hashable
    ) -> Array | list[float]:
        batcher = self._batchers.get(place)
        if batcher is None:
            return await self._call_once(place, pairs)
        return await batcher.process(pairs, owner)

    async def _call_with_retries(self, place: int, pairs: list[Pair]) -> Array:
        """Call a scorer; a local one that fails is called again.

        The error after the last attempt names the scorer and the text that it fails on. A mistake
        of the user's is not tried again.
        """
        attempts = self._retry.attempts
        if self._scorers[place].remote:
            attempts = 1
        attempt = 1
        while True:
            try:
                return await self._call_once(place, pairs)
            except DarcError as problem:
                if attempts == 1 or isinstance(problem, InputError | MissingExtra):
                    raise
                if attempt == attempts:
                    raise await self._narrow_error(place, pairs, problem) from problem
                logger.warning("%s; trying again (%d of %d)", problem, attempt, attempts)
            await self._retry.sleep(self._retry.wait * 4 ** (attempt - 1))
            attempt += 1

    async def _call_once(self, place: int, pairs: Sequence[Pair]) -> Array:
        """Call a scorer once, and check what it returns."""
        scorer = self._scorers[place]
        seconds = self._retry.seconds
        source = f"scorer {scorer.name!r}, prompt {pairs[0][0].id!r}"
        try:
            if scorer.remote:
                answer = await asyncio.wait_for(scorer.score_async(pairs), seconds)
            elif scorer.in_process:
                # The batcher holds a slot of the workers' scheduler.
                answer = await self._workers.call("score", place, list(pairs), seconds=seconds)
            else:
                answer = await run_in_thread(scorer.score, pairs, seconds=seconds)
        except (TimeoutError, JobTimedOut):
            raise JobTimedOut(f"{source}: no answer within {seconds:g} s", _RESUME_HINT) from None
        except DarcError:
            raise
        except Exception as problem:
            raise DarcError(
                f"{source}: it failed ({error_text(problem)})", _RESUME_HINT
            ) from problem
        return _checked_scores(source, answer, pairs, len(scorer.criteria))

    async def _narrow_error(
        self, place: int, pairs: Sequence[Pair], problem: DarcError
    ) -> DarcError:
        """The same error with the text that causes it, where a single text does."""
        if len(pairs) == 1 or isinstance(problem, JobTimedOut):
            return problem
        for pair in pairs:
            try:
                await self._call_once(place, [pair])
            except DarcError as narrow_problem:
                message = narrow_problem.message
                quote = _quote(pair[1])
                if quote not in message:
                    message = f"{message}, text {quote}"
                return DarcError(message, _RESUME_HINT)
        return problem


def _checked_scores(source: str, answer: object, pairs: Sequence[Pair], criteria: int) -> Array:
    """What a scorer returned, as finite numbers (pairs,) or (pairs, criteria)."""
    try:
        scores = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise DarcError(f"{source}: it returned no numbers", "return one per text") from None
    shape: tuple[int, ...] = (len(pairs),)
    if criteria:
        shape = (len(pairs), criteria)
    if scores.shape != shape:
        raise DarcError(
            f"{source}: it returned an array of shape {scores.shape} for {len(pairs)} texts",
            "a scorer returns one number per text",
        )
    is_finite = np.isfinite(scores.reshape(len(pairs), -1)).all(axis=1)
    if not is_finite.all():
        _, text = pairs[int(np.argmin(is_finite))]
        raise DarcError(
            f"{source}: it gave no number for the text {_quote(text)}",
            "a scorer returns finite numbers",
        )
    return scores


def _quote(text: str) -> str:
    """The beginning of a text, in quotation marks."""
    if len(text) > _LONGEST_QUOTE:
        text = text[: _LONGEST_QUOTE - 3] + "..."
    return repr(text)
