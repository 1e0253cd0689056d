"""The samples of a panel: what each rater says of each candidate, asked for as it is wanted."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import default_rng

from darc.engine.samples import OutOfCalls, Pair, PartFailed, Samples, words
from darc.errors import InputError, MissingExtra
from darc.models.remote.errors import OverLimit
from darc.parts.rewriters import Perturbed
from darc.parts.scorers.panel import PESSIMISTIC, REFUSE
from darc.types import Candidate, Scores
from darc.typing import Array

if TYPE_CHECKING:
    from darc.engine.engine import Engine

logger = logging.getLogger(__name__)

# Made-up pools of grades that the cost of a choice is estimated by: how many, of at most how many
# grades in all, and how much answers and raters differ.
POOLS = 20
LEAST_POOLS = 4
MOST_GRADES = 2560
SPREAD = 1.5
# A judge's place among the tools, and a text.
Grade = tuple[int, str]


@dataclass
class PanelSamples(Samples):
    """The grades (1, K, n) of the candidates by n raters; a sample is a mean of repeats.

    `known` has for each repeat of each rater the grades of texts, one a criterion, and `failures`
    why some could not be had. A sample of which no grade could be had is missing: NaN, or the
    lowest grade if the panel is pessimistic; a panel that refuses fails instead. While no rater has
    answered at all, the panel as a whole has failed once each of them has.
    """

    failures: dict[Grade, Exception] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with what is known of the candidates' texts."""
        super().__post_init__()
        assert self.engine.parts.panel is not None
        self.panel = self.engine.parts.panel
        self.final = self.panel.missing == REFUSE
        self._settle()

    @property
    def scores(self) -> Scores:
        """What is known so far."""
        plain = self.grades.shape[0] == self.grades.shape[3] == 1
        return replace(
            self._empty,
            values=self.values,
            complete=self.complete,
            grades=None if plain else self.grades,
            failed=tuple(pair for pair in self._pairs() if self._failed(pair)),
        )

    @property
    def complete(self) -> bool:
        """Whether every rater was asked about every candidate."""
        return not any(self._wanted(self._pairs()))

    def restore(self, scores: Scores) -> None:
        """Take over grades that are there already; those that failed are not asked for again."""
        grades = scores.values[:, :, :, None] if scores.grades is None else scores.grades
        for k, i in self._pairs():
            for repeat, place in enumerate(self._places(i)):
                text, own = self.candidates[k].text, grades[:, k, i, repeat]
                if (k, i) in scores.failed and (scores.grades is None or np.isnan(own).any()):
                    self.failures[place, text] = InputError("it failed when it was asked for")
                elif not np.isnan(own).any():
                    self.known[place][text] = own
        self._settle()

    def firsts(self, candidates: Sequence[Candidate]) -> Array:
        """What the first rater says of each."""
        return replace(self, candidates=candidates).values[:, :, 0]

    def share_scores(self, text: str, copy: str) -> None:
        """Take over for a copy of a text its grades, and which of them failed."""
        super().share_scores(text, copy)
        for place in range(len(self.known)):
            if (place, text) in self.failures:
                self.failures.setdefault((place, copy), self.failures[place, text])

    async def rewrite(self, wanted: Sequence[int]) -> None:
        """Nothing is rewritten here."""
        self.rewrites |= {k: Perturbed((), ()) for k in wanted}

    async def fill(self, pairs: Sequence[Pair]) -> None:
        """Ask for the grades of (candidate, rater) pairs that are not known, each in its own call.

        One that fails is missing; what a limit refuses, or a mistake of the user's, ends it.
        """
        wanted = self._wanted(pairs)
        left = len(wanted) if self.limit is None else max(0, self.limit - self.tally.calls)
        asked = wanted[:left]
        self.tally.calls += len(asked)
        ends: Exception | None = None
        try:
            with self.stage("score"):
                calls = (self._ask(*grade) for grade in asked)
                made = await asyncio.gather(*calls, return_exceptions=True)
            for grade, problem in zip(asked, made, strict=True):
                if isinstance(problem, OverLimit | InputError | MissingExtra):
                    ends = ends or problem
                elif isinstance(problem, Exception):
                    logger.info("a grade is missing: %s", words(problem))
                    self.failures[grade] = problem
                elif problem is not None:
                    raise problem
        finally:
            self._settle()
        silent = {place // self.panel.repeats for place, _ in self.failures}
        if self.failures and (
            self.final or (not any(self.known) and len(silent) == len(self.panel))
        ):
            ends = ends or next(iter(self.failures.values()))
        if ends is not None:
            raise PartFailed({0: ends}, ["the panel"])
        if len(asked) < len(wanted):
            raise OutOfCalls

    async def _ask(self, place: int, text: str) -> None:
        made = await self.engine.scoring.score(place, self.prompt, [text], self.owner, self.tally)
        # At once: a deadline may end the wait for the others.
        self.known[place][text] = np.atleast_1d(made[0])

    def _settle(self) -> None:
        """Take the samples from what is known."""
        shape = (max(1, len(self.panel.criteria)), *self.values.shape[1:], self.panel.repeats)
        self.grades: Array = np.full(shape, np.nan)
        for k, i in self._pairs():
            for repeat, place in enumerate(self._places(i)):
                known = self.known[place].get(self.candidates[k].text)
                if known is not None:
                    self.grades[:, k, i, repeat] = known
        each = self.grades.mean(axis=0)
        count = (~np.isnan(each)).sum(axis=2)
        self.values[0] = np.nansum(each, axis=2) / np.where(count, count, np.nan)
        if self.panel.missing == PESSIMISTIC:
            for k, i in self._pairs():
                if not count[k, i] and self._failed((k, i)):
                    self.values[0, k, i] = self._empty.bounds[0][0]

    def _pairs(self) -> list[Pair]:
        return [(k, i) for i in range(len(self.panel)) for k in range(len(self.candidates))]

    def _places(self, rater: int) -> range:
        """Where the judges of a rater are among the tools, one a repeat."""
        return range(rater * self.panel.repeats, (rater + 1) * self.panel.repeats)

    def _wanted(self, pairs: Sequence[Pair]) -> list[Grade]:
        """The grades of pairs that were not asked for yet, each once."""
        every = ((place, self.candidates[k].text) for k, i in pairs for place in self._places(i))
        return [
            (place, text)
            for place, text in dict.fromkeys(every)
            if text not in self.known[place] and (place, text) not in self.failures
        ]

    def _failed(self, pair: Pair) -> bool:
        text = self.candidates[pair[0]].text
        return any((place, text) in self.failures for place in self._places(pair[1]))


def grades_of(engine: "Engine", k: int, wave: int | None = None) -> tuple[int, int]:
    """How many grades a choice among k answers takes, at most and on average.

    The average is that of made-up grades: answers that differ by a deviation of 1.5, and raters by
    as much again.

    Args:
        engine: The engine, which has a panel.
        k: How many answers there are.
        wave: How many grades the search asks for at a time, by default one of each answer.
    """
    panel = engine.parts.panel
    assert panel is not None
    raters = len(panel)
    most = k * raters * panel.repeats
    batch = wave or k
    empty = engine.tools.scores((), 0)
    if panel.repeats > 1 or not engine.method.can_search(empty) or k * raters <= batch:
        return most, most
    scores = replace(empty, values=np.zeros((1, k, raters)))
    random = default_rng(0)
    pools = max(LEAST_POOLS, min(POOLS, MOST_GRADES // most))
    calls = 0
    for _ in range(pools):
        answers = random.normal(6.5, SPREAD, (k, 1))
        grades = answers + random.normal(0, SPREAD, (k, raters))
        grades = np.clip(np.round(grades), *empty.bounds[0])
        search = engine.method.search(scores)
        while pairs := search.ask(batch):
            search.tell(pairs, [grades[pair] for pair in pairs])
        calls += search.calls
    return most, -(-calls // pools)
