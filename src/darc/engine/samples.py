"""What a sample is: the scores of one prompt's candidates, made as they are wanted."""

import asyncio
import logging
import threading
import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.engine.parts import Unfinished
from darc.engine.workers import WorkTimedOut
from darc.errors import DarcError
from darc.models.remote.errors import OverLimit
from darc.models.remote.meter import CURRENT_METER, Meter
from darc.parts.rewriters import Perturbed
from darc.types import Candidate, CutOff, Prompt, Scores
from darc.typing import Array

if TYPE_CHECKING:
    from darc.engine.engine import Engine

logger = logging.getLogger(__name__)

Pair = tuple[int, int]
REWRITER = -1
# How long a rewriter may keep a processor before others have their turns, in seconds.
SLICE = 0.02
UPSTREAM = "budget_upstream"


@dataclass
class Clock:
    """Milliseconds by stage."""

    milliseconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time spent inside to a stage."""
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = (time.perf_counter() - started) * 1000
            self.milliseconds[name] = self.milliseconds.get(name, 0.0) + spent


@dataclass
class Tally:
    """Texts that scorers were asked for, those that were kept from earlier, and texts in all."""

    asked: int = 0
    kept: int = 0
    calls: int = 0


class PartFailed(DarcError):
    """Some scorers, by their places, or the rewriter (`REWRITER`) failed; `causes` says why."""

    def __init__(self, causes: Mapping[int, Exception], names: Sequence[str]) -> None:
        super().__init__(f"{' and '.join(names)} failed")
        self.causes = causes
        self.over_limit = any(isinstance(each, OverLimit) for each in causes.values())


@contextmanager
def plainly() -> Iterator[None]:
    """Raise why a part failed, not that it did."""
    try:
        yield
    except PartFailed as failed:
        raise next(iter(failed.causes.values())) from None


class OutOfCalls(DarcError):
    """A budget is used up, of texts to be scored if the `flag` says nothing else."""

    def __init__(self, flag: str = "budget_calls") -> None:
        super().__init__("a budget is used up")
        self.flag = flag


@dataclass
class Samples:
    """The scores (M, K, n) of one prompt's candidates and their rewrites, as far as they are known.

    Sample 0 is the original, sample i its rewrite i, made when the first of a candidate's is
    wanted. `active` are the places of the scorers that still count, `known` is what each has said
    of texts: equal ones are scored once. At most `limit` texts are scored. Samples before `first`
    do not count. `meters` hear of the calls of a stage, rewrite or score.
    """

    engine: "Engine"
    prompt: Prompt
    candidates: Sequence[Candidate]
    n_aug: int = 0
    owner: Hashable = None
    limit: int | None = None
    first: int = 0
    rewrites: dict[int, Perturbed] = field(default_factory=dict)
    clock: Clock = field(default_factory=Clock)
    tally: Tally = field(default_factory=Tally)
    meters: Mapping[str, Meter] = field(default_factory=dict)
    known: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin with nothing known; `final` if a part that fails ends everything."""
        self.final = False
        self._empty = self.engine.tools.scores(self.candidates, self.n_aug)
        self.values = self._empty.values
        self.active = list(range(len(self.values)))
        self.known = self.known or [{} for _ in self.engine.tools.scorers]

    @property
    def scores(self) -> Scores:
        """What is known so far, of all scorers."""
        return replace(self._empty, values=self.values, complete=self.complete)

    @property
    def complete(self) -> bool:
        """Whether nothing more could be had."""
        for k in range(len(self.candidates)):
            made = self.rewrites.get(k)
            if made is None and self.n_aug:
                return False
            count = 1 + (len(made.variants) if made else 0)
            if np.isnan(self.values[:, k, self.first : count]).any():
                return False
        return True

    def restore(self, scores: Scores) -> None:
        """Take over scores that are there already, all else being the same."""
        self.values[:] = scores.values
        for m, known in enumerate(self.known):
            for k, i in np.argwhere(~np.isnan(scores.values[m])).tolist():
                text = self._text((k, i))
                if text is not None:
                    known[text] = float(scores.values[m, k, i])

    def firsts(self, candidates: Sequence[Candidate]) -> Array:
        """The first sample of each candidate by each scorer, (M, candidates), NaN if not there."""
        return np.array([[known.get(c.text, np.nan) for c in candidates] for known in self.known])

    def share_scores(self, text: str, copy: str) -> None:
        """Take over for a copy of a text what is known of the text."""
        for known in self.known:
            if text in known:
                known.setdefault(copy, known[text])

    def without_rewrites(self) -> None:
        """Go on with the originals alone."""
        self.n_aug = self.first = 0
        self.values = self.values[:, :, :1]
        self._empty = self.engine.tools.scores(self.candidates, 0)

    async def score_all(self, candidates: Sequence[int]) -> None:
        """Score every sample of some candidates; the originals too where there is no rewrite."""
        places = range(self.first, self.values.shape[2])
        await self.fill([(k, i) for i in places for k in candidates])
        await self.originals_if_alone(candidates)

    async def originals_if_alone(self, candidates: Sequence[int]) -> bool:
        """Whether no candidate has a sample, so that the originals are scored after all."""
        alone = bool(np.isnan(self.values[np.ix_(self.active, list(candidates))]).all())
        if alone and self.first:
            await self.fill([(k, 0) for k in candidates])
        return alone

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage, and let its meter hear of the calls that are made in it."""
        token = CURRENT_METER.set(self.meters[name]) if name in self.meters else None
        try:
            with self.clock.stage(name):
                yield
        finally:
            if token is not None:
                CURRENT_METER.reset(token)

    async def rewrite(self, wanted: Sequence[int]) -> None:
        """Rewrite those candidates that are not rewritten yet, where rewrites are samples."""
        missing = [k for k in dict.fromkeys(wanted) if k not in self.rewrites]
        if not missing:
            return
        with self.stage("rewrite"):
            made = await asyncio.gather(
                *(self._rewritten(self.candidates[k]) for k in missing),
                return_exceptions=True,
            )
        for k, result in zip(missing, made, strict=True):
            if isinstance(result, Perturbed):
                self.rewrites[k] = result
        for result in made:
            if isinstance(result, Exception):
                logger.warning("the rewriter failed: %s", words(result))
                raise PartFailed({REWRITER: result}, ["the rewriter"])
            if isinstance(result, BaseException):
                raise result

    async def fill(self, pairs: Sequence[Pair]) -> None:
        """Make and score what is not there yet of (candidate, sample) pairs.

        Raises `PartFailed`, after keeping what came, and `OutOfCalls`.
        """
        await self.rewrite([candidate for candidate, sample in pairs if sample > 0])
        texts = {pair: text for pair in pairs if (text := self._text(pair)) is not None}
        wanted = dict.fromkeys(texts.values())
        new = [t for t in wanted if any(t not in self.known[m] for m in self.active)]
        counted = [t for t in new if all(t not in known for known in self.known)]
        left = len(counted) if self.limit is None else max(0, self.limit - self.tally.calls)
        dropped = set(counted[left:])
        new = [text for text in new if text not in dropped]
        self.tally.calls += min(len(counted), left)
        try:
            failed = await self._score(new) if new else {}
        finally:
            for (k, i), text in texts.items():
                for m in self.active:
                    self.values[m, k, i] = self.known[m].get(text, np.nan)
        if failed:
            raise PartFailed(failed, [f"scorer {self._empty.scorers[m]}" for m in failed])
        if dropped:
            raise OutOfCalls

    async def _rewritten(self, candidate: Candidate) -> Perturbed:
        """The rewrites of a candidate, made in slices so that others have their turns."""
        engine, rewriter = self.engine, self.engine.tools.rewriter
        seconds = engine.patience.seconds
        if not (rewriter.in_process or rewriter.remote):
            stop = threading.Event()
            whole = (engine.tools.rewrite, self.prompt, candidate, self.n_aug, stop.is_set)
            try:
                async with engine.rewriting.slot(self.owner):
                    return await engine.workers.in_thread(*whole, seconds=seconds)
            finally:
                stop.set()
        made: Perturbed | Unfinished | None = None
        told: list[str] | None = None
        while not isinstance(made, Perturbed):
            work = ("rewrite_slice", self.prompt, candidate, self.n_aug, made, told, SLICE)
            made = await engine.workers.in_process(self.owner, *work, seconds=seconds)
            told = None
            if isinstance(made, Unfinished) and made.wish is not None:
                async with engine.rewriting.slot(self.owner):
                    asked = rewriter.rewrite_async(self.prompt, candidate.text, *made.wish)
                    try:
                        told = await asyncio.wait_for(asked, seconds)
                    except TimeoutError:
                        raise WorkTimedOut(f"no answer within {seconds:g} s") from None
        return made

    def _text(self, pair: Pair) -> str | None:
        """The original (sample 0) or a rewrite that is made; None where there is none."""
        candidate, sample = pair
        kind = CutOff if self.candidates[candidate].truncated else str
        if sample == 0:
            return kind(self.candidates[candidate].text)
        made = self.rewrites.get(candidate)
        if made is None or sample > len(made.variants):
            return None
        return kind(made.variants[sample - 1].text)

    async def _score(self, texts: Sequence[str]) -> dict[int, Exception]:
        """Ask every active scorer for what it has not said yet; why those that fail do."""
        failed: dict[int, Exception] = {}

        async def one(place: int) -> None:
            asked = [text for text in texts if text not in self.known[place]]
            if not asked:
                return
            meter = CURRENT_METER.get()
            # One by one where a limit may end it, so that what has been paid for is not lost.
            each = [[text] for text in asked] if meter is not None and meter.limited else [asked]
            made = await asyncio.gather(
                *(
                    self.engine.scoring.score(place, self.prompt, some, self.owner, self.tally)
                    for some in each
                ),
                return_exceptions=True,
            )
            for some, numbers in zip(each, made, strict=True):
                if isinstance(numbers, Exception):
                    problem = words(numbers)
                    logger.debug("scorer %s failed: %s", self._empty.scorers[place], problem)
                    if place not in failed or isinstance(numbers, OverLimit):
                        failed[place] = numbers
                elif isinstance(numbers, BaseException):
                    raise numbers
                else:
                    self.known[place].update(zip(some, numbers.tolist(), strict=True))

        with self.stage("score"):
            await asyncio.gather(*(one(place) for place in self.active))
        return dict(sorted(failed.items()))


def words(problem: Exception) -> str:
    """What an error says, or else its kind."""
    return str(problem) or type(problem).__name__
