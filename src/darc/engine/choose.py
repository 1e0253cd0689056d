"""From candidates to a choice: the search, its budget, and what to do when parts fail."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict, TypeVar

import numpy as np

from darc.decide.caution import Caution
from darc.decide.decision import Decision
from darc.decide.method import Method, flagged, with_raters
from darc.decide.search.lazy import SearchMode
from darc.decide.standards import Standards
from darc.engine.parts import SideMaker
from darc.engine.samples import REWRITER, UPSTREAM, Clock, OutOfCalls, PartFailed, Samples
from darc.engine.scoring import Patience, ScoreCache
from darc.engine.stopping import Stopping, WaveDrawing
from darc.errors import DarcError
from darc.models.completion import ChatModel
from darc.models.remote.errors import OverLimit
from darc.models.remote.meter import Meter
from darc.parts.generators.base import SamplingParameters
from darc.parts.rewriters import Rewriter
from darc.parts.scorers.base import Scorer
from darc.parts.scorers.panel import Panel
from darc.types import Scores

Result = TypeVar("Result")

# Numbers that are decided on without a thread of their own.
FEW = 1000
BEST_OF_K, FIRST = "best_of_k", "first_candidate"


class PartsOptions(TypedDict, total=False):
    """What `Parts` are made of, by name or itself."""

    scorers: Sequence[str | Scorer] | None
    panel: Panel | bool | int | str | Sequence[str] | None
    rewriter: str | Rewriter
    n_aug: int
    family: str
    seed: int
    guard: bool
    entities: str
    side: SideMaker | dict[str, str] | None
    include_original: bool
    max_attempts: int | None
    min_samples: int | None


class EngineOptions(PartsOptions, total=False):
    """The options of an `Engine`, for whatever passes them on."""

    rule: str | Method
    caution: Caution | None
    calibration: Any
    normalize: str
    standards: Standards
    search: SearchMode
    sampling: SamplingParameters | None
    stop: str | Stopping | None
    cache: bool | ScoreCache
    workers: int
    patience: Patience | None
    judge: ChatModel | None


class DecideOptions(TypedDict, total=False):
    """The options of `Engine.decide`, for whatever passes them on."""

    rule: str | Method | None
    n: int
    n_aug: int | None
    full: bool
    strict: bool
    calls: int | None
    deadline: float | None
    wave: int | None
    flags: Sequence[str]
    method: Method | None
    clock: Clock | None
    meters: dict[str, Meter] | None
    drawn: WaveDrawing | None
    samples: Samples | None
    beside: bool


@dataclass
class Choosing:
    """The choice among one prompt's candidates.

    `strict` raises whatever goes wrong; otherwise the choice goes on with the parts that are left,
    down to Best-of-K and to the first candidate, and the flags say so. The search asks for at most
    `wave` samples at a time, as many as candidates by default; with `full`, and where the rule
    cannot be searched, everything is scored.
    """

    samples: Samples
    method: Method
    full: bool = False
    strict: bool = True
    wave: int | None = None
    flags: list[str] = field(default_factory=list)

    async def best(
        self, n: int = 1, deadline: float | None = None
    ) -> tuple[list[int], Decision | None]:
        """The n best, each by the rule among those that are left, and the first decision.

        The decision is None where nothing could be compared and the first candidate was taken.
        """
        self.full = self.full or n > 1
        order: list[int] = []
        first: Decision | None = None
        left = list(range(len(self.samples.candidates)))
        stopped = ""
        while len(order) < n and left:
            decision = None
            if not stopped:
                try:
                    async with asyncio.timeout_at(deadline):
                        decision = await self._decision(left)
                except TimeoutError:
                    stopped = "budget_milliseconds"
                except OutOfCalls as out:
                    stopped = out.flag
            if stopped:
                self.flags.append(stopped)
                decision = await self._computed(self._from_what_is_there, left)
            first = first if order else decision
            order.append(left.pop(0 if decision is None else decision.index))
        decided = [] if first is None else list(first.flags)
        counts = [1 + len(made.variants) for made in self.samples.rewrites.values()]
        if counts and min(counts) < max(counts) / 2 and "few_samples" not in decided:
            self.flags.append("few_rewrites")
        self.flags = list(dict.fromkeys([*self.flags, *decided]))
        return order, first

    async def _decision(self, left: Sequence[int]) -> Decision | None:
        """The rule's decision among some candidates, with fewer parts each time that some fail."""
        while self.samples.active:
            try:
                return await self._search(left)
            except PartFailed as failed:
                if self.strict or (self.samples.final and not failed.over_limit):
                    raise
                self._go_on_without(failed)
            except DarcError as problem:
                if self.strict or isinstance(problem, OutOfCalls):
                    raise
                if isinstance(problem, OverLimit):
                    raise OutOfCalls(UPSTREAM) from None
                self.flags.append("rule_failed")
                break
        return await self._computed(self._best_of_k, left)

    async def _search(self, left: Sequence[int]) -> Decision:
        """The rule's decision among some candidates, from as few samples as its search needs."""
        samples = self.samples
        n_samples = samples.values.shape[2]
        scores = samples.scores.only(samples.active, left)
        method = self._settled(scores)
        wave = self.wave or len(left)
        if self.full or len(left) * n_samples <= wave or not method.can_search(scores):
            return await self._decide_all(method, left)
        search = method.search(scores)
        places: list[tuple[int, int]] = []
        while True:
            with samples.clock.stage("decide"):
                pairs = await self._computed(search.ask, wave)
            if not pairs:
                break
            wave_places = [(left[k], i + samples.first) for k, i in pairs]
            await samples.fill(wave_places)
            places += wave_places
            search.tell(pairs, [samples.values[samples.active, k, i] for k, i in wave_places])
        # Severities cancel only among candidates that the same raters have graded.
        severities_known = bool(method.ids(scores))
        missing = np.isnan([samples.values[:, k, i] for k, i in places]).any()
        if severities_known and missing:
            return await self._decide_all(method, left)
        if samples.first and await samples.originals_if_alone(left):
            return await self._decide_all(method, left)
        with samples.clock.stage("decide"):
            decision = flagged(await self._computed(search.decision), samples.scores)
            return with_raters(decision, samples.scores)

    async def _computed(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """What a function returns, in a thread where that might take long."""
        if self.samples.values.size <= FEW:
            return function(*arguments)
        turn = self.samples.engine.workers.in_turn
        made: Result = await turn(self.samples.owner, function, *arguments)
        return made

    async def _decide_all(self, method: Method, left: Sequence[int]) -> Decision:
        """The decision on all scores that there are."""
        samples = self.samples
        await samples.score_all(left)
        with samples.stage("score"):
            side = await samples.engine.side_inputs(
                samples.prompt, [samples.candidates[k] for k in left], method.rule
            )
        with samples.clock.stage("decide"):
            scores = samples.scores.only(samples.active, left)
            return await self._computed(method.decide, samples.prompt.id, scores, side)

    def _settled(self, scores: Scores) -> Method:
        """How to decide on the scores of those that are left, on the scale that all of them had."""
        several = len(self.samples.values) > 1 and scores.constants is not None
        if self.method.normalize == "auto" and several:
            return replace(self.method, normalize="fixed")
        return self.method

    def _go_on_without(self, failed: PartFailed) -> None:
        """Leave out what failed, or end the search where a limit did it and there are scores."""
        if failed.over_limit:
            self.flags.append(UPSTREAM)
            if REWRITER not in failed.causes or not np.isnan(self.samples.values).all():
                raise OutOfCalls(UPSTREAM)
        for part in failed.causes:
            if part == REWRITER:
                self.flags.append("rewriter_failed")
                self.samples.without_rewrites()
            else:
                self.flags.append(f"scorer_failed:{self.samples.scores.scorers[part]}")
                self.samples.active.remove(part)

    def _from_what_is_there(self, left: Sequence[int]) -> Decision | None:
        """The rule's decision on the scores that have come, or else Best-of-K."""
        samples = self.samples
        known = ~np.isnan(samples.values[np.ix_(samples.active, left)])
        there = [m for m, own in zip(samples.active, known, strict=True) if own.any()]
        if there and not self.method.rule.required():
            if len(there) < len(samples.active):
                self.flags.append("fewer_scorers")
            scores = samples.scores.only(there, left)
            whole = np.where(np.isnan(scores.values).any(axis=0), np.nan, scores.values)
            if not np.isnan(whole).all():
                with suppress(DarcError):
                    whole_scores = replace(scores, values=whole)
                    return self._settled(scores).decide(samples.prompt.id, whole_scores, {})
        return self._best_of_k(left)

    def _best_of_k(self, left: Sequence[int]) -> Decision | None:
        """The largest mean by the scorer that has said most, or None."""
        samples = self.samples
        known = ~np.isnan(samples.values[:, left])
        if not known.any():
            self.flags.append(FIRST)
            return None
        self.flags.append(BEST_OF_K)
        most = int(np.argmax(known.any(axis=2).sum(axis=1)))
        method = replace(self.method.best_of_k, normalize="none")
        return method.decide(samples.prompt.id, samples.scores.only([most], left), {})
