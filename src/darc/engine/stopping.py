"""Candidates of a model until more are not worth it: each is a box to open, at a price.

Weitzman (1979), Optimal Search for the Best Alternative ("Pandora's problem"): with boxes that are
alike one opens another as long as what it is expected to add to the best so far exceeds its price.
Here the boxes are a model's next answers, opened some at a time, and what they hold is learnt from
the answers so far.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from darc.engine.copies import copy_key
from darc.engine.samples import UPSTREAM, OutOfCalls, PartFailed, Samples
from darc.errors import InputError
from darc.registry import parse_pairs
from darc.settings.model import SettingsModel
from darc.settings.validation import validate_settings
from darc.types import Candidate, Prompt, Scores
from darc.typing import Array

if TYPE_CHECKING:
    from darc.engine.engine import Engine


FEWER = "fewer_candidates"
# Some candidates from a place on, each to be awaited; None is one that could not be made.
Wave = Callable[[int, int], Sequence[Awaitable[Candidate | None]]]

STOPPED = "stopped_early"
# How many answers the scorers' constants count for beside those that are there.
PRIOR = 2
TAIL, BELOW_ONE = 9.0, 1 - 1e-15
NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)


def expected_gain(best: float, mean: float, sd: float, wave: int) -> float:
    """By how much the best of `wave` normal rewards is expected to exceed `best`.

    The integral of 1 - F(x)^wave from `best` on.
    """
    begin = (best - mean) / sd
    if begin >= TAIL:
        return 0.0
    half = (TAIL - max(begin, -TAIL)) / 2
    above = np.array([math.erfc(x / math.sqrt(2)) / 2 for x in TAIL - half * (1 - NODES)])
    above = np.minimum(above, BELOW_ONE)
    area = half * float(WEIGHTS @ -np.expm1(wave * np.log1p(-above)))
    return sd * (max(0.0, -TAIL - begin) + area)


def worth_another(rewards: Sequence[float] | Array, wave: int, cost: float) -> bool:
    """Whether `wave` further answers are expected to gain what they cost, `cost` each.

    Rewards are in the scorers' standard deviations. They are taken to be normal; the mean and the
    variance are those of the rewards there are, shrunk towards 0 and 1 as by two more.
    """
    seen = np.asarray(rewards, dtype=np.float64)
    number = PRIOR + len(seen)
    spread = math.sqrt((PRIOR + float(((seen - seen.mean()) ** 2).sum())) / number)
    gain = expected_gain(float(seen.max()), float(seen.sum()) / number, spread, wave)
    return gain >= wave * cost


def rewards_of(scores: Scores) -> Array:
    """The first samples in the scorers' standard deviations, their mean over scorers, (K,).

    A scorer without constants is measured by its own scores so far. One that has not scored all
    does not count; NaN where none has.
    """
    rows, parts = [], zip(scores.clipped[:, :, 0], scores.location, scores.scale, strict=True)
    for values, location, scale in parts:
        if not np.isnan(values).any():
            known = location is not None and scale is not None
            center, unit = (location, scale) if known else (values.mean(), values.std())
            rows.append((values - center) / (unit or 1.0))
    return np.mean(rows, axis=0) if rows else np.full(scores.values.shape[1], np.nan)


class Stopping(SettingsModel):
    """The price of an answer in standard deviations, how many are written at a time, and at least.

    A `wave` is a quarter of all by default, and no less than 2.
    """

    cost: float = Field(default=0.02, ge=0, allow_inf_nan=False)
    wave: int = Field(default=0, ge=1, lt=1_000_000)
    least: int = Field(default=2, ge=1, lt=1_000_000)

    def at_least(self, n: int | None) -> "Stopping":
        """The same for the `n` best."""
        return self.model_copy(update={"least": max(self.least, n or 1)})

    def size(self, k: int) -> int:
        """How many candidates are written at a time."""
        return self.wave or max(2, -(-k // 4))


def parse_stop(text: str) -> Stopping | None:
    """The stopping of a text such as "pandora" or "pandora:cost=0.05,wave=4"; "none" is None."""
    name, _, rest = text.partition(":")
    if name in ("", "none") and not rest:
        return None
    if name != "pandora":
        raise InputError(f"stop is {text[:80]!r}", "it is none, pandora or pandora:cost=0.05")
    return validate_settings(
        Stopping, parse_pairs([each for each in rest.split(",") if each], "stop"), "stop"
    )


@dataclass
class WaveDrawing:
    """Candidates written some at a time, and scored as they come, until more are not worth it.

    Whether to stop is asked after each candidate in the order of their places, whichever comes
    first, so that the same ones are taken every time; what is still being written is cancelled. All
    `k` are written where nothing can be said about them: a scorer has failed (unless `strict`), or
    a text is longer than `longest`. A budget that is used up ends the writing, and so does the
    `deadline`; `flags` say why it ended, and `saved` how many were not written. Writing goes on
    until there are `choices` different answers. What scorers have said stays in `samples`.
    """

    samples: Samples
    k: int
    stopping: Stopping
    wave: Wave
    strict: bool = True
    longest: int | None = None
    deadline: float | None = None
    choices: int = 1
    flags: list[str] = field(default_factory=list)
    saved: int = 0
    _there: dict[int, Candidate] = field(default_factory=dict)
    _scoring: "dict[str, asyncio.Task[None]]" = field(default_factory=dict)
    _scored_texts: dict[str, str] = field(default_factory=dict)

    async def candidates(self) -> list[Candidate]:
        """Those that were worth it, in order."""
        size, begun, places = self.stopping.size(self.k), 0, 0
        tasks: list[asyncio.Future[Any]] = []
        try:
            async with asyncio.timeout_at(self.deadline):
                while begun < self.k and not self._enough(places):
                    written = self.wave(begun, min(size, self.k - begun))
                    # Tasks too, so that they end even if what awaits them never began.
                    coming = [asyncio.ensure_future(each) for each in written]
                    wave = [
                        asyncio.ensure_future(self._one(begun + i, each))
                        for i, each in enumerate(coming)
                    ]
                    tasks += [*coming, *wave]
                    begun += len(wave)
                    for task in wave:
                        await task
                        places += 1
                        if self._enough(places):
                            break
        except TimeoutError:
            self._ended("budget_milliseconds")
            places = begun
        finally:
            under_way = [*tasks, *self._scoring.values()]
            for each in under_way:
                each.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)
        self.saved = self.k - places
        return self._first(places)

    def _first(self, places: int) -> list[Candidate]:
        return [self._there[place] for place in sorted(self._there) if place < places]

    def _enough(self, places: int) -> bool:
        taken, left = self._first(places), self.k - places
        if self.flags or not left:
            return True
        different = {copy_key(candidate.text) for candidate in taken}
        if len(taken) < self.stopping.least or len(different) < self.choices:
            return False
        scores = replace(self.samples.scores, values=self.samples.firsts(taken)[:, :, None])
        rewards = rewards_of(scores)
        wave = min(self.stopping.size(self.k), left)
        if np.isnan(rewards).any() or worth_another(rewards, wave, self.stopping.cost):
            return False
        self._ended(STOPPED)
        return True

    def _ended(self, flag: str) -> None:
        if flag not in self.flags:
            self.flags.append(flag)

    async def _one(self, place: int, coming: Awaitable[Candidate | None]) -> None:
        if (candidate := await coming) is None:
            return
        self._there[place] = candidate
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
        except OutOfCalls as out:
            self._ended(out.flag)
        except PartFailed as failed:
            if self.strict:
                raise
            if failed.over_limit:
                self._ended(UPSTREAM)


def waves_of(engine: "Engine", prompt: Prompt) -> Wave:
    """What writes an engine's candidates from a place on: those it would write anyway.

    A server is asked for each by itself, so that each has its own seed and can be cancelled.
    """
    model, total = engine.generator, engine.sampling.k
    assert model is not None
    written = 0

    async def one(
        made: "asyncio.Future[list[Candidate | None]]", at: int, place: int
    ) -> Candidate | None:
        nonlocal written
        candidate = (await made)[at]
        written += 1
        if engine.report is not None:
            engine.report(written, total)
        return None if candidate is None else replace(candidate, index=place)

    def wave(first: int, count: int) -> list[Awaitable[Candidate | None]]:
        step = 1 if model.remote else count
        made = [
            asyncio.ensure_future(
                engine.generate(prompt, replace(engine.sampling, k=step, first=first + at))
            )
            for at in range(0, count, step)
        ]
        return [one(made[i // step], i % step, first + i) for i in range(count)]

    return wave
