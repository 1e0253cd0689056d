"""DARC's primary rule: the largest entropic value."""

from darc.registry import rule
from darc.selection import plans
from darc.selection.choice import Choice, largest
from darc.selection.pools import Pools


@rule(
    "entropic",
    because="the largest entropic value",
    by_value=True,
    plan=plans.by_upper_bound(lambda view, _: view.top.value[0]),
)
def entropic(pools: Pools) -> Choice:
    """Largest entropic value, soft-min over scorers (DARC)."""
    return largest(pools, pools.statistics.value)
