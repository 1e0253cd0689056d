"""Exact selection without looking at every sample: a state machine that does no input or output."""

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from darc.decide.decision import Decision, Labels, decide
from darc.decide.pools import Pools, Settled
from darc.decide.rule import Rule
from darc.decide.search.plans import NEVER
from darc.decide.search.rows import DOUBTFUL, GAP, SURE, Cell, Row, SearchFrame, View
from darc.decide.standards import NO_STANDARDS, Standards
from darc.decide.statistics.arrays import as_bounds
from darc.decide.statistics.kernel import Normalization, fixed_constants
from darc.errors import InputError
from darc.typing import Array, Mask

Pair = tuple[int, int]
# "exact" stops when the choice is certain, "likely" when it is very probably final.
SearchMode = Literal["exact", "likely"]

REMEMBERED = 1000


class LazySearch:
    """Asks for samples of K candidates until the rule's choice among them is certain.

    `ask(batch)` returns the (candidate, sample) pairs to score next, at most `batch`; `tell(pairs,
    values)` takes their scores; `done` says that the choice is certain, and `decision()` is the
    result. `best_so_far()` decides from what is seen, at any time after the first answer.
    """

    def __init__(
        self,
        rule: Rule,
        n_candidates: int,
        n_samples: int,
        bounds: ArrayLike,
        *,
        beta: float = 1.0,
        gamma: float = 1.0,
        normalize: Normalization = None,
        min_samples: int | None = None,
        clip: bool = False,
        labels: Labels | None = None,
        standards: Standards = NO_STANDARDS,
    ) -> None:
        if rule.plan is None:
            raise InputError(f"rule {rule.name!r} cannot be searched lazily", "use darc.select")
        if n_candidates < 1 or n_samples < 1:
            raise InputError("there must be at least one candidate and one sample")
        if isinstance(normalize, str) and normalize == "prompt":
            raise InputError(
                "normalisation within the prompt couples all samples",
                "give fixed constants, normalize=(location, scale), or score everything",
            )
        if standards.no_rating_below is not None:
            raise InputError(
                "no_rating_below cannot be checked without every rating", "use darc.select"
            )
        self._rule = rule
        self._plan = rule.plan
        self._bounds = bounds
        self._normalize = normalize
        self._clip = clip
        self._labels = labels or Labels()
        scorers = max(1, len(np.atleast_2d(np.asarray(bounds, dtype=object))))
        if rule.allow_few_samples and min_samples is None:
            min_samples = 1
        self._pools = Pools(
            np.zeros((1, scorers, 2, 2)),
            beta=beta,
            gamma=gamma,
            min_samples=min_samples,
            sample=self._labels.sample,
            standards=standards,
        )
        self._shape = n_candidates, n_samples
        self._known: list[float] | None = None
        # Any bounds will do before the first answer: every candidate is alike.
        self._begin([0.0] * scorers, [1.0] * scorers)
        self._asked: dict[int, tuple[int, ...]] = {}
        self.calls = 0
        self.clipped = 0
        as_bounds(bounds, scorers)
        _check_parameters(self._rule, self._pools)

    @property
    def done(self) -> bool:
        """Whether no further sample can change the choice."""
        return max(self._priority()) == NEVER

    def ask(self, batch: int = 1) -> list[Pair]:
        """The pairs to score next, most urgent first; none when the rest can wait for answers.

        Within a batch, and for pairs not yet answered, the search goes on as if the missing answer
        were the mean of what is seen of that candidate.
        """
        if batch < 1:
            raise InputError(f"batch_size must be at least 1, not {batch}")
        pairs = self._next_pairs(batch)
        for candidate, sample in pairs:
            self._asked[candidate] = (*self._asked.get(candidate, ()), sample)
        return pairs

    def _next_pairs(self, batch: int) -> list[Pair]:
        """The pairs to score next, at most `batch`, without those that are waited for."""
        rows = self._ahead()
        pending = dict(self._asked)
        overall: Cell = ()
        pairs: list[Pair] = []
        while len(pairs) < batch:
            if pending:
                priority = self._priorities(View(self._frame, rows))
            else:
                priority = self._priority()
            best = max(priority)
            if best == NEVER:
                break
            candidate = priority.index(best)
            row = rows[candidate]
            sample = row.cells.index(None)
            pairs.append((candidate, sample))
            pending[candidate] = (*pending.get(candidate, ()), sample)
            if len(pairs) < batch:
                # A guess that equals the overall mean does not change it.
                overall = () if row.seen else overall or _overall(rows)
                guess = row.average or overall
                rows[candidate] = self._rows[candidate].guessed(pending[candidate], guess)
        return pairs

    def tell(self, pairs: Sequence[Pair], values: ArrayLike) -> None:
        """Record the scores of pairs that were asked for; NaN where there is no such sample."""
        answers = self._answers(pairs, values)
        if self.calls == 0:
            scorers = answers.shape[1]
            low, high = as_bounds(self._bounds, scorers).T
            self._begin(low.tolist(), high.tolist(), self._constants(scorers))
        taken = list(map(self._taken, pairs, answers.tolist()))
        changed: dict[int, list[Cell | None]] = {}
        for (candidate, sample), (raw, cell, clipped) in zip(pairs, taken, strict=True):
            self._told.append((candidate, sample))
            self._scores.append(raw)
            changed.setdefault(candidate, list(self._rows[candidate].cells))[sample] = cell
            self._asked[candidate] = tuple([i for i in self._asked[candidate] if i != sample])
            self.clipped += clipped
        for candidate, cells in changed.items():
            self._rows[candidate] = Row(self._frame, cells)
            if not self._asked[candidate]:
                del self._asked[candidate]
        self._known = None
        self.calls += len(pairs)

    def decision(self) -> Decision:
        """The rule's choice, which further samples cannot change."""
        if not self.done:
            raise InputError("the choice is not certain yet", "go on asking, or use best_so_far()")
        rows = self._rows
        high = np.array(self._limits[1])
        dropped = np.array([[not row.complete for row in rows]])
        pools = self._with(np.where(self._unseen(), high[:, None, None], self._samples()))
        known = pools.statistics
        least_sigma = [row.least_sigma for row in rows]
        least_premium = [row.least_premium for row in rows]
        statistics = replace(
            known,
            sigma=np.where(dropped, least_sigma, known.sigma),
            risk_premium=np.where(dropped, least_premium, known.risk_premium),
        )
        sure = np.array([[each is SURE for each in View(self._frame, rows).standing]])
        eligible = sure if sure.any() else pools.present & ~dropped
        settled = Settled(statistics, eligible, dropped)
        decision = decide(self._rule, replace(pools, settled=settled))[0]
        return self._described(decision, dropped[0])

    def best_so_far(self) -> Decision:
        """The rule's choice from what is seen so far, flagged `unfinished` unless it is certain."""
        if self.done:
            return self.decision()
        decision = self._decide_on_seen()
        return replace(decision, flags=(*decision.flags, "unfinished"))

    def _decide_on_seen(self) -> Decision:
        """The rule's choice from what is seen, as if there were no other samples."""
        samples = self._samples()
        if np.isnan(samples).all():
            raise InputError("nothing has been scored yet", "tell at least one score first")
        decision = decide(self._rule, self._with(samples))[0]
        return self._described(decision, self._not_known(decision.index))

    def _not_known(self, chosen: int) -> Mask:
        """Which candidates other than the chosen one have samples that were not seen, (K,)."""
        incomplete = np.array([not row.complete for row in self._rows])
        incomplete[chosen] = False
        return incomplete

    def _described(self, decision: Decision, bounded: Mask) -> Decision:
        """A decision with what this search knows: names, calls, and what it did not see."""
        flags = decision.flags
        if self.clipped:
            flags = (*flags, "clipped")
        return replace(
            decision,
            flags=flags,
            labels=self._labels,
            calls=self.calls,
            bounded=bounded,
            unseen=self._unseen(),
        )

    def _unseen(self) -> Mask:
        """Which samples were never answered, (K, n)."""
        return np.array([[cell is None for cell in row.cells] for row in self._rows])

    def _with(self, samples: Array) -> Pools:
        return replace(self._pools, samples=samples[None], normalize=self._constants(len(samples)))

    def _constants(self, scorers: int) -> Normalization:
        if self._normalize is None and scorers > 1:
            raise InputError(
                "several scorers cannot be compared without constants",
                "give normalize=(location, scale), one number a scorer, or normalize='none'",
            )
        return "none" if self._normalize is None else self._normalize

    def _begin(
        self, low: list[float], high: list[float], constants: Normalization = "none"
    ) -> None:
        """Start from nothing seen, with scores between `low` and `high`, one a scorer."""
        scorers = len(low)
        candidates, size = self._shape
        self._limits = low, high
        self._told: list[Pair] = []
        self._scores: list[list[float]] = []
        self._units: list[tuple[float, float]] | None = None
        if not isinstance(constants, str):
            location, scale = fixed_constants(constants, scorers)
            self._units = list(zip(location.tolist(), scale.tolist(), strict=True))
        pools = self._pools
        self._frame = SearchFrame(
            low=self._scaled(low),
            high=self._scaled(high),
            beta=pools.beta,
            gamma=pools.gamma,
            min_samples=pools.min_samples,
            n_samples=size,
            sample=pools.sample,
        )
        self._rows = [Row(self._frame, [None] * size)] * candidates
        self._known = None

    def _samples(self) -> Array:
        """The raw scores so far, (M, K, n), NaN where there is none."""
        result = np.full((len(self._limits[0]), *self._shape), np.nan)
        if self._told:
            candidates, samples = zip(*self._told, strict=True)
            result[:, candidates, samples] = np.array(self._scores).T
        return result

    def _scaled(self, numbers: Sequence[float]) -> Cell:
        """Raw numbers, one a scorer, in the units of the statistics."""
        if self._units is None:
            return tuple(numbers)
        return tuple([(x - a) / b for x, (a, b) in zip(numbers, self._units, strict=True)])

    def _ahead(self) -> list[Row]:
        """The rows as if every pair that was asked for were answered as expected."""
        rows = list(self._rows)
        overall: Cell = ()
        for candidate, places in sorted(self._asked.items()):
            row = rows[candidate]
            overall = () if row.seen else overall or _overall(rows)
            rows[candidate] = row.guessed(places, row.average or overall)
        return rows

    def _priority(self) -> list[float]:
        """The priorities given what is seen, without guesses."""
        if self._known is None:
            self._known = self._priorities(View(self._frame, self._rows))
        return self._known

    def _priorities(self, view: View) -> list[float]:
        priority = list(self._plan(view, self._rule.parameters))
        if max(priority) == NEVER and DOUBTFUL in view.standing:
            return [NEVER if row.complete else float(row.total) for row in view.rows]
        return priority

    def _taken(self, pair: Pair, answer: list[float]) -> tuple[list[float], Cell, bool]:
        """An answer's raw scores, its cell, and whether it was clipped to the bounds."""
        for x, low, high in zip(answer, *self._limits, strict=True):
            if math.isinf(x):
                hint = "return NaN where there is no sample"
                raise InputError("score returned an infinity", hint)
            if not (self._clip or low <= x <= high or math.isnan(x)):
                raise InputError(
                    f"the score {x:g} of candidate {pair[0]}, sample {pair[1]}, lies outside the "
                    f"bounds ({low:g}, {high:g})",
                    "give bounds=(a, b) that hold for every score, or clip=True",
                )
        inside = [min(max(x, a), b) for x, a, b in zip(answer, *self._limits, strict=True)]
        clipped = any(x < y or x > y for x, y in zip(answer, inside, strict=True))
        if any(map(math.isnan, answer)):
            return [math.nan] * len(answer), GAP, clipped
        return inside, self._scaled(inside), clipped

    def _answers(self, pairs: Sequence[Pair], values: ArrayLike) -> Array:
        """The scores of the pairs, (pairs, M), checked."""
        answers = np.asarray(values, dtype=np.float64)
        answers = answers[:, None] if answers.ndim == 1 else answers
        if answers.ndim != 2 or len(answers) != len(pairs):
            raise InputError(
                f"score returned an array of shape {np.shape(values)} for {len(pairs)} pairs",
                "return one score a pair, or one a scorer for each pair",
            )
        if self.calls and answers.shape[1] != len(self._limits[0]):
            raise InputError(
                f"score returned {answers.shape[1]} numbers a pair, not {len(self._limits[0])}",
                "return one number a scorer for each pair, always in the same order",
            )
        told: set[Pair] = set()
        for candidate, sample in pairs:
            pair = candidate, sample
            if sample not in self._asked.get(candidate, ()) or pair in told:
                raise InputError(f"the pair {pair} was not asked for, or is answered already")
            told.add(pair)
        return answers


def _overall(rows: Sequence[Row]) -> Cell:
    """The mean of all that is seen, (M,), or the middle of the bounds."""
    seen = sum([row.seen for row in rows])
    if not seen:
        return rows[0].frame.middle
    parts = [[row.seen * mean for mean in row.average] for row in rows if row.seen]
    return tuple([sum(part) / seen for part in zip(*parts, strict=True)])


_checked: set[tuple[object, ...]] = set()


def _check_parameters(rule: Rule, pools: Pools) -> None:
    """Raise what a decision by these parameters raises; those that passed are remembered."""
    settings = (pools.beta, pools.gamma, pools.min_samples, pools.sample, pools.standards)
    key = (rule.function, repr((rule.parameters, *settings)))
    if key not in _checked:
        decide(rule, pools)
        if len(_checked) >= REMEMBERED:
            _checked.clear()
        _checked.add(key)


def drive(search: LazySearch, score: Callable[[list[Pair]], ArrayLike], batch: int) -> Decision:
    """The decision of a search whose questions `score` answers."""
    while pairs := search.ask(batch):
        search.tell(pairs, score(pairs))
    return search.decision()


async def drive_async(
    search: LazySearch, score: Callable[[list[Pair]], Awaitable[ArrayLike]], batch: int
) -> Decision:
    """The decision of a search whose questions `score` answers, awaited."""
    while pairs := search.ask(batch):
        search.tell(pairs, await score(pairs))
    return search.decision()
