"""DARC with the risk premium as a penalty."""

from darc.core.arrays import check_level
from darc.registry import rule
from darc.selection import plans
from darc.selection.pools import Pools
from darc.selection.rule import Choice, knob, largest
from darc.typing import Level


@rule(
    "penalty",
    because="the largest value less {lam:g} times its risk premium",
    instead={"no_sigma": "the largest value"},
    by_value=True,
    plan=plans.by_row(lambda row, p: row.best_penalty(p["lam"])),
    grid=knob("lam", 0.05, 10.0),
)
def penalty(pools: Pools, *, lam: Level = 1.0) -> Choice:
    """Largest value minus lam times the risk premium (the Lagrangian form of `tau`)."""
    statistics = pools.statistics
    objective = statistics.value - check_level("lam", lam) * statistics.risk_premium
    return largest(pools, objective, fallback=statistics.value)
