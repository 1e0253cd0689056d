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
    """What the rows of a search share.

    Attributes:
        low: Each scorer's lower bound, (M,).
        high: Each scorer's upper bound, (M,).
        beta: Risk aversion.
        gamma: Hedge over scorers.
        min_samples: Fewest samples of a candidate that may be chosen.
        n_samples: How many samples a candidate has once all of them are seen.
        sample: What one sample is, such as "rater" or "rewrite".
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    beta: float
    gamma: float
    min_samples: int | None
    n_samples: int
    sample: str = "sample"

    @cached_property
    def middle(self) -> Cell:
        """Half-way between the bounds, (M,)."""
        return tuple(0.5 * (a + b) for a, b in zip(self.low, self.high, strict=True))

    @cached_property
    def tolerance(self) -> float:
        """More than any difference that the rules count as a tie."""
        root = math.sqrt(self.n_samples)
        reach = [
            max(abs(a), abs(b)) + (b - a) * root for a, b in zip(self.low, self.high, strict=True)
        ]
        return 2 * ROUNDING * max(reach)


class Row:
    """A candidate: `samples` seen by scorer, (M, seen), and `unseen` more that may come.

    `total` is the most samples that it can end with and `average` (M,) the mean of what is seen,
    empty if nothing is.
    """

    def __init__(
        self, frame: SearchFrame, cells: Sequence[Cell | None], average: Cell = ()
    ) -> None:
        self.frame = frame
        self.cells = cells
        known = [cell for cell in cells if cell]
        self.seen = len(known)
        self.unseen = cells.count(None)
        self.total = self.seen + self.unseen
        self.complete = self.unseen == 0
        self.samples: Sequence[Sequence[float]] = (
            tuple(zip(*known, strict=True)) if known else ((),) * len(frame.high)
        )
        if known and not average:
            average = tuple([sum(samples) / len(known) for samples in self.samples])
        self.average = average
        self._kept: dict[object, Any] = {}
        self._guessed: dict[tuple[tuple[int, ...], Cell], Row] = {}

    def guessed(self, places: tuple[int, ...], guess: Cell) -> "Row":
        """The row as if the samples at these places were seen and equal to `guess`."""
        found = self._guessed.get((places, guess))
        if found is None:
            cells = list(self.cells)
            for place in places:
                cells[place] = guess
            found = self._guessed[places, guess] = Row(self.frame, cells, guess)
        return found

    def kept(self, key: object, bound: Callable[["Row"], Bound]) -> Bound:
        """`bound` of this row, worked out once for each key."""
        if key not in self._kept:
            self._kept[key] = bound(self)
        value: Bound = self._kept[key]
        return value

    @cached_property
    def partial(self) -> Sequence[RowSummary]:
        """The summary of what is seen, one a scorer."""
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
        """The summary with every unseen sample at `fill`, (M,), one a scorer."""
        if self.complete:
            return self.partial
        beta, unseen = self.frame.beta, self.unseen
        return [
            plain.summary(samples, beta, x, unseen)
            for samples, x in zip(self.samples, fill, strict=True)
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
        high = self.frame.high
        tails = [
            plain.cvar(samples, alpha, x, self.unseen)
            for samples, x in zip(self.samples, high, strict=True)
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
            whole = plain.hedged(parts, frame.gamma)
            return whole.value - lam * whole.risk_premium
        return plain.soft_minimum(
            [part.value - lam * _or_zero(part.risk_premium) for part in parts], frame.gamma
        )

    def best_under(self, limit: float, objective: str) -> float:
        """Upper bound of the value or mean of what has a premium of at most `limit`."""
        frame, seen, total = self.frame, self.seen, self.total
        fill = [
            plain.best_fill_tau(part.value, part.risk_premium, seen, total, high, frame.beta, limit)
            for part, high in zip(self.partial, frame.high, strict=True)
        ]
        if self.complete or not seen:
            parts = self.completed(fill)
        else:
            rest = self.unseen / total
            known = zip(self.partial, fill, strict=True)
            parts = [plain.with_fill(part, x, rest, frame.beta) for part, x in known]
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
        parts = self.completed(fill)
        return [p.mean - lam * _or_zero(p.sigma) for p, lam in zip(parts, lams, strict=True)]


def _or_zero(number: float) -> float:
    return 0.0 if math.isnan(number) else number


class Standing(Enum):
    """Whether a candidate may be chosen, as far as is known.

    WAITING has samples to come and may be; SURE, DOUBTFUL and ABSENT (no sample at all) have none
    to come; BARRED is certainly not eligible, whatever comes.
    """

    WAITING = 0
    SURE = 1
    DOUBTFUL = 2
    ABSENT = 3
    BARRED = 4


WAITING, SURE, DOUBTFUL, ABSENT, BARRED = Standing


class View:
    """What a lazy search knows at one moment, in the units of the statistics.

    `rows` has one `Row` a candidate, with bounds that are worked out once, and `standing` one
    `Standing`.
    """

    def __init__(self, frame: SearchFrame, rows: Sequence[Row]) -> None:
        self.frame = frame
        self.rows = rows
        self.tolerance = frame.tolerance
        most, largest = max([row.seen for row in rows]), max([row.total for row in rows])
        if frame.min_samples is None:
            enough, barred = largest / 2, most / 2
        else:
            enough, barred = (
                frame.min_samples if there >= frame.min_samples else 0 for there in (largest, most)
            )
        self.standing = [_standing(row, enough, barred) for row in rows]


def _standing(row: Row, enough: float, barred: float) -> Standing:
    if row.total < barred:
        return BARRED
    if row.unseen:
        return WAITING
    if not row.seen:
        return ABSENT
    return SURE if row.seen >= enough else DOUBTFUL
