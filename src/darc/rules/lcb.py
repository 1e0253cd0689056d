"""The second-moment surrogate of a lower confidence bound."""

import numpy as np

from darc.core.arrays import check_level
from darc.core.bounds import lcb_coefficient
from darc.registry import rule
from darc.selection import plans
from darc.selection.pools import Pools
from darc.selection.rule import Choice, Scale, Variants, knob, largest
from darc.typing import Inside, Level


def _grid(scale: Scale, size: str) -> Variants:
    return knob("c", 0.05, 5.0)(scale, size) + knob("lam", 0.05, 5.0)(scale, size)[1:]


@rule(
    "lcb",
    because="the largest mean less its multiple of sigma",
    instead={"no_sigma": "the largest mean"},
    plan=plans.lcb,
    grid=_grid,
)
def lcb(
    pools: Pools,
    *,
    lam: Level | None = None,
    delta: Inside = 0.05,
    c: Level = 1.0,
) -> Choice:
    """Largest mean - lam sigma, lam = c sqrt(log(K/delta)/n) unless given: a heuristic, no bound.

    K counts the pool's present candidates and n is each candidate's own sample count.
    """
    statistics = pools.statistics
    if lam is None:
        size = pools.present.sum(axis=1, keepdims=True)
        weight = lcb_coefficient(
            np.maximum(statistics.count, 1), candidates=size, delta=delta, c=check_level("c", c)
        )
    else:
        weight = np.asarray(check_level("lam", lam))
    return largest(pools, statistics.mean - weight * statistics.sigma, fallback=statistics.mean)
