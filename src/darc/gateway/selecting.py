"""From candidates to a choice: the lazy search, its budget, and what to do when parts fail."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from darc.engine.deciding import Deciding
from darc.engine.rule_spec import RuleSpec, parse_rules
from darc.engine.side_inputs import SideMaker
from darc.errors import DarcError
from darc.gateway.errors import unavailable
from darc.gateway.hands import Hands
from darc.gateway.method import Method
from darc.gateway.scoring import OutOfCalls, PartFailed, Sheet
from darc.selection.decision import Decision
from darc.web.problems import Problem

BEST_OF_K, FIRST = "best_of_k", "first_candidate"


@dataclass
class Outcome:
    """The best candidates in order, and the decision that put the first of them there.

    `decision` is None where nothing could be compared and the first candidate was taken.
    """

    order: list[int]
    decision: Decision | None
    flags: list[str] = field(default_factory=list)


@dataclass
class Selection:
    """One request's selection.

    `n` candidates are chosen one after the other, each by the rule among those that are left. The
    lazy search says what is scored, unless one wave covers everything, the rule needs it all, or
    more than one candidate is wanted.
    """

    sheet: Sheet
    method: Method
    hands: Hands
    side: SideMaker
    seed: int = 0
    flags: list[str] = field(default_factory=list)
    full: bool = False

    async def best(self, n: int, deadline: float | None = None) -> Outcome:
        """The n best; whatever goes wrong is in the flags, or is a 503 if the policy is closed."""
        self.full = self.method.full or n > 1
        order: list[int] = []
        first: Decision | None = None
        left = list(range(len(self.sheet.candidates)))
        stopped = ""
        while len(order) < n and left:
            decision = None
            if not stopped:
                try:
                    async with asyncio.timeout_at(deadline):
                        decision = await self._decision(left)
                except TimeoutError:
                    stopped = "budget_milliseconds"
                except OutOfCalls:
                    stopped = "budget_calls"
            if stopped:
                self._flag(stopped)
                decision = await self.hands.do(self._from_what_is_there, left)
            place = 0 if decision is None else decision.index
            if not order:
                first = decision
            order.append(left.pop(place))
        decided = [] if first is None else list(first.flags)
        return Outcome(order, first, list(dict.fromkeys([*self.flags, *decided])))

    async def _decision(self, left: Sequence[int]) -> Decision | None:
        """The rule's decision among some candidates, with fewer parts each time that some fail."""
        while self.sheet.active:
            try:
                return await self._search(left)
            except PartFailed as failed:
                self._degrade(failed)
            except DarcError as problem:
                if self.method.policy == "closed":
                    raise Problem(400, str(problem), code="invalid_darc", param="darc") from None
                self._flag("rule_failed")
                break
        return await self.hands.do(self._best_of_k, left)

    async def _search(self, left: Sequence[int]) -> Decision:
        sheet, deciding, samples = self.sheet, self._deciding(), self.sheet.samples
        wave = self.method.wave
        lazily = not self.full and len(left) * samples > wave
        if not lazily or not deciding.can_search():
            await sheet.fill([(k, i) for i in range(sheet.first, samples) for k in left])
            return await self._decide_all(deciding, left)
        search = deciding.search(len(left), samples)
        while True:
            with sheet.clock.stage("decide"):
                pairs = await self.hands.do(search.ask, wave)
            if not pairs:
                break
            places = [(left[k], i + sheet.first) for k, i in pairs]
            await sheet.fill(places)
            values = np.array([sheet.scores[sheet.active, k, i] for k, i in places])
            search.tell(pairs, values)
        if np.isnan(sheet.scores[np.ix_(sheet.active, left)]).all():
            return await self._decide_all(deciding, left)
        with sheet.clock.stage("decide"):
            return await self.hands.do(search.decision)

    async def _decide_all(self, deciding: Deciding, left: Sequence[int]) -> Decision:
        """The decision on all scores; on the originals' where no candidate has a rewrite."""
        sheet = self.sheet
        if np.isnan(sheet.scores[np.ix_(sheet.active, left)]).all():
            await sheet.fill([(k, 0) for k in left])
        with sheet.clock.stage("decide"):
            return await self.hands.do(self._decide_fully, deciding, left)

    def _decide_fully(self, deciding: Deciding, left: Sequence[int]) -> Decision:
        sheet, rule = self.sheet, self.method.spec.rule
        found: dict[str, Any] = {}
        if rule.required() or set(rule.takes) & set(self.side.scorers):
            candidates = [sheet.candidates[k] for k in left]
            found = self.side.make(sheet.prompt, candidates)
        scores = sheet.scores[np.ix_(sheet.active, left)]
        fixed = deciding.normalize == "auto" and deciding.constants is not None
        return deciding.decide(sheet.prompt.id, scores, found, lazily=fixed)

    def _deciding(self, spec: RuleSpec | None = None, places: Sequence[int] = ()) -> Deciding:
        """How to decide with the scorers that are left, on the scale that all of them had."""
        sheet = self.sheet
        own = [sheet.scorers[m] for m in places or sheet.active]
        known = [(s.location, s.scale) for s in own]
        whole = all(location is not None and scale is not None for location, scale in known)
        constants = ([k[0] for k in known], [k[1] for k in known]) if whole else None
        normalize = self.method.normalize
        engine = sheet.workshop.engine
        if normalize == "auto" and len(engine.scorers) > 1 and engine.constants is not None:
            normalize = "fixed"
        bounds = [(float(s.bounds[0]), float(s.bounds[1])) for s in own]
        return Deciding(
            spec or self.method.spec,
            bounds,
            constants,  # type: ignore[arg-type]
            normalize,
            self.seed,
            include_original=sheet.first == 0,
        )

    def _degrade(self, failed: PartFailed) -> None:
        """Go on without the parts that failed, or not at all."""
        names = [
            "rewriter" if part is None else f"scorer {self.sheet.scorers[part].name}"
            for part in failed.parts
        ]
        if self.method.policy == "closed":
            raise unavailable(f"{' and '.join(names)} failed", "part_failed")
        for part in failed.parts:
            if part is None:
                self._flag("rewriter_failed")
                self.sheet.samples, self.sheet.first = 1, 0
                self.sheet.scores = self.sheet.scores[:, :, :1]
            else:
                self._flag(f"scorer_failed:{self.sheet.scorers[part].name}")
                self.sheet.active.remove(part)

    def _from_what_is_there(self, left: Sequence[int]) -> Decision | None:
        """The rule's decision on the scores that have come, or else Best-of-K."""
        known = ~np.isnan(self.sheet.scores[np.ix_(self.sheet.active, left)])
        there = [m for m, has in zip(self.sheet.active, known.any(axis=(1, 2)), strict=True) if has]
        if there:
            if len(there) < len(self.sheet.active):
                self._flag("fewer_scorers")
            scores = whole_samples(self.sheet.scores[np.ix_(there, left)])
            rule = self.method.spec.rule
            if not np.isnan(scores).all() and not rule.required():
                deciding = self._deciding(places=there)
                try:
                    fixed = deciding.constants is not None
                    return deciding.decide(self.sheet.prompt.id, scores, {}, lazily=fixed)
                except DarcError:
                    pass
        return self._best_of_k(left)

    def _best_of_k(self, left: Sequence[int]) -> Decision | None:
        """The largest mean by the scorer that has said most, or None."""
        known = ~np.isnan(self.sheet.scores[:, left])
        if not known.any():
            self._flag(FIRST)
            return None
        self._flag(BEST_OF_K)
        most = int(np.argmax(known.any(axis=2).sum(axis=1)))
        spec = self.method.spec
        (mean,) = parse_rules(["mean"], {}, spec.beta, spec.gamma)
        low, high = self.sheet.scorers[most].bounds
        deciding = Deciding(mean, [(float(low), float(high))], None, "none")
        scores = self.sheet.scores[np.ix_([most], left)]
        return deciding.decide(self.sheet.prompt.id, scores, {})

    def _flag(self, flag: str) -> None:
        if flag not in self.flags:
            self.flags.append(flag)


def whole_samples(scores: Any) -> Any:
    """Scores (M, K, n) in which a sample that some scorer has not seen is missing for all."""
    return np.where(np.isnan(scores).any(axis=0), np.nan, scores)
