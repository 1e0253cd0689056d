"""Candidates that are written in waves, and scored as they come, until more are not worth it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from darc.engine.copies import copy_key
from darc.engine.failures import UPSTREAM, OutOfCalls, PartFailed
from darc.engine.flags import BUDGET_MILLISECONDS, STOPPED_EARLY
from darc.engine.samples import Samples
from darc.engine.stopping import Agreement, Stopping, StopRule, rewards_of, worth_another
from darc.models.completion import Report
from darc.parts.generators.base import SamplingParameters
from darc.types import Candidate

#: Starts to write `count` candidates from place `first` on: write_wave(first, count). Each is
#: awaited by itself; None stands for one that could not be written.
WriteWave = Callable[[int, int], Sequence[Awaitable[Candidate | None]]]


@dataclass
class WaveDrawing:
    """Draws up to k candidates in waves.

    After each candidate, in the order of their places and not of their arrival, `stopping` is
    asked whether to go on, so that the same candidates are drawn every time. Candidates that are
    still being written then are cancelled. All k are written where their rewards are not known,
    because a scorer has failed or a text is too long.
    """

    #: Scores the candidates; what it learns stays for the decision.
    samples: Samples
    k: int
    stopping: StopRule
    write_wave: WriteWave
    #: Whether a scorer that fails fails the drawing.
    strict: bool = True
    #: Longer texts are not scored, in characters.
    longest: int | None = None
    #: When to end, by the clock of the event loop.
    deadline: float | None = None
    #: How many different answers are needed at least.
    choices: int = 1
    #: Why the drawing ended before all were written.
    flags: list[str] = field(default_factory=list)
    #: How many candidates were not written.
    saved: int = 0
    _candidates: dict[int, Candidate] = field(default_factory=dict)
    _scoring: "dict[str, asyncio.Task[None]]" = field(default_factory=dict)
    _scored_texts: dict[str, str] = field(default_factory=dict)

    async def candidates(self) -> list[Candidate]:
        """Write and score candidates; those that were worth it, in order."""
        wave_size = self.stopping.wave_size(self.k)
        begun = 0
        ended = 0
        tasks: list[asyncio.Future[Any]] = []
        try:
            async with asyncio.timeout_at(self.deadline):
                while begun < self.k and not self._enough(ended):
                    # Writing gets tasks too, so that it is cancelled even if the task that waits
                    # for it never began.
                    coroutines = self.write_wave(begun, min(wave_size, self.k - begun))
                    writing = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
                    wave = []
                    for i, candidate in enumerate(writing):
                        wave.append(asyncio.ensure_future(self._take(begun + i, candidate)))
                    tasks += [*writing, *wave]
                    begun += len(wave)
                    for task in wave:
                        await task
                        ended += 1
                        if self._enough(ended):
                            break
        except TimeoutError:
            self._add_flag(BUDGET_MILLISECONDS)
            ended = begun
        finally:
            running = [*tasks, *self._scoring.values()]
            for unfinished in running:
                unfinished.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        self.saved = self.k - ended
        return self._first_candidates(ended)

    def _first_candidates(self, count: int) -> list[Candidate]:
        """The candidates at the first places."""
        places = [place for place in sorted(self._candidates) if place < count]
        return [self._candidates[place] for place in places]

    def _enough(self, ended: int) -> bool:
        """Whether to stop after so many candidates."""
        left = self.k - ended
        if self.flags or not left:
            return True
        candidates = self._first_candidates(ended)
        different_texts = {copy_key(candidate.text) for candidate in candidates}
        if len(candidates) < self.stopping.least or len(different_texts) < self.choices:
            return False
        if not self._stops_after(candidates, left):
            return False
        self._add_flag(STOPPED_EARLY)
        return True

    def _stops_after(self, candidates: Sequence[Candidate], left: int) -> bool:
        """Whether the rule stops after some candidates, with so many left to write."""
        rule = self.stopping
        if isinstance(rule, Agreement):
            return rule.is_reached([candidate.text for candidate in candidates])
        assert isinstance(rule, Stopping)
        first_scores = self.samples.first_scores(candidates)
        rewards = rewards_of(replace(self.samples.scores, values=first_scores[:, :, None]))
        wave_size = min(rule.wave_size(self.k), left)
        if np.isnan(rewards).any():
            return False
        return not worth_another(rewards, wave_size, rule.cost)

    def _add_flag(self, flag: str) -> None:
        if flag not in self.flags:
            self.flags.append(flag)

    async def _take(self, place: int, writing: Awaitable[Candidate | None]) -> None:
        """Wait for a candidate, and score it unless a copy of it is being scored."""
        candidate = await writing
        if candidate is None:
            return
        self._candidates[place] = candidate
        if isinstance(self.stopping, Agreement):
            # It looks at the texts alone.
            return
        text = candidate.text
        if self.longest is not None and len(text) > self.longest:
            return
        key = copy_key(text)
        if key not in self._scoring:
            self._scoring[key] = asyncio.ensure_future(self._score(candidate))
            self._scored_texts[key] = text
        await self._scoring[key]
        # A copy may have other white space around it.
        self.samples.share_scores(self._scored_texts[key], text)

    async def _score(self, candidate: Candidate) -> None:
        try:
            await replace(self.samples, candidates=[candidate]).fill([(0, 0)])
        except OutOfCalls as problem:
            self._add_flag(problem.flag)
        except PartFailed as failure:
            if self.strict:
                raise
            if failure.over_limit:
                self._add_flag(UPSTREAM)


class WaveWriter:
    """Writes waves of the candidates that a generator would write all at once anyway.

    Args:
        generate: Writes the candidates that sampling parameters ask for.
        sampling: The sampling parameters of all candidates.
        one_by_one: Whether to ask for each candidate by itself, so that each can be cancelled.
        report: Told how many of all candidates are written.
    """

    def __init__(
        self,
        generate: Callable[[SamplingParameters], Awaitable[list[Candidate | None]]],
        sampling: SamplingParameters,
        *,
        one_by_one: bool,
        report: Report | None = None,
    ) -> None:
        self._generate = generate
        self._sampling = sampling
        self._one_by_one = one_by_one
        self._report = report
        self._written = 0

    def write_wave(self, first: int, count: int) -> list[Awaitable[Candidate | None]]:
        """Start to write `count` candidates from place `first` on (a `WriteWave`)."""
        step = 1 if self._one_by_one else count
        calls = []
        for offset in range(0, count, step):
            sampling = replace(self._sampling, k=step, first=first + offset)
            calls.append(asyncio.ensure_future(self._generate(sampling)))
        return [self._candidate(calls[i // step], i % step, first + i) for i in range(count)]

    async def _candidate(
        self, call: "asyncio.Future[list[Candidate | None]]", index: int, place: int
    ) -> Candidate | None:
        """One candidate of a call, numbered by its place among all."""
        candidates = await call
        self._written += 1
        if self._report is not None:
            self._report(self._written, self._sampling.k)
        candidate = candidates[index]
        if candidate is None:
            return None
        return replace(candidate, index=place)
