"""The largest reward under the least favourable scorer."""

import numpy as np

from darc.registry import rule
from darc.selection.pools import Pools
from darc.selection.rule import Choice, largest


@rule("worst", because="the largest mean under its worst scorer")
def worst(pools: Pools) -> Choice:
    """Largest minimum over scorers of the normalised means (worst-case optimisation)."""
    inner = pools.statistics.by_scorer or pools.statistics
    return largest(pools, np.fmin.reduce(inner.mean, axis=1))
