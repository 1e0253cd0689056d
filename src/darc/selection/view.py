"""What a lazy search knows at one moment: samples seen, and bounds on everything else."""

from collections.abc import Callable, Sequence
from enum import Enum
from functools import cached_property

import numpy as np

from darc.core.statistics import batched, cut
from darc.selection.rows import Row, SearchFrame, lcb_weight
from darc.types import Statistics
from darc.typing import Array, Mask


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


def standings(rows: Sequence[Row], min_samples: int | None) -> list[Standing]:
    """The `Standing` of each candidate."""
    most, largest = max([row.seen for row in rows]), max([row.total for row in rows])
    if min_samples is None:
        enough, barred = largest / 2, most / 2
    else:
        enough = min_samples if largest >= min_samples else 0
        barred = min_samples if most >= min_samples else 0
    result = []
    for row in rows:
        if row.total < barred:
            result.append(BARRED)
        elif row.unseen:
            result.append(WAITING)
        elif not row.seen:
            result.append(ABSENT)
        else:
            result.append(SURE if row.seen >= enough else DOUBTFUL)
    return result


class View:
    """One prompt's partly seen pool, in the units of the statistics.

    `rows` has one `Row` a candidate, in plain numbers, with bounds that are worked out once, and
    `standing` one `Standing`. The
    arrays say the same of all candidates at once: `samples` (M, K, n) has NaN where nothing is
    seen; `unseen` (K, n) marks what may still come, the other NaN being samples that do not exist.
    All samples lie between `low` and `high`, (M,).
    """

    def __init__(self, frame: SearchFrame, rows: Sequence[Row]) -> None:
        self.frame = frame
        self.rows = rows
        self.beta, self.gamma, self.min_samples = frame.beta, frame.gamma, frame.min_samples
        self.tolerance = frame.tolerance
        self.standing = standings(rows, frame.min_samples)

    @property
    def low(self) -> Array:
        """Each scorer's least possible sample, (M,)."""
        return np.array(self.frame.low)

    @property
    def high(self) -> Array:
        """Each scorer's largest possible sample, (M,)."""
        return np.array(self.frame.high)

    @cached_property
    def samples(self) -> Array:
        """What is seen, (M, K, n)."""
        nothing = (np.nan,) * len(self.frame.high)
        cells = np.array([[cell or nothing for cell in row.cells] for row in self.rows])
        return np.ascontiguousarray(cells.transpose(2, 0, 1))

    @cached_property
    def unseen(self) -> Mask:
        """Which samples may still come, (K, n)."""
        return np.array([[cell is None for cell in row.cells] for row in self.rows])

    @cached_property
    def seen(self) -> Array:
        """Samples seen of each candidate, (K,)."""
        return self._each(lambda row: row.seen)

    @cached_property
    def total(self) -> Array:
        """The most samples that each candidate can end with, (K,)."""
        return self._each(lambda row: row.total)

    @cached_property
    def complete(self) -> Mask:
        """Which candidates have nothing unseen, (K,)."""
        return np.array([row.complete for row in self.rows])

    @property
    def sure(self) -> Mask:
        """Candidates that are complete and certainly eligible, (K,)."""
        return self._standing(SURE)

    @property
    def barred(self) -> Mask:
        """Candidates that are certainly not eligible, (K,)."""
        return self._standing(BARRED)

    @property
    def doubtful(self) -> Mask:
        """Complete candidates of which it is not yet known whether they are eligible, (K,)."""
        return self._standing(DOUBTFUL)

    @cached_property
    def partial(self) -> Statistics:
        """Per-scorer statistics (M, K) of what is seen."""
        statistics = batched(self.samples[None], self.beta, self.gamma, "none")
        return cut(statistics, 0).by_scorer or statistics

    @cached_property
    def top(self) -> Statistics:
        """Statistics (1, K) with every unseen sample at its upper bound; exact where complete."""
        return self.completed(np.broadcast_to(self.high[:, None], self.samples.shape[:2]))

    def completed(self, fill: Array) -> Statistics:
        """Statistics (1, K) with every unseen sample of scorer m, candidate k at fill (m, k)."""
        filled = np.where(self.unseen[None], fill[:, :, None], self.samples)
        return batched(filled[None], self.beta, self.gamma, "none")

    @property
    def least_premium(self) -> Array:
        """Lower bound of the aggregated premium, (K,): exact where complete, NaN if undefined."""
        return self._each(lambda row: row.least_premium)

    @property
    def least_sigma(self) -> Array:
        """Lower bound of the aggregated sigma, (K,): exact where complete, NaN if undefined."""
        return self._each(lambda row: row.least_sigma)

    def filled_cvar(self, alpha: float) -> Array:
        """Upper bound of the scorers' mean CVaR, (K,)."""
        return self._each(lambda row: row.best_cvar(alpha))

    def best_penalty(self, lam: float) -> Array:
        """Upper bound of V - lam RP, (K,)."""
        return self._each(lambda row: row.best_penalty(lam))

    def best_under(self, limit: float, objective: str) -> Array:
        """Upper bound of the value or mean of what has a premium of at most `limit`, (K,)."""
        return self._each(lambda row: row.best_under(limit, objective))

    def best_lcb(self, lam: float | None, delta: float, c: float) -> Array:
        """Upper bound of mean - lam sigma, (K,)."""
        return np.array(self.lcb_bounds(lam, delta, c))

    def lcb_bounds(self, lam: float | None, delta: float, c: float) -> list[float]:
        """`best_lcb` in plain numbers; without `lam` the weight counts the present candidates."""
        size = max(sum([row.total > 0 for row in self.rows]), 1)

        def bound(row: Row) -> float:
            return row.best_lcb(lcb_weight(row.total, size, delta, c) if lam is None else lam)

        return [row.kept(("lcb", size, lam, delta, c), bound) for row in self.rows]

    def _each(self, bound: Callable[[Row], float]) -> Array:
        return np.array([bound(row) for row in self.rows], dtype=np.float64)

    def _standing(self, which: Standing) -> Mask:
        return np.array([standing is which for standing in self.standing])
