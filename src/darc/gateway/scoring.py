"""Rewrites and scores of one request's candidates, made as they are wanted."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from darc.engine.clock import Clock
from darc.errors import DarcError
from darc.gateway.hands import ENDED, Hands
from darc.gateway.usage import Spent
from darc.perturb import Perturbed
from darc.pipeline.engine import Engine
from darc.scorers.base import Scorer
from darc.scorers.http import HttpScorer
from darc.scorers.judge import Judge
from darc.types import Candidate, Prompt

logger = logging.getLogger(__name__)

Array = NDArray[np.float64]
Pair = tuple[int, int]


class PartFailed(Exception):
    """Some scorers (by their places) or the rewriter (None) failed."""

    def __init__(self, parts: Sequence[int | None]) -> None:
        super().__init__(parts)
        self.parts = parts


class OutOfCalls(Exception):
    """The budget of texts to be scored is used up."""


@dataclass
class Workshop:
    """The engine's parts, each with a lock where it may not be used by several threads at once."""

    engine: Engine
    seconds: float = 120.0
    locks: dict[int, threading.Lock] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Lock what neither waits for a server nor says that it is parallel."""
        for part in (*self.engine.scorers, self.engine.rewriter):
            remote = isinstance(part, HttpScorer | Judge)
            if not remote and getattr(part, "parallel", 1) <= 1:
                self.locks[id(part)] = threading.Lock()

    @contextlib.contextmanager
    def using(self, part: object) -> Iterator[None]:
        """Use a part, alone where it must be."""
        lock = self.locks.get(id(part))
        if lock is None:
            yield
            return
        if not lock.acquire(timeout=self.seconds):
            raise DarcError(f"{getattr(part, 'name', part)} is stuck in another request")
        try:
            yield
        finally:
            lock.release()

    def scores(self, scorer: Scorer, prompt: Prompt, texts: Sequence[str]) -> Array:
        """A scorer's numbers for texts, (texts,), checked."""
        with self.using(scorer):
            answer = scorer.score([(prompt, text) for text in texts])
        numbers = np.asarray(answer, dtype=np.float64)
        if numbers.shape != (len(texts),) or not np.isfinite(numbers).all():
            raise DarcError(f"scorer {scorer.name!r} gave no finite number a text")
        return numbers

    def rewrites(self, prompt: Prompt, candidate: Candidate, n_aug: int) -> Perturbed:
        """The rewrites of a candidate."""
        with self.using(self.engine.rewriter):
            return replace(self.engine, n_aug=n_aug).rewrite(prompt, [candidate])[0]


class Sheet:
    """The scores of one request, (M, K, n), filled in pair by pair.

    `active` are the places of the scorers that still count, `samples` is n, of which those from
    `first` count, and `calls` counts the texts scored, at most `limit`. Equal texts are scored
    once.
    """

    def __init__(
        self,
        workshop: Workshop,
        prompt: Prompt,
        candidates: Sequence[Candidate],
        samples: int,
        hands: Hands,
        spent: Spent,
        clock: Clock,
        limit: int | None = None,
        first: int = 0,
    ) -> None:
        self.first = first
        self.workshop, self.prompt, self.candidates = workshop, prompt, candidates
        self.samples, self.limit = samples, limit
        self.active = list(range(len(workshop.engine.scorers)))
        self.scores = np.full((len(self.active), len(candidates), samples), np.nan)
        self.perturbed: dict[int, Perturbed] = {}
        self.calls = 0
        self.clock = clock
        self._hands, self._spent = hands, spent
        self._known: list[dict[str, float]] = [{} for _ in self.active]

    @property
    def scorers(self) -> Sequence[Scorer]:
        """All scorers, active or not."""
        return self.workshop.engine.scorers

    @property
    def complete(self) -> bool:
        """Whether every candidate was rewritten and every text scored by every scorer."""
        for k in range(len(self.candidates)):
            made = self.perturbed.get(k)
            if made is None and self.samples > 1:
                return False
            count = 1 + (len(made.variants) if made else 0)
            if np.isnan(self.scores[:, k, self.first : count]).any():
                return False
        return True

    def text(self, pair: Pair) -> str | None:
        """The original (sample 0) or a rewrite that is made; None where there is none."""
        candidate, sample = pair
        if sample == 0:
            return self.candidates[candidate].text
        made = self.perturbed.get(candidate)
        if made is None or sample > len(made.variants):
            return None
        return made.variants[sample - 1].text

    async def fill(self, pairs: Sequence[Pair]) -> None:
        """Make and score what is not there yet of the pairs.

        Raises `PartFailed`, after keeping what the other scorers gave, and `OutOfCalls`.
        """
        await self._rewrite([candidate for candidate, sample in pairs if sample > 0])
        texts = {pair: text for pair in pairs if (text := self.text(pair)) is not None}
        wanted = dict.fromkeys(texts.values())
        new = [t for t in wanted if any(t not in self._known[m] for m in self.active)]
        counted = [t for t in new if all(t not in known for known in self._known)]
        left = None if self.limit is None else max(0, self.limit - self.calls)
        short = left is not None and len(counted) > left
        if short:
            dropped = set(counted[left:])
            new = [text for text in new if text not in dropped]
            counted = counted[:left]
        self.calls += len(counted)
        try:
            failed = await self._score(new) if new else []
        finally:
            for (k, i), text in texts.items():
                for m in self.active:
                    self.scores[m, k, i] = self._known[m].get(text, np.nan)
        if failed:
            raise PartFailed(failed)
        if short:
            raise OutOfCalls

    async def _rewrite(self, wanted: Sequence[int]) -> None:
        missing = [k for k in dict.fromkeys(wanted) if k not in self.perturbed]
        if not missing:
            return
        meter = self._spent.meter("rewrites")
        with self.clock.stage("rewrite"):
            made = await asyncio.gather(
                *(
                    self._hands.do(
                        self.workshop.rewrites,
                        self.prompt,
                        self.candidates[k],
                        self.samples - 1,
                        meter=meter,
                    )
                    for k in missing
                ),
                return_exceptions=True,
            )
        for k, result in zip(missing, made, strict=True):
            if isinstance(result, Perturbed):
                self.perturbed[k] = result
            else:
                _log("the rewriter", result)
                raise PartFailed([None])

    async def _score(self, texts: Sequence[str]) -> list[int]:
        """Ask every active scorer for what it has not said yet; the places of those that fail."""
        meter = self._spent.meter("scores")

        async def one(place: int) -> bool:
            asked = [text for text in texts if text not in self._known[place]]
            if not asked:
                return True
            try:
                async with asyncio.timeout(self.workshop.seconds):
                    numbers = await self._hands.do(
                        self.workshop.scores, self.scorers[place], self.prompt, asked, meter=meter
                    )
            except Exception as problem:
                _log(f"scorer {self.scorers[place].name!r}", problem)
                return False
            self._known[place].update(zip(asked, numbers.tolist(), strict=True))
            return True

        with self.clock.stage("score"):
            fine = await asyncio.gather(*(one(place) for place in self.active))
        return [place for place, good in zip(self.active, fine, strict=True) if not good]


def _log(what: str, problem: BaseException) -> None:
    """Say what failed; the end of a request is no failure."""
    if str(problem) == ENDED:
        return
    if not isinstance(problem, Exception):
        raise problem
    logger.warning("%s failed: %s", what, str(problem) or type(problem).__name__)
