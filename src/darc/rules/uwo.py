"""Uncertainty-weighted optimisation over an ensemble of scorers."""

import numpy as np

from darc.core.arrays import check_level
from darc.registry import rule
from darc.selection.pools import Pools
from darc.selection.rule import Choice, knob, largest
from darc.typing import Level


@rule(
    "uwo",
    because="the largest mean less {lam:g} times the variance over scorers",
    grid=knob("lam", 0.05, 10.0, power=-1),
    scorers=2,
)
def uwo(pools: Pools, *, lam: Level = 1.0) -> Choice:
    """Largest mean over scorers - lam * their variance (ddof = 0)."""
    inner = pools.statistics.by_scorer or pools.statistics
    gap = inner.mean - pools.statistics.mean[:, None, :]
    known = np.maximum((~np.isnan(gap)).sum(axis=1), 1)
    variance = np.nansum(gap * gap, axis=1) / known
    return largest(pools, pools.statistics.mean - check_level("lam", lam) * variance)
