"""The largest mean of the lowest samples."""

from darc.core.arrays import check_share
from darc.registry import rule
from darc.selection import plans
from darc.selection.pools import Pools
from darc.selection.rule import Choice, largest
from darc.typing import Tail


@rule(
    "cvar",
    because="the largest mean over its lowest samples, a share of {alpha:g}",
    plan=plans.by_row(lambda row, p: row.best_cvar(p["alpha"])),
)
def cvar(pools: Pools, *, alpha: Tail = 0.1) -> Choice:
    """Largest mean of the lowest ceil(alpha n) samples; over scorers, the mean of theirs. Sorts."""
    return largest(pools, pools.cvar(check_share("alpha", alpha)))
