"""Which candidates of a partly seen pool can still matter to a rule, and which to ask for first.

A plan returns one priority a candidate, (K,): the largest is asked for next, and minus infinity
means that no further sample of it can change the choice. Pruning leaves a margin of more than the
tie tolerance, so that every possible tie is decided by the ordinary code on complete rows.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.selection.view import View

Array = NDArray[np.float64]
Plan = Callable[[View, Mapping[str, Any]], Array]

NEVER = -np.inf


def by_upper_bound(bound: Callable[[View, Mapping[str, Any]], Array]) -> Plan:
    """The plan of a rule with one objective, given its upper bound (exact if complete)."""

    def plan(view: View, parameters: Mapping[str, Any]) -> Array:
        upper = bound(view, parameters)
        return _open(view, upper, _best(view, upper, view.sure))

    return plan


def lcb(view: View, parameters: Mapping[str, Any]) -> Array:
    """Mean less sigma: the weight counts the present candidates, so look at each once first."""
    unknown = ~view.complete & (view.seen == 0)
    if unknown.any():
        return np.where(unknown, 0.0, NEVER)
    upper = view.best_lcb(parameters["lam"], parameters["delta"], parameters["c"])
    return _open(view, upper, _best(view, upper, view.sure))


def tau(view: View, parameters: Mapping[str, Any]) -> Array:
    """Premium cap: complete what can be feasible and best; without any, go on by the objective."""
    objective = parameters["objective"]
    if parameters["tau"] is None:
        quantile = 0.25 if parameters["quantile"] is None else parameters["quantile"]
        return _quantile(view, quantile, objective)
    limit = float(parameters["tau"]) + view.tolerance
    possible = (view.least_premium <= limit) & (view.total > 1) & ~view.barred
    if not possible.any():
        return _by_objective(view, objective)
    upper = view.best_under(limit, objective)
    priority = _open(view, upper, _best(view, upper, view.sure & possible))
    return np.where(possible, priority, NEVER)


def epsilon(view: View, parameters: Mapping[str, Any]) -> Array:
    """Near ties by sigma: find the best value, then complete what is near it and may vary less."""
    upper = view.top.value[0]
    best = _best(view, upper, view.sure)
    if np.isneginf(best):
        return _open(view, upper, best)
    open_ = ~view.complete & ~view.barred
    rising = open_ & (upper > best)
    if rising.any():
        return np.where(rising, upper, NEVER)
    near = open_ & (upper >= best - parameters["epsilon"] - view.tolerance)
    rivals = view.sure & (upper >= best - parameters["epsilon"])
    sigmas = np.where(rivals & ~np.isnan(view.least_sigma), view.least_sigma, np.inf)
    calmer = view.least_sigma <= sigmas.min() + view.tolerance
    return np.where(near & calmer, -view.least_sigma, NEVER)


def _quantile(view: View, quantile: float, objective: str) -> Array:
    """Premium cap at a quantile: settle which candidates have the smallest premiums."""
    unknown = ~view.complete & (view.seen < 2)
    if unknown.any():
        return np.where(unknown, -view.seen, NEVER)
    premium = view.least_premium
    defined = ~np.isnan(premium)
    if not defined.any():
        return _by_objective(view, objective)
    position = quantile * (int(defined.sum()) - 1)
    rank = int(np.floor(position))
    last = np.sort(premium[defined])[rank]
    margin = view.tolerance / max(1 - (position - rank), 1e-3)
    unsettled = ~view.complete & defined & (premium <= last + margin)
    if unsettled.any():
        return np.where(unsettled, -premium, NEVER)
    feasible = view.complete & defined & (premium <= last + margin)
    if (feasible & (view.sure | view.doubtful)).any():
        return np.full(premium.shape, NEVER)
    return _by_objective(view, objective)


def _by_objective(view: View, objective: str) -> Array:
    upper = view.top.value[0] if objective == "value" else view.top.mean[0]
    return _open(view, upper, _best(view, upper, view.sure))


def _best(view: View, upper: Array, among: NDArray[np.bool_]) -> float:
    known = np.where(among & ~np.isnan(upper), upper, NEVER)
    return float(known.max())


def _open(view: View, upper: Array, best: float) -> Array:
    """Priorities of the incomplete candidates whose bound reaches the best known objective."""
    waiting = ~view.complete & ~view.barred
    bound = np.where(np.isnan(upper), np.inf, upper)
    return np.where(waiting & (bound >= best - view.tolerance), bound, NEVER)
