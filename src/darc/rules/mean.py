"""Best-of-K: the largest mean."""

from darc.registry import rule
from darc.selection import plans
from darc.selection.pools import Pools
from darc.selection.rule import Choice, largest


@rule(
    "mean",
    because="the largest mean",
    plan=plans.by_row(lambda row, _: row.top.mean),
)
def mean(pools: Pools) -> Choice:
    """Largest mean of the samples (Best-of-K)."""
    return largest(pools, pools.statistics.mean)
