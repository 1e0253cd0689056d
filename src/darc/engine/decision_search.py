"""The search for the best of one prompt's candidates, and what to do when parts of it fail."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from darc.decide.decision import Decision
from darc.decide.method import Method, flagged, with_raters
from darc.decide.slate import fill_slate
from darc.engine.adaptive_panel import adaptive_asking, asks_adaptively, decide_on_asked
from darc.engine.copies import copies_input
from darc.engine.failures import REWRITER, UPSTREAM, OutOfCalls, PartFailed
from darc.engine.flags import BEST_OF_K, BUDGET_MILLISECONDS, FEWER_SCORERS, FIRST_CANDIDATE
from darc.engine.panel_waves import decide_early, first_wave
from darc.engine.samples import SamplePlace, Samples
from darc.engine.side_inputs import SideInputMaker
from darc.engine.threads import run_in_thread
from darc.engine.workers import Workers
from darc.errors import DarcError
from darc.models.remote.errors import OverLimit
from darc.types import Scores

Result = TypeVar("Result")

#: How many scores a decision may have before it is computed in a thread.
SMALL_POOL = 1000


@dataclass(frozen=True)
class Ranking:
    """The best candidates of a prompt."""

    #: The places of the chosen candidates, the best first.
    order: list[int]
    #: The decision for the best one; None if nothing could be compared.
    decision: Decision | None


@dataclass(kw_only=True)
class DecisionSearch:
    """Chooses among one prompt's candidates from as few samples as the rule needs."""

    samples: Samples
    method: Method
    side_inputs: SideInputMaker
    #: Runs long computations.
    workers: Workers
    #: Whether to score every sample. This is also done where the rule cannot be searched.
    score_everything: bool = False
    #: Whether to raise whatever goes wrong. Otherwise the search goes on with the parts that are
    #: left, down to Best-of-K and to the first candidate, and the flags say so.
    strict: bool = True
    #: How many samples to ask for at a time; by default as many as there are candidates.
    wave: int | None = None
    #: In how many waves the raters of a listwise panel are asked.
    panel_waves: int = 1
    flags: list[str] = field(default_factory=list)

    async def best(self, n: int = 1, deadline: float | None = None) -> Ranking:
        """Choose the n best candidates, each by the rule among those that are left.

        Args:
            n: How many candidates to choose.
            deadline: When to decide on the scores so far, by the clock of the event loop.

        Returns:
            The choice. `flags` then says everything that went otherwise than asked.

        Raises:
            DarcError: If something fails and the search is strict.
        """
        if n > 1:
            self.score_everything = True
        order: list[int] = []
        first_decision: Decision | None = None
        remaining = list(range(len(self.samples.candidates)))
        out_of_budget = ""
        while len(order) < n and remaining:
            decision = None
            if not out_of_budget:
                try:
                    async with asyncio.timeout_at(deadline):
                        decision = await self._decide_among(remaining)
                except TimeoutError:
                    out_of_budget = BUDGET_MILLISECONDS
                except OutOfCalls as problem:
                    out_of_budget = problem.flag
            if out_of_budget:
                self.flags.append(out_of_budget)
                decision = await self._compute(self._decide_on_known_scores, remaining)
            if not order:
                first_decision = decision
            chosen = 0
            if decision is not None:
                chosen = decision.index
            order.append(remaining.pop(chosen))
            has_all_ratings = decision is not None and not out_of_budget
            if len(order) == 1 and n > 1 and has_all_ratings and self._knows_raters:
                order = self._slate(decision, n)
                break
        self._add_decision_flags(first_decision)
        return Ranking(order, first_decision)

    @property
    def _knows_raters(self) -> bool:
        """Whether further choices can go by what each rater thinks."""
        is_rated = self.samples.scores.sample == "rater" and len(self.samples.active_scorers) == 1
        return is_rated and self.method.slate == "different"

    def _slate(self, decision: Decision | None, n: int) -> list[int]:
        """The choice, and further candidates that serve other raters."""
        assert decision is not None
        return fill_slate(decision.ratings, decision.index, n, decision.pools.eligible[0])

    def _add_decision_flags(self, decision: Decision | None) -> None:
        decision_flags: Sequence[str] = ()
        if decision is not None:
            decision_flags = decision.flags
        counts = [1 + len(rewrites.variants) for rewrites in self.samples.rewrites.values()]
        if counts and min(counts) < max(counts) / 2 and "few_samples" not in decision_flags:
            self.flags.append("few_rewrites")
        self.flags = list(dict.fromkeys([*self.flags, *decision_flags]))

    async def _decide_among(self, remaining: Sequence[int]) -> Decision | None:
        """The rule's decision among some candidates, without the parts that fail on the way."""
        while self.samples.active_scorers:
            try:
                return await self._search(remaining)
            except PartFailed as failure:
                is_final = self.samples.fails_as_a_whole and not failure.over_limit
                if self.strict or is_final:
                    raise
                self._go_on_without(failure)
            except DarcError as problem:
                if self.strict or isinstance(problem, OutOfCalls):
                    raise
                if isinstance(problem, OverLimit):
                    raise OutOfCalls(UPSTREAM) from None
                self.flags.append("rule_failed")
                break
        return await self._compute(self._decide_by_best_of_k, remaining)

    async def _search(self, remaining: Sequence[int]) -> Decision:
        """The rule's decision among some candidates, from as few samples as its search needs."""
        samples = self.samples
        n_samples = samples.values.shape[2]
        scores = samples.scores.only(samples.active_scorers, remaining)
        method = self._method_on_scale_of(scores)
        wave = self.wave or len(remaining)
        fits_one_wave = len(remaining) * n_samples <= wave
        if not self.score_everything and len(remaining) > 1 and asks_adaptively(method, scores):
            return await self._search_adaptively(method, remaining)
        if self.panel_waves > 1 and scores.orders and not self.score_everything:
            likely = await self._decide_on_first_raters(method, remaining)
            if likely is not None:
                return likely
        if self.score_everything or fits_one_wave or not method.can_search(scores):
            return await self._decide_on_all_scores(method, remaining)
        search = method.search(scores)
        scored_places: list[SamplePlace] = []
        while True:
            with samples.clock.stage("decide"):
                pairs = await self._compute(search.ask, wave)
            if not pairs:
                break
            places = [(remaining[k], i + samples.first_sample) for k, i in pairs]
            await samples.fill(places)
            scored_places += places
            search.tell(pairs, [samples.values[samples.active_scorers, k, i] for k, i in places])
        # Raters' severities cancel only among candidates that the same raters have graded.
        knows_severities = bool(method.ids(scores))
        some_missing = np.isnan([samples.values[:, k, i] for k, i in scored_places]).any()
        if knows_severities and some_missing:
            return await self._decide_on_all_scores(method, remaining)
        if samples.first_sample and await samples.score_originals_if_needed(remaining):
            return await self._decide_on_all_scores(method, remaining)
        with samples.clock.stage("decide"):
            decision = await self._compute(search.decision)
            return with_raters(flagged(decision, samples.scores), samples.scores)

    async def _search_adaptively(self, method: Method, remaining: Sequence[int]) -> Decision:
        """The rule's decision on the grades that were worth a call."""
        samples = self.samples
        scores = samples.scores.only(samples.active_scorers, remaining)
        # Questions without an id of their own have an order of their own all the same.
        lot = f"{samples.prompt.id}\0{samples.prompt.question}"
        asking = adaptive_asking(method, lot, scores)
        while True:
            with samples.clock.stage("decide"):
                pairs = await self._compute(asking.ask)
            if not pairs:
                break
            places = [(remaining[k], i) for k, i in pairs]
            await samples.fill(places)
            scores = samples.scores.only(samples.active_scorers, remaining)
            asking.tell(method.decided_on(scores)[0])
        with samples.clock.stage("decide"):
            scores = samples.scores.only(samples.active_scorers, remaining)
            return await self._compute(decide_on_asked, method, samples.prompt.id, scores)

    async def _decide_on_first_raters(
        self, method: Method, remaining: Sequence[int]
    ) -> Decision | None:
        """A decision on the grades of half of the raters, if the others would hardly change it."""
        samples = self.samples
        n_raters = samples.values.shape[2]
        raters = first_wave(n_raters)
        if len(raters) == n_raters or len(remaining) < 2 or method.rule.required():
            return None
        await samples.fill([(k, i) for i in raters for k in remaining])
        with samples.clock.stage("decide"):
            scores = samples.scores.only(samples.active_scorers, remaining)
            room = n_raters - len(raters)
            early = await self._compute(decide_early, method, samples.prompt.id, scores, room)
        if early is None:
            return None
        flag = f"likely:{early.probability:.2f}"
        return replace(early.decision, flags=(*early.decision.flags, flag))

    async def _compute(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function, in a thread where it might take long."""
        if self.samples.values.size <= SMALL_POOL:
            return function(*arguments)
        return await self.workers.compute(self.samples.owner, function, *arguments)

    async def _decide_on_all_scores(self, method: Method, remaining: Sequence[int]) -> Decision:
        """Score every sample, and decide."""
        samples = self.samples
        await samples.score_all(remaining)
        with samples.stage("score"):
            side = await self._compute_side_inputs(method, remaining)
        with samples.clock.stage("decide"):
            scores = samples.scores.only(samples.active_scorers, remaining)
            return await self._compute(method.decide, samples.prompt.id, scores, side)

    async def _compute_side_inputs(
        self, method: Method, remaining: Sequence[int]
    ) -> dict[str, Any]:
        """The side inputs that the rule uses."""
        candidates = [self.samples.candidates[k] for k in remaining]
        if not self.side_inputs.is_needed(method.rule):
            return dict(copies_input(candidates))
        return await run_in_thread(self.side_inputs.compute, self.samples.prompt, candidates)

    def _method_on_scale_of(self, scores: Scores) -> Method:
        """The method on one scale for all waves, however many scorers and candidates are left."""
        several_scorers = len(self.samples.values) > 1
        if self.method.normalize == "auto" and several_scorers and scores.constants is not None:
            return replace(self.method, normalize="fixed")
        return self.method

    def _go_on_without(self, failure: PartFailed) -> None:
        """Leave out the parts that failed.

        Raises:
            OutOfCalls: If a limit on calls is the cause and there are scores to decide on.
        """
        if failure.over_limit:
            self.flags.append(UPSTREAM)
            if REWRITER not in failure.causes or not np.isnan(self.samples.values).all():
                raise OutOfCalls(UPSTREAM)
        for part in failure.causes:
            if part == REWRITER:
                self.flags.append("rewriter_failed")
                self.samples.drop_rewrites()
            else:
                self.flags.append(f"scorer_failed:{self.samples.scores.scorers[part]}")
                self.samples.active_scorers.remove(part)

    def _decide_on_known_scores(self, remaining: Sequence[int]) -> Decision | None:
        """The rule's decision on samples that all scorers have scored, or else Best-of-K."""
        samples = self.samples
        is_known = ~np.isnan(samples.values[np.ix_(samples.active_scorers, remaining)])
        scorers = [m for m, row in zip(samples.active_scorers, is_known, strict=True) if row.any()]
        if not scorers or self.method.rule.required():
            return self._decide_by_best_of_k(remaining)
        if len(scorers) < len(samples.active_scorers):
            self.flags.append(FEWER_SCORERS)
        scores = samples.scores.only(scorers, remaining)
        is_incomplete = np.isnan(scores.values).any(axis=0)
        values = np.where(is_incomplete, np.nan, scores.values)
        if not np.isnan(values).all():
            method = self._method_on_scale_of(scores)
            with suppress(DarcError):
                return method.decide(samples.prompt.id, replace(scores, values=values), {})
        return self._decide_by_best_of_k(remaining)

    def _decide_by_best_of_k(self, remaining: Sequence[int]) -> Decision | None:
        """The largest mean by the scorer that has scored most candidates; None without scores."""
        samples = self.samples
        is_known = ~np.isnan(samples.values[:, remaining])
        if not is_known.any():
            self.flags.append(FIRST_CANDIDATE)
            return None
        self.flags.append(BEST_OF_K)
        scorer = int(np.argmax(is_known.any(axis=2).sum(axis=1)))
        method = replace(self.method.best_of_k, normalize="none")
        return method.decide(samples.prompt.id, samples.scores.only([scorer], remaining), {})
