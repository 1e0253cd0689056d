"""DARC's primary rule: the largest entropic value."""

from darc.registry import rule
from darc.selection import plans
from darc.selection.pools import Pools
from darc.selection.rule import Choice, largest, no_knobs


@rule(
    "entropic",
    because="the largest entropic value",
    by_value=True,
    plan=plans.by_row(lambda row, _: row.top.value),
    grid=no_knobs,
)
def entropic(pools: Pools) -> Choice:
    """Largest entropic value, soft-min over scorers (DARC)."""
    return largest(pools, pools.statistics.value)
