"""Whether a choice is a trade-off of value and cost that some weight would choose, in words."""

import numpy as np

from darc.decide.decision import Decision
from darc.decide.statistics.trade_off import trade_off

_COST_NAMES = {"sigma": "sigma", "risk_premium": "risk premium"}


def trade_off_in_words(decision: Decision) -> str:
    """Say for which weights of the cost the choice has the largest value less weighted cost.

    The cost is what the rule holds against a candidate: sigma for `epsilon`, the risk premium for
    the other rules by value.

    Returns:
        A clause; empty for rules that do not go by value, for one candidate, and where a lazy
        search left values unknown.
    """
    if not decision.rule.by_value or decision.partly:
        return ""
    weakness = "risk_premium"
    if decision.rule.wording.weakness == "sigma":
        weakness = "sigma"
    eligible = decision.pools.eligible[0]
    values = np.where(eligible, decision.statistics.value, np.nan)
    costs = np.where(eligible, getattr(decision.statistics, weakness), np.nan)
    if np.isnan(costs[decision.index]) or int(eligible.sum()) == 1:
        return ""
    result = trade_off(values, costs, decision.index)
    cost_name = _COST_NAMES[weakness]
    if not result.pareto_optimal:
        return f"another one has no smaller value and no larger {cost_name}"
    if result.weights is None:
        return f"no weight of {cost_name} against value would choose it, only a limit does"
    low, high = result.weights
    if np.isinf(high):
        weights = f"at least {low:.3g}"
    else:
        weights = f"{low:.3g} to {high:.3g}"
    return f"it has the largest value less lam times {cost_name} for lam {weights}"
