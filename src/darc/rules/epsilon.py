"""DARC's practical rule: among near ties in value, the least controversial."""

import numpy as np

from darc.core.arrays import check_level
from darc.registry import rule
from darc.selection import plans
from darc.selection.pools import Pools
from darc.selection.rule import Choice, knob, pick
from darc.typing import Level


@rule(
    "epsilon",
    because="the lowest sigma of {near} within {epsilon:g} of the best value",
    alone="the only one within {epsilon:g} of the best value",
    instead={"no_sigma": "the largest value"},
    by_value=True,
    weakness="sigma",
    plan=plans.epsilon,
    grid=knob("epsilon", 0.02, 4.0, power=1),
)
def epsilon(pools: Pools, *, epsilon: Level = 0.25) -> Choice:
    """Lowest sigma among values within epsilon of the best (DARC-epsilon); ties to mean, value."""
    statistics, eligible = pools.statistics, pools.eligible
    band = check_level("epsilon", epsilon)
    value = np.where(eligible & ~np.isnan(statistics.value), statistics.value, -np.inf)
    top = value.argmax(axis=1)[:, None]
    slack = np.maximum(pools.tolerance, np.take_along_axis(pools.tolerance, top, axis=1))
    near = eligible & (value >= np.take_along_axis(value, top, axis=1) - band - slack)
    calm = -statistics.sigma
    undefined = ~np.any(near & ~np.isnan(calm), axis=1)
    objective = np.where(undefined[:, None], statistics.value, calm)
    index = pick([objective, statistics.mean, statistics.value], near, pools.tolerance)
    return Choice(
        index,
        np.where(near, objective, np.nan),
        near,
        flags={"no_sigma": undefined},
        facts={"near": near.sum(axis=1)},
    )
