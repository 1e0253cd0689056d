"""Exact selection without looking at every sample: a state machine that does no input or output."""

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from darc.decide.decision import Decision, Labels, decide
from darc.decide.options import SelectOptions
from darc.decide.pools import Pools, Settled
from darc.decide.rule import Rule
from darc.decide.search.plans import NEVER
from darc.decide.search.rows import DOUBTFUL, GAP, SURE, Cell, Row, SearchFrame, View
from darc.decide.statistics.arrays import as_bounds
from darc.decide.statistics.normalization import Normalization, fixed_constants
from darc.errors import InputError
from darc.typing import Array, Mask

#: A candidate and a sample of it.
Pair = tuple[int, int]


class LazySearch:
    """Asks for samples of K candidates until the rule's choice among them is certain.

    `ask` returns the pairs to score next, `tell` takes their scores, `done` says that the choice is
    certain, and `decision` returns it. `best_so_far` decides from what is seen, at any time after
    the first answer.

    Attributes:
        calls: How many samples were asked for and answered.
        clipped: How many of them lay outside the bounds and were clipped.
    """

    def __init__(
        self,
        rule: Rule,
        n_candidates: int,
        n_samples: int,
        bounds: ArrayLike,
        *,
        options: SelectOptions,
        clip: bool = False,
        labels: Labels | None = None,
    ) -> None:
        """Start a search.

        Args:
            rule: The rule, which must have a plan.
            n_candidates: The number of candidates.
            n_samples: The number of samples of a candidate.
            bounds: (a, b) or one pair per scorer, within which all scores lie.
            options: How samples are compared.
            clip: Whether scores outside the bounds are clipped instead of refused.
            labels: What to call candidates, scorers and samples.

        Raises:
            InputError: If the rule cannot be searched lazily with these options.
        """
        if rule.plan is None:
            raise InputError(f"rule {rule.name!r} cannot be searched lazily", "use darc.select")
        if n_candidates < 1 or n_samples < 1:
            raise InputError("there must be at least one candidate and one sample")
        if isinstance(options.normalize, str) and options.normalize == "prompt":
            raise InputError(
                "normalisation within the prompt couples all samples",
                "give fixed constants, normalize=(location, scale), or score everything",
            )
        if options.standards.no_rating_below is not None:
            raise InputError(
                "no_rating_below cannot be checked without every rating", "use darc.select"
            )
        if rule.allow_few_samples and options.min_samples is None:
            options = replace(options, min_samples=1)
        self._rule = rule
        self._plan = rule.plan
        self._options = options
        self._bounds = bounds
        self._clip = clip
        self._labels = labels or Labels()
        self._n_candidates = n_candidates
        self._n_samples = n_samples
        # Samples of each candidate that were asked for and are not answered yet.
        self._asked: dict[int, tuple[int, ...]] = {}
        # The priorities given what is seen, None where they are to be worked out anew.
        self._current_priority: list[float] | None = None
        self.calls = 0
        self.clipped = 0
        # How many scorers there are is known from the first answer only, and any bounds will do
        # before it: every candidate is alike.
        scorers = max(1, len(np.atleast_2d(np.asarray(bounds, dtype=object))))
        self._begin([0.0] * scorers, [1.0] * scorers)
        as_bounds(bounds, scorers)

    @property
    def done(self) -> bool:
        """Whether no further sample can change the choice."""
        return max(self._priority()) == NEVER

    def ask(self, batch: int = 1) -> list[Pair]:
        """List the pairs to score next, the most urgent first.

        Within a batch, and for pairs not yet answered, the search goes on as if the missing answer
        were the mean of what is seen of that candidate.

        Args:
            batch: The largest number of pairs.

        Returns:
            Pairs of (candidate, sample); none when the rest can wait for answers.
        """
        if batch < 1:
            raise InputError(f"batch_size must be at least 1, not {batch}")
        pairs = self._next_pairs(batch)
        for candidate, sample in pairs:
            self._asked[candidate] = (*self._asked.get(candidate, ()), sample)
        return pairs

    def _next_pairs(self, batch: int) -> list[Pair]:
        """The pairs to score next, at most `batch`, without those that are waited for."""
        rows = self._expected_rows()
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
                overall = () if row.seen else overall or _overall_mean(rows)
                guess = row.average or overall
                rows[candidate] = self._rows[candidate].guessed(pending[candidate], guess)
        return pairs

    def tell(self, pairs: Sequence[Pair], values: ArrayLike) -> None:
        """Record scores.

        Args:
            pairs: Pairs that were asked for.
            values: Their scores, (pairs,) or (pairs, M), NaN where there is no such sample.

        Raises:
            InputError: If a pair was not asked for, or a score cannot be used.
        """
        answers = self._check_answers(pairs, values)
        if self.calls == 0:
            scorers = answers.shape[1]
            low, high = as_bounds(self._bounds, scorers).T
            self._begin(low.tolist(), high.tolist(), self._constants(scorers))
        checked = [
            self._check_answer(pair, scores)
            for pair, scores in zip(pairs, answers.tolist(), strict=True)
        ]
        changed: dict[int, list[Cell | None]] = {}
        for (candidate, sample), answer in zip(pairs, checked, strict=True):
            self._answered.append((candidate, sample))
            self._scores.append(answer.scores)
            self.clipped += answer.clipped
            cells = changed.setdefault(candidate, list(self._rows[candidate].cells))
            cells[sample] = answer.cell
            waiting = [place for place in self._asked[candidate] if place != sample]
            self._asked[candidate] = tuple(waiting)
        for candidate, cells in changed.items():
            self._rows[candidate] = Row(self._frame, cells)
            if not self._asked[candidate]:
                del self._asked[candidate]
        self._current_priority = None
        self.calls += len(pairs)

    def decision(self) -> Decision:
        """The rule's choice, which further samples cannot change.

        Raises:
            InputError: If the choice is not certain yet.
        """
        if not self.done:
            raise InputError("the choice is not certain yet", "go on asking, or use best_so_far()")
        rows = self._rows
        high = np.array(self._high)
        dropped = np.array([[not row.complete for row in rows]])
        pools = self._pools(np.where(self._unseen(), high[:, None, None], self._samples()))
        # Of what was given up early only bounds are known.
        least_sigma = [row.least_sigma for row in rows]
        least_premium = [row.least_premium for row in rows]
        statistics = replace(
            pools.statistics,
            sigma=np.where(dropped, least_sigma, pools.statistics.sigma),
            risk_premium=np.where(dropped, least_premium, pools.statistics.risk_premium),
        )
        standing = View(self._frame, rows).standing
        eligible = np.array([[candidate is SURE for candidate in standing]])
        if not eligible.any():
            eligible = pools.present & ~dropped
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
        decision = decide(self._rule, self._pools(samples))[0]
        return self._described(decision, self._incomplete_others(decision.index))

    def _incomplete_others(self, chosen: int) -> Mask:
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

    def _pools(self, samples: Array) -> Pools:
        """Samples (M, K, n) of this prompt, as the rule sees them."""
        options = replace(self._options, normalize=self._constants(len(samples)))
        return Pools.with_options(samples[None], options)

    def _constants(self, scorers: int) -> Normalization:
        """The normalisation for so many scorers."""
        normalize = self._options.normalize
        if normalize is not None:
            return normalize
        if scorers > 1:
            raise InputError(
                "several scorers cannot be compared without constants",
                "give normalize=(location, scale), one number per scorer, or normalize='none'",
            )
        return "none"

    def _begin(
        self, low: list[float], high: list[float], constants: Normalization = "none"
    ) -> None:
        """Start from nothing seen, with scores between `low` and `high`, one per scorer."""
        self._low = low
        self._high = high
        self._answered: list[Pair] = []
        # The raw scores of each answered pair, one per scorer.
        self._scores: list[list[float]] = []
        # The location and scale of each scorer.
        self._units: list[tuple[float, float]] | None = None
        if not isinstance(constants, str):
            location, scale = fixed_constants(constants, len(low))
            self._units = list(zip(location.tolist(), scale.tolist(), strict=True))
        self._frame = SearchFrame(
            low=self._scaled(low),
            high=self._scaled(high),
            beta=self._options.beta,
            gamma=self._options.gamma,
            min_samples=self._options.min_samples,
            n_samples=self._n_samples,
            sample=self._options.sample,
        )
        self._rows = [Row(self._frame, [None] * self._n_samples)] * self._n_candidates
        self._current_priority = None

    def _samples(self) -> Array:
        """The raw scores so far, (M, K, n), NaN where there is none."""
        samples = np.full((len(self._low), self._n_candidates, self._n_samples), np.nan)
        if self._answered:
            candidates, places = zip(*self._answered, strict=True)
            samples[:, candidates, places] = np.array(self._scores).T
        return samples

    def _scaled(self, numbers: Sequence[float]) -> Cell:
        """Raw numbers, one per scorer, in the units of the statistics."""
        if self._units is None:
            return tuple(numbers)
        pairs = zip(numbers, self._units, strict=True)
        return tuple([(number - location) / scale for number, (location, scale) in pairs])

    def _expected_rows(self) -> list[Row]:
        """The rows as if every pair that was asked for were answered as expected."""
        rows = list(self._rows)
        overall: Cell = ()
        for candidate, places in sorted(self._asked.items()):
            row = rows[candidate]
            overall = () if row.seen else overall or _overall_mean(rows)
            rows[candidate] = row.guessed(places, row.average or overall)
        return rows

    def _priority(self) -> list[float]:
        """The priorities given what is seen, without guesses."""
        if self._current_priority is None:
            self._current_priority = self._priorities(View(self._frame, self._rows))
        return self._current_priority

    def _priorities(self, view: View) -> list[float]:
        """One priority per candidate, given what is known at one moment."""
        priority = list(self._plan(view, self._rule.parameters))
        if max(priority) == NEVER and DOUBTFUL in view.standing:
            # Whether a candidate has enough samples depends on how many the others have.
            return [NEVER if row.complete else float(row.total) for row in view.rows]
        return priority

    def _check_answer(self, pair: Pair, scores: list[float]) -> "_Answer":
        """The answer to one pair; a score that cannot be used raises `InputError`."""
        limits = list(zip(scores, self._low, self._high, strict=True))
        for score, low, high in limits:
            if math.isinf(score):
                hint = "return NaN where there is no sample"
                raise InputError("score returned an infinity", hint)
            if not (self._clip or low <= score <= high or math.isnan(score)):
                raise InputError(
                    f"the score {score:g} of candidate {pair[0]}, sample {pair[1]}, lies outside "
                    f"the bounds ({low:g}, {high:g})",
                    "give bounds=(a, b) that hold for every score, or clip=True",
                )
        clipped = any(score < low or score > high for score, low, high in limits)
        if any(math.isnan(score) for score in scores):
            return _Answer([math.nan] * len(scores), GAP, clipped)
        inside = [min(max(score, low), high) for score, low, high in limits]
        return _Answer(inside, self._scaled(inside), clipped)

    def _check_answers(self, pairs: Sequence[Pair], values: ArrayLike) -> Array:
        """The scores of the pairs, (pairs, M); a wrong shape or pair raises `InputError`."""
        answers = np.asarray(values, dtype=np.float64)
        if answers.ndim == 1:
            answers = answers[:, None]
        if answers.ndim != 2 or len(answers) != len(pairs):
            raise InputError(
                f"score returned an array of shape {np.shape(values)} for {len(pairs)} pairs",
                "return one score per pair, or one per scorer for each pair",
            )
        if self.calls and answers.shape[1] != len(self._low):
            raise InputError(
                f"score returned {answers.shape[1]} numbers per pair, not {len(self._low)}",
                "return one number per scorer for each pair, always in the same order",
            )
        answered: set[Pair] = set()
        for candidate, sample in pairs:
            pair = (candidate, sample)
            if sample not in self._asked.get(candidate, ()) or pair in answered:
                raise InputError(f"the pair {pair} was not asked for, or is answered already")
            answered.add(pair)
        return answers


class _Answer(NamedTuple):
    """What was answered to one pair."""

    #: Raw scores, one per scorer, within the bounds; NaN where there is no such sample.
    scores: list[float]
    #: The scores in the units of the statistics.
    cell: Cell
    #: Whether a score lay outside the bounds.
    clipped: bool


def _overall_mean(rows: Sequence[Row]) -> Cell:
    """The mean of all that is seen, (M,), or the middle of the bounds."""
    seen = sum([row.seen for row in rows])
    if not seen:
        return rows[0].frame.middle
    totals = [[row.seen * mean for mean in row.average] for row in rows if row.seen]
    return tuple([sum(by_row) / seen for by_row in zip(*totals, strict=True)])


def drive(search: LazySearch, score: Callable[[list[Pair]], ArrayLike], batch: int) -> Decision:
    """Run a search whose questions `score` answers, `batch` pairs at a time."""
    pairs = search.ask(batch)
    while pairs:
        search.tell(pairs, score(pairs))
        pairs = search.ask(batch)
    return search.decision()


async def drive_async(
    search: LazySearch, score: Callable[[list[Pair]], Awaitable[ArrayLike]], batch: int
) -> Decision:
    """Run a search whose questions `score` answers, awaited."""
    pairs = search.ask(batch)
    while pairs:
        search.tell(pairs, await score(pairs))
        pairs = search.ask(batch)
    return search.decision()
