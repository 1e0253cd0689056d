"""One candidate of a partly seen pool: its samples so far, and bounds on what it can become.

A row is never changed: an answer makes a new one from its samples, so that its bounds are those of
the samples however the answers came, and the rows of all other candidates keep theirs.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, TypeVar

from darc.decide.search import row_statistics as plain
from darc.decide.search.row_statistics import RowSummary
from darc.decide.statistics.kernel import ROUNDING

# One sample of all scorers, in the units of the statistics; a gap is (), an unseen sample None.
Cell = tuple[float, ...]
GAP: Cell = ()
Bound = TypeVar("Bound")


@dataclass(frozen=True, eq=False)
class SearchFrame:
    """What the rows of a search share."""

    #: Each scorer's lower bound, (M,).
    low: tuple[float, ...]
    #: Each scorer's upper bound, (M,).
    high: tuple[float, ...]
    #: Risk aversion.
    beta: float
    #: Hedge over scorers.
    gamma: float
    #: Fewest samples of a candidate that may be chosen.
    min_samples: int | None
    #: How many samples a candidate has once all of them are seen.
    n_samples: int
    #: What one sample is, such as "rater" or "rewrite".
    sample: str = "sample"

    @cached_property
    def middle(self) -> Cell:
        """Half-way between the bounds, (M,)."""
        return tuple(0.5 * (low + high) for low, high in zip(self.low, self.high, strict=True))

    @cached_property
    def tolerance(self) -> float:
        """More than any difference that the rules count as a tie."""
        root = math.sqrt(self.n_samples)
        reach = [
            max(abs(low), abs(high)) + (high - low) * root
            for low, high in zip(self.low, self.high, strict=True)
        ]
        return 2 * ROUNDING * max(reach)


class Row:
    """A candidate, of which some samples are seen.

    Attributes:
        frame: What the rows of the search share.
        cells: Its samples, of all scorers each; None for one that is not seen.
        seen: How many samples are seen.
        unseen: How many more may come.
        total: The most samples that it can end with.
        complete: Whether no more can come.
        samples: The samples that are seen, by scorer, (M, seen).
        average: Their mean, (M,), empty if nothing is seen.
    """

    def __init__(
        self, frame: SearchFrame, cells: Sequence[Cell | None], average: Cell = ()
    ) -> None:
        self.frame = frame
        self.cells = cells
        seen_cells = [cell for cell in cells if cell]
        self.seen = len(seen_cells)
        self.unseen = cells.count(None)
        self.total = self.seen + self.unseen
        self.complete = self.unseen == 0
        self.samples: Sequence[Sequence[float]] = ((),) * len(frame.high)
        if seen_cells:
            self.samples = tuple(zip(*seen_cells, strict=True))
        if seen_cells and not average:
            average = tuple([sum(samples) / self.seen for samples in self.samples])
        self.average = average
        self._remembered: dict[object, Any] = {}
        self._guessed: dict[tuple[tuple[int, ...], Cell], Row] = {}

    def guessed(self, places: tuple[int, ...], guess: Cell) -> "Row":
        """The row as if the samples at these places were seen and equal to `guess`."""
        row = self._guessed.get((places, guess))
        if row is None:
            cells = list(self.cells)
            for place in places:
                cells[place] = guess
            row = Row(self.frame, cells, guess)
            self._guessed[places, guess] = row
        return row

    def remember(self, key: object, bound: Callable[["Row"], Bound]) -> Bound:
        """`bound` of this row, worked out once for each key."""
        if key not in self._remembered:
            self._remembered[key] = bound(self)
        value: Bound = self._remembered[key]
        return value

    @cached_property
    def partial(self) -> Sequence[RowSummary]:
        """The summary of what is seen, one per scorer."""
        beta = self.frame.beta
        return [plain.summary(samples, beta) for samples in self.samples]

    @cached_property
    def top(self) -> RowSummary:
        """The summary with every unseen sample at its upper bound; exact if complete."""
        return plain.hedged(self.completed(self.frame.high), self.frame.gamma)

    @cached_property
    def best_ranks(self) -> Sequence[float]:
        """The first scorer's samples in rising order, every unseen one at its upper bound."""
        return sorted([*self.samples[0], *[self.frame.high[0]] * self.unseen])

    @cached_property
    def best_mean(self) -> float:
        """The first scorer's mean with every unseen sample at its upper bound."""
        return sum(self.best_ranks) / self.total

    def completed(self, fill: Sequence[float]) -> Sequence[RowSummary]:
        """The summary with every unseen sample at `fill`, (M,), one per scorer."""
        if self.complete:
            return self.partial
        return [
            plain.summary(samples, self.frame.beta, scorer_fill, self.unseen)
            for samples, scorer_fill in zip(self.samples, fill, strict=True)
        ]

    @cached_property
    def least_premium(self) -> float:
        """Lower bound of the aggregated premium: exact if complete, NaN if undefined."""
        if self.complete:
            return self.top.risk_premium
        share = self.seen / self.total
        return max([share * _or_zero(part.risk_premium) for part in self.partial])

    @cached_property
    def least_sigma(self) -> float:
        """Lower bound of the aggregated sigma: squares about the mean only grow."""
        if self.complete:
            return self.top.sigma
        share = max(self.seen - 1, 0) / max(self.total - 1, 1)
        return math.sqrt(share) * max([_or_zero(part.sigma) for part in self.partial])

    def best_cvar(self, alpha: float) -> float:
        """Upper bound of the scorers' mean CVaR; minus infinity without samples."""
        if not self.total:
            return -math.inf
        tails = [
            plain.cvar(samples, alpha, high, self.unseen)
            for samples, high in zip(self.samples, self.frame.high, strict=True)
        ]
        return sum(tails) / len(tails)

    def best_penalty(self, lam: float) -> float:
        """Upper bound of V - lam RP."""
        frame = self.frame
        fill = [
            plain.best_fill_penalty(part.value, self.seen, self.total, high, frame.beta, lam)
            for part, high in zip(self.partial, frame.high, strict=True)
        ]
        parts = self.completed(fill)
        if self.complete or len(parts) == 1:
            summary = plain.hedged(parts, frame.gamma)
            return summary.value - lam * summary.risk_premium
        return plain.soft_minimum(
            [part.value - lam * _or_zero(part.risk_premium) for part in parts], frame.gamma
        )

    def best_under(self, limit: float, objective: str) -> float:
        """Upper bound of the value or mean of what has a premium of at most `limit`."""
        frame = self.frame
        fill = [
            plain.best_fill_tau(
                part.value, part.risk_premium, self.seen, self.total, high, frame.beta, limit
            )
            for part, high in zip(self.partial, frame.high, strict=True)
        ]
        if self.complete or not self.seen:
            parts = self.completed(fill)
        else:
            rest = self.unseen / self.total
            parts = [
                plain.with_fill(part, scorer_fill, rest, frame.beta)
                for part, scorer_fill in zip(self.partial, fill, strict=True)
            ]
        if objective == "value":
            return plain.soft_minimum([part.value for part in parts], frame.gamma)
        return sum([part.mean for part in parts]) / len(parts)

    def best_lcb(self, lam: float) -> float:
        """Upper bound of mean - lam sigma."""
        if self.complete:
            return self.top.mean - lam * self.top.sigma
        parts = self.best_less([lam] * len(self.frame.high))
        return sum(parts) / len(parts)

    def best_less(self, lams: Sequence[float]) -> list[float]:
        """Upper bounds of each scorer's mean - lam sigma, exact if complete, (M,)."""
        fill = [
            plain.best_fill_lcb(part.mean, part.sigma, self.seen, self.total, high, lam)
            for part, high, lam in zip(self.partial, self.frame.high, lams, strict=True)
        ]
        parts = zip(self.completed(fill), lams, strict=True)
        return [part.mean - lam * _or_zero(part.sigma) for part, lam in parts]


def _or_zero(number: float) -> float:
    """The number, 0 where it is undefined."""
    if math.isnan(number):
        return 0.0
    return number


class Standing(Enum):
    """Whether a candidate may be chosen, as far as is known."""

    #: It has samples to come, and may be chosen.
    WAITING = 0
    #: It is complete and eligible.
    SURE = 1
    #: It is complete, and whether it has enough samples depends on the others.
    DOUBTFUL = 2
    #: It has no sample at all.
    ABSENT = 3
    #: It is certainly not eligible, whatever comes.
    BARRED = 4


WAITING = Standing.WAITING
SURE = Standing.SURE
DOUBTFUL = Standing.DOUBTFUL
ABSENT = Standing.ABSENT
BARRED = Standing.BARRED


class View:
    """What a lazy search knows at one moment, in the units of the statistics.

    Attributes:
        frame: What the rows of the search share.
        rows: One row per candidate.
        tolerance: More than any difference that the rules count as a tie.
        standing: Whether each candidate may be chosen.
    """

    def __init__(self, frame: SearchFrame, rows: Sequence[Row]) -> None:
        self.frame = frame
        self.rows = rows
        self.tolerance = frame.tolerance
        # A candidate is certainly eligible with enough samples for the largest count that there can
        # be, and certainly not with fewer than the count that there is asks for.
        enough = _needed_samples(frame, max([row.total for row in rows]))
        barred = _needed_samples(frame, max([row.seen for row in rows]))
        self.standing = [_standing(row, enough, barred) for row in rows]


def _needed_samples(frame: SearchFrame, largest_count: int) -> float:
    """How many samples an eligible candidate has where the largest count is this one."""
    if frame.min_samples is None:
        return largest_count / 2
    if largest_count >= frame.min_samples:
        return frame.min_samples
    return 0


def _standing(row: Row, enough: float, barred: float) -> Standing:
    """The standing of one candidate; `enough` samples are eligible, fewer than `barred` not."""
    if row.total < barred:
        return BARRED
    if row.unseen:
        return WAITING
    if not row.seen:
        return ABSENT
    if row.seen >= enough:
        return SURE
    return DOUBTFUL
