"""The largest mean of the lowest samples."""

from darc.core.arrays import check_share
from darc.registry import rule
from darc.selection import plans
from darc.selection.pools import Pools
from darc.selection.rule import Choice, Scale, Variants, largest
from darc.typing import Tail


def _grid(scale: Scale, size: str) -> Variants:
    count = {"coarse": 8, "fine": 16}[size]
    shares = {round((i + 1) / count, 4) for i in range(count)} | {0.1}
    return [{"alpha": share} for share in sorted(shares, reverse=True)]


@rule(
    "cvar",
    because="the largest mean over its lowest samples, a share of {alpha:g}",
    plan=plans.by_row(lambda row, p: row.best_cvar(p["alpha"])),
    grid=_grid,
)
def cvar(pools: Pools, *, alpha: Tail = 0.1) -> Choice:
    """Largest mean of the lowest ceil(alpha n) samples; over scorers, the mean of theirs. Sorts."""
    return largest(pools, pools.cvar(check_share("alpha", alpha)))
