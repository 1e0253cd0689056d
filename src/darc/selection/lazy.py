"""Exact selection without looking at every sample: a state machine that does no input or output."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from darc.core.arrays import as_bounds
from darc.core.normalization import Normalization, fixed_constants
from darc.errors import InputError
from darc.selection.decide import decide
from darc.selection.decision import Decision, Labels
from darc.selection.plans import NEVER
from darc.selection.pools import Pools, Settled
from darc.selection.rule import Rule
from darc.selection.view import View

Array = NDArray[np.float64]
Pair = tuple[int, int]


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
        self._rule = rule.bind()
        self._plan = rule.plan
        self._bounds = bounds
        self._normalize = normalize
        self._clip = clip
        self._labels = labels or Labels()
        self._pools = Pools(np.zeros((1, 1, 2, 2)), beta, gamma, None, None, min_samples)
        self._samples = np.full((1, n_candidates, n_samples), np.nan)
        self._unseen = np.ones((n_candidates, n_samples), dtype=bool)
        self._pending = np.zeros((n_candidates, n_samples), dtype=bool)
        self.calls = 0
        self.clipped = 0
        as_bounds(bounds, max(1, len(np.atleast_2d(np.asarray(bounds, dtype=object)))))
        decide(self._rule, self._pools)

    @property
    def done(self) -> bool:
        """Whether no further sample can change the choice."""
        return bool(np.isneginf(self._priorities(self._view())).all())

    def ask(self, batch: int = 1) -> list[Pair]:
        """The pairs to score next, most urgent first; none when the rest can wait for answers.

        Within a batch, and for pairs not yet answered, the search goes on as if the missing answer
        were the mean of what is seen of that candidate.
        """
        if batch < 1:
            raise InputError(f"batch_size must be at least 1, not {batch}")
        view = self._view()
        for candidate, sample in np.argwhere(self._pending):
            view = view.predicted(int(candidate), int(sample))
        pairs: list[Pair] = []
        while len(pairs) < batch:
            priority = self._priorities(view)
            candidate = int(np.argmax(priority))
            if np.isneginf(priority[candidate]):
                break
            sample = int(np.argmax(view.unseen[candidate]))
            pairs.append((candidate, sample))
            if len(pairs) < batch:
                view = view.predicted(candidate, sample)
        for pair in pairs:
            self._pending[pair] = True
        return pairs

    def tell(self, pairs: Sequence[Pair], values: ArrayLike) -> None:
        """Record the scores of pairs that were asked for; NaN where there is no such sample."""
        answers = self._answers(pairs, values)
        if self.calls == 0:
            self._samples = np.repeat(self._samples, answers.shape[1], axis=0)
        low, high = as_bounds(self._bounds, answers.shape[1]).T
        outside = (answers < low) | (answers > high)
        if outside.any() and not self._clip:
            row, scorer = (int(i) for i in np.argwhere(outside)[0])
            raise InputError(
                f"the score {answers[row, scorer]:g} of candidate {pairs[row][0]}, sample "
                f"{pairs[row][1]}, lies outside the bounds ({low[scorer]:g}, {high[scorer]:g})",
                "give bounds=(a, b) that hold for every score, or clip=True",
            )
        self.clipped += int(outside.any(axis=1).sum())
        missing = np.isnan(answers).any(axis=1, keepdims=True)
        answers = np.where(missing, np.nan, np.clip(answers, low, high))
        for pair, answer in zip(pairs, answers, strict=True):
            self._samples[:, pair[0], pair[1]] = answer
            self._unseen[pair] = self._pending[pair] = False
        self.calls += len(pairs)

    def decision(self) -> Decision:
        """The rule's choice, which further samples cannot change."""
        view = self._view()
        if not np.isneginf(self._priorities(view)).all():
            raise InputError("the choice is not certain yet", "go on asking, or use best_so_far()")
        dropped = ~view.complete[None]
        high = as_bounds(self._bounds, len(self._samples))[:, 1]
        filled = np.where(self._unseen, high[:, None, None], self._samples)
        pools = self._with(filled)
        statistics = replace(
            pools.statistics,
            sigma=np.where(dropped, view.least_sigma, pools.statistics.sigma),
            risk_premium=np.where(dropped, view.least_premium, pools.statistics.risk_premium),
        )
        sure = view.sure[None]
        eligible = sure if sure.any() else pools.present & ~dropped
        return self._decide(
            replace(pools, settled=Settled(statistics, eligible, dropped)), dropped[0]
        )

    def best_so_far(self) -> Decision:
        """The rule's choice from what is seen so far, flagged `unfinished` unless it is certain."""
        if self.done:
            return self.decision()
        if np.isnan(self._samples).all():
            raise InputError("nothing has been scored yet", "tell at least one score first")
        return self._decide(self._with(self._samples), np.any(self._unseen, axis=1), "unfinished")

    def _decide(self, pools: Pools, bounded: NDArray[np.bool_], *flags: str) -> Decision:
        names = None if self._labels.candidates is None else [list(self._labels.candidates)]
        decision = decide(self._rule, pools, names, self._labels.sample)[0]
        raised = (*decision.flags, *flags, *(("clipped",) if self.clipped else ()))
        return replace(decision, flags=raised, calls=self.calls, bounded=bounded)

    def _with(self, samples: Array) -> Pools:
        return replace(self._pools, samples=samples[None], normalize=self._constants(len(samples)))

    def _constants(self, scorers: int) -> Normalization:
        if self._normalize is None and scorers > 1:
            raise InputError(
                "several scorers cannot be compared without constants",
                "give normalize=(location, scale), one number a scorer, or normalize='none'",
            )
        return "none" if self._normalize is None else self._normalize

    def _view(self) -> View:
        scorers = len(self._samples)
        constants = self._constants(scorers)
        low, high = as_bounds(self._bounds, scorers).T if self.calls else self._first_bounds()
        samples = self._samples
        if not isinstance(constants, str) and self.calls:
            location, scale = fixed_constants(constants, scorers)
            samples = (samples - location[:, None, None]) / scale[:, None, None]
            low, high = (low - location) / scale, (high - location) / scale
        pools = self._pools
        return View(samples, self._unseen, low, high, pools.beta, pools.gamma, pools.min_samples)

    def _first_bounds(self) -> Array:
        """Any bounds will do before the first answer: every candidate is alike."""
        return np.array([[0.0], [1.0]])

    def _priorities(self, view: View) -> Array:
        priority = self._plan(view, self._rule.parameters)
        if np.isneginf(priority).all() and view.doubtful.any():
            return np.where(view.complete, NEVER, view.total)
        return priority

    def _answers(self, pairs: Sequence[Pair], values: ArrayLike) -> Array:
        """The scores of the pairs, (pairs, M), checked."""
        answers = np.asarray(values, dtype=np.float64)
        answers = answers[:, None] if answers.ndim == 1 else answers
        if answers.ndim != 2 or len(answers) != len(pairs):
            raise InputError(
                f"score returned an array of shape {np.shape(values)} for {len(pairs)} pairs",
                "return one score a pair, or one a scorer for each pair",
            )
        if self.calls and answers.shape[1] != len(self._samples):
            raise InputError(
                f"score returned {answers.shape[1]} numbers a pair, not {len(self._samples)}",
                "return one number a scorer for each pair, always in the same order",
            )
        if np.isinf(answers).any():
            raise InputError("score returned an infinity", "return NaN where there is no sample")
        for pair in pairs:
            if not self._pending[pair]:
                raise InputError(f"the pair {pair} was not asked for, or is answered already")
        return answers


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
