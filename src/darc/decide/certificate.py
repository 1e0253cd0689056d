"""What can be said for certain of a choice."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from darc.decide.statistics.arrays import as_bounds, check_probability
from darc.decide.statistics.bounds import lower_confidence_bound
from darc.decide.statistics.worst_case import tilted_weights
from darc.errors import InputError
from darc.types import Certificate, Flip
from darc.typing import Array, Integers

if TYPE_CHECKING:
    from darc.decide.decision import Decision

SIZES = 24
BISECTIONS = 40
REACH = 3.0


def certificate(decision: "Decision", bounds: ArrayLike | None, delta: float) -> Certificate:
    """The `Certificate` of a decision; `bounds` (a, b) is the scale, or one pair a scorer."""
    check_probability("delta", delta)
    pools, index = decision.pools, decision.index
    scorers = pools.shape[1]
    lower = None
    if bounds is not None:
        lower = tuple(
            _lower_bound(decision, scorer, pair, delta / scorers)
            for scorer, pair in enumerate(as_bounds(bounds, scorers))
        )
    mass = None if pools.weights is None else pools.weights[0, :, index]
    rate = pools.beta / decision.statistics.scale
    tilted = tilted_weights(pools.samples[0, :, index], rate, mass)
    runner_up, margin = _margin(decision)
    return Certificate(lower, 1 - delta, tilted, runner_up, margin)


def _lower_bound(decision: "Decision", scorer: int, pair: Array, delta: float) -> float:
    samples = decision.pools.samples[0, scorer]
    low, high = float(pair[0]), float(pair[1])
    if (samples < low).any() or (samples > high).any():
        raise InputError(
            f"there are samples outside the bounds ({low:g}, {high:g})",
            "give the lowest and the highest score that the scale allows",
        )
    chosen = samples[decision.index]
    chosen = chosen[~np.isnan(chosen)]
    if len(chosen) == 0:
        return low
    sigma = float(np.std(chosen, ddof=1)) if len(chosen) > 1 else 0.0
    bound = lower_confidence_bound(
        float(chosen.mean()),
        sigma,
        len(chosen),
        candidates=int(decision.pools.present[0].sum()),
        bounds=(low, high),
        delta=delta,
    )
    return float(bound)


def _margin(decision: "Decision") -> tuple[int | None, float | None]:
    objective = decision.choice.objective[0]
    others = decision.feasible & ~np.isnan(objective)
    others[decision.index] = False
    if not others.any() or np.isnan(objective[decision.index]):
        return None, None
    runner_up = int(np.argmax(np.where(others, objective, -np.inf)))
    return runner_up, float(objective[decision.index] - objective[runner_up])


def flip(decision: "Decision", bounds: ArrayLike | None) -> Flip | None:
    """The smallest change of one sample that changes the choice.

    Every sample is moved up and down by rising amounts until the choice changes, and the amount is
    then bisected, all samples at once. A change that flips the choice only within a window narrower
    than a factor of 1.6 in size can be missed.
    """
    if decision.bounded is not None and decision.bounded.any():
        raise InputError(
            "the samples of some candidates were never seen", "use darc.select on all scores"
        )
    pools = decision.pools
    samples = pools.samples[0]
    present = np.argwhere(~np.isnan(samples))
    span = float(np.nanmax(samples) - np.nanmin(samples)) or 1.0
    if bounds is None:
        edges = [np.nanmin(samples) - REACH * span, np.nanmax(samples) + REACH * span]
        pairs = np.broadcast_to(edges, (len(samples), 2))
    else:
        pairs = as_bounds(bounds, len(samples))
    places = np.repeat(present, 2, axis=0)
    signs = np.tile([1.0, -1.0], len(present))
    before = samples[tuple(places.T)]
    room = np.where(signs > 0, pairs[places[:, 0], 1] - before, before - pairs[places[:, 0], 0])
    room = np.maximum(room, 0.0)

    def winners(amount: Array) -> Integers:
        many = pools.part(np.zeros_like(places[:, 0]))
        many.samples[np.arange(len(places)), *places.T] = before + signs * amount
        return decision.rule.choose(many).index

    low_end, high_end = np.zeros(len(places)), np.full(len(places), np.nan)
    for share in np.geomspace(1e-4, 1.0, SIZES):
        waiting = np.isnan(high_end)
        amount = share * room
        changed = waiting & (winners(amount) != decision.index)
        high_end = np.where(changed, amount, high_end)
        low_end = np.where(waiting & ~changed, amount, low_end)
    found = ~np.isnan(high_end)
    if not found.any():
        return None
    places, signs, before = places[found], signs[found], before[found]
    low_end, high_end = low_end[found], high_end[found]
    for _ in range(BISECTIONS):
        middle = 0.5 * (low_end + high_end)
        changed = winners(middle) != decision.index
        high_end = np.where(changed, middle, high_end)
        low_end = np.where(changed, low_end, middle)
    least = int(np.argmin(high_end))
    scorer, candidate, sample = (int(i) for i in places[least])
    return Flip(
        scorer=scorer,
        candidate=candidate,
        sample=sample,
        before=float(before[least]),
        after=float(before[least] + signs[least] * high_end[least]),
        winner=int(winners(high_end)[least]),
    )
