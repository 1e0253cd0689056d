"""What can be said for certain of a choice."""

import numpy as np
from numpy.typing import ArrayLike

from darc.decide.decision import Decision
from darc.decide.statistics.arrays import as_bounds, check_probability
from darc.decide.statistics.betting import betting_bound
from darc.decide.statistics.worst_case import tilted_weights
from darc.errors import InputError
from darc.types import Certificate
from darc.typing import Array


def certificate(decision: Decision, bounds: ArrayLike | None, delta: float) -> Certificate:
    """Say what is certain of a decision.

    Args:
        decision: The decision.
        bounds: The ends (a, b) of the scale, or one pair per scorer; None for no lower bound.
            There is none either for rewrites or a panel of judges: it needs independent raters.
        delta: The probability with which the lower bound may fail.
    """
    check_probability("delta", delta)
    pools = decision.pools
    scorers = pools.shape[1]
    lower_bound = None
    if bounds is not None and pools.independent:
        lower_bound = tuple(
            _lower_bound(decision, scorer, ends, delta / scorers)
            for scorer, ends in enumerate(as_bounds(bounds, scorers))
        )
    weights = None
    if pools.weights is not None:
        weights = pools.weights[0, :, decision.index]
    rate = pools.beta / decision.statistics.scale
    worst_case_weights = tilted_weights(pools.samples[0, :, decision.index], rate, weights)
    runner_up, margin = _runner_up(decision)
    return Certificate(
        lower_bound=lower_bound,
        probability=1 - delta,
        worst_case_weights=worst_case_weights,
        runner_up=runner_up,
        margin=margin,
    )


def _lower_bound(decision: Decision, scorer: int, ends: Array, delta: float) -> float:
    """A number that the true mean of the choice exceeds, on the scale of one scorer."""
    samples = decision.pools.samples[0, scorer]
    low = float(ends[0])
    high = float(ends[1])
    if (samples < low).any() or (samples > high).any():
        raise InputError(
            f"there are samples outside the bounds ({low:g}, {high:g})",
            "give the lowest and the highest score that the scale allows",
        )
    bound = betting_bound(
        samples[decision.index],
        candidates=int(decision.pools.present[0].sum()),
        bounds=(low, high),
        delta=delta,
    )
    return float(bound)


def _runner_up(decision: Decision) -> tuple[int | None, float | None]:
    """The second choice, and by how much the rule prefers the first to it."""
    objective = decision.choice.objective[0]
    others = decision.feasible & ~np.isnan(objective)
    others[decision.index] = False
    if not others.any() or np.isnan(objective[decision.index]):
        return None, None
    runner_up = int(np.argmax(np.where(others, objective, -np.inf)))
    return runner_up, float(objective[decision.index] - objective[runner_up])
