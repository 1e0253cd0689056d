"""The smallest change of one sample that changes a choice."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from darc.decide.decision import Decision
from darc.decide.statistics.arrays import as_bounds
from darc.errors import InputError
from darc.types import Flip
from darc.typing import Array, Integers, Mask

# How many sizes of a change are tried, from SMALLEST_SHARE of the room to all of it.
SIZES = 24
SMALLEST_SHARE = 1e-4
# How often the smallest size that changes the choice is bisected.
BISECTIONS = 40
# How many spans of the scores a sample may move beyond them where no bounds are given.
REACH = 3.0


@dataclass(frozen=True, eq=False)
class _Moves:
    """One sample of a pool moved up or down, in each of many copies of the pool."""

    decision: Decision
    #: The scorer, candidate and sample that is moved in each copy, (copies, 3).
    places: Integers
    #: 1 where it is moved up, -1 where it is moved down, (copies,).
    signs: Array
    #: Its value before, (copies,).
    before: Array
    #: How far it may be moved, (copies,).
    room: Array

    def winners(self, amount: Array) -> Integers:
        """The choice in each copy if its sample is moved by an amount, (copies,)."""
        pools = self.decision.pools.part(np.zeros_like(self.places[:, 0]))
        copies = np.arange(len(self.places))
        pools.samples[copies, *self.places.T] = self.before + self.signs * amount
        return self.decision.rule.choose(pools).index

    def only(self, rows: Mask) -> "_Moves":
        """Some of the moves."""
        return _Moves(
            self.decision,
            self.places[rows],
            self.signs[rows],
            self.before[rows],
            self.room[rows],
        )


def flip(decision: Decision, bounds: ArrayLike | None) -> Flip | None:
    """Find the smallest change of one sample that changes the choice.

    Every sample is moved up and down by rising amounts until the choice changes, and the amount is
    then bisected, all samples at once. A change that flips the choice only within a window narrower
    than a factor of 1.6 in size can be missed.

    Args:
        decision: The decision.
        bounds: Where samples may move, (a, b) or one pair per scorer. By default within `REACH`
            spans of the scores.

    Returns:
        The change, or None if none was found.

    Raises:
        InputError: If the samples of some candidates were never seen.
    """
    if decision.partly:
        raise InputError(
            "the samples of some candidates were never seen", "use darc.select on all scores"
        )
    moves = _all_moves(decision, bounds)
    unchanged = np.zeros(len(moves.places))
    changed = np.full(len(moves.places), np.nan)
    for share in np.geomspace(SMALLEST_SHARE, 1.0, SIZES):
        open_moves = np.isnan(changed)
        amount = share * moves.room
        flips = open_moves & (moves.winners(amount) != decision.index)
        changed = np.where(flips, amount, changed)
        unchanged = np.where(open_moves & ~flips, amount, unchanged)
    flipping = ~np.isnan(changed)
    if not flipping.any():
        return None
    moves = moves.only(flipping)
    unchanged = unchanged[flipping]
    changed = changed[flipping]
    for _ in range(BISECTIONS):
        middle = 0.5 * (unchanged + changed)
        flips = moves.winners(middle) != decision.index
        changed = np.where(flips, middle, changed)
        unchanged = np.where(flips, unchanged, middle)
    least = int(np.argmin(changed))
    scorer, candidate, sample = (int(place) for place in moves.places[least])
    return Flip(
        scorer=scorer,
        candidate=candidate,
        sample=sample,
        before=float(moves.before[least]),
        after=float(moves.before[least] + moves.signs[least] * changed[least]),
        winner=int(moves.winners(changed)[least]),
    )


def _all_moves(decision: Decision, bounds: ArrayLike | None) -> _Moves:
    """Every sample of the pool, moved up and moved down."""
    samples = decision.pools.samples[0]
    lowest = np.nanmin(samples)
    highest = np.nanmax(samples)
    if bounds is None:
        span = float(highest - lowest) or 1.0
        ends = np.broadcast_to([lowest - REACH * span, highest + REACH * span], (len(samples), 2))
    else:
        ends = as_bounds(bounds, len(samples))
    present = np.argwhere(~np.isnan(samples))
    places = np.repeat(present, 2, axis=0)
    signs = np.tile([1.0, -1.0], len(present))
    before = samples[tuple(places.T)]
    ends_of_move = ends[places[:, 0]]
    room = np.where(signs > 0, ends_of_move[:, 1] - before, before - ends_of_move[:, 0])
    return _Moves(decision, places, signs, before, np.maximum(room, 0.0))
