"""Which candidates are good trade-offs between a value and a cost, and for which weights.

The constrained rules (`tau`, `epsilon`) and the weighted ones (`penalty`) search the same finite
set of points (cost, value). Every candidate that maximises value - lam cost for some lam > 0 is
Pareto-optimal. The converse holds for supported points only: a Pareto-optimal candidate in a dent
of the upper boundary is chosen by a constraint, but by no weight.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from darc.typing import Array


@dataclass(frozen=True)
class TradeOff:
    """Where one candidate lies among all points of cost and value."""

    #: Whether no other candidate is at least as good in both and better in one.
    pareto_optimal: bool
    #: The weights lam >= 0 for which the candidate maximises value - lam cost, as a closed interval
    #: whose upper end may be infinite; None if there is no such weight.
    weights: tuple[float, float] | None

    @property
    def supported(self) -> bool:
        """Whether the candidate is a supported Pareto-optimal point."""
        return self.pareto_optimal and self.weights is not None


def trade_off(values: ArrayLike, costs: ArrayLike, index: int) -> TradeOff:
    """Say whether a candidate is Pareto-optimal, and for which weights of the cost it is best.

    Args:
        values: What is to be large, (K,): the entropic value or the mean. NaN where a candidate
            is not there.
        costs: What is to be small, (K,): the risk premium or sigma. NaN as above.
        index: The candidate.

    Returns:
        Its trade-off. A candidate without a value or cost is neither optimal nor supported.
    """
    value = np.asarray(values, dtype=np.float64)
    cost = np.asarray(costs, dtype=np.float64)
    if np.isnan(value[index]) or np.isnan(cost[index]):
        return TradeOff(pareto_optimal=False, weights=None)
    is_other = ~np.isnan(value) & ~np.isnan(cost)
    is_other[index] = False
    # What each other candidate has more of both.
    value_gains = value[is_other] - value[index]
    cost_gains = cost[is_other] - cost[index]
    is_no_worse = (value_gains >= 0) & (cost_gains <= 0)
    is_better = (value_gains > 0) | (cost_gains < 0)
    return TradeOff(
        pareto_optimal=not bool(np.any(is_no_worse & is_better)),
        weights=_supporting_weights(value_gains, cost_gains),
    )


def _supporting_weights(value_gains: Array, cost_gains: Array) -> tuple[float, float] | None:
    """The weights lam >= 0 with value_gain <= lam cost_gain for every other candidate."""
    costs_as_much = cost_gains == 0
    if np.any(value_gains[costs_as_much] > 0):
        return None
    # A dearer candidate bounds the weight from below, a cheaper one from above.
    dearer = cost_gains > 0
    cheaper = cost_gains < 0
    low = float(np.max(value_gains[dearer] / cost_gains[dearer], initial=0.0))
    high = float(np.min(value_gains[cheaper] / cost_gains[cheaper], initial=np.inf))
    if low > high:
        return None
    return low, high
