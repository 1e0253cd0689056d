"""Soft Best-of-N: a candidate drawn with probability rising in its mean."""

import numpy as np

from darc.core.arrays import check_level
from darc.core.draws import uniforms
from darc.registry import rule
from darc.selection.pools import Pools
from darc.selection.rule import Choice, knob, largest
from darc.typing import Positive


@rule(
    "soft",
    because="been drawn with probability proportional to exp(mean / T), T = {temperature:g}",
    grid=knob("temperature", 0.02, 2.0, power=1),
)
def soft(pools: Pools, *, temperature: Positive = 1.0) -> Choice:
    """A candidate drawn with probability proportional to exp(mean / T), seeded per prompt."""
    level = check_level("temperature", temperature)
    eligible, mean = pools.eligible, pools.statistics.mean
    if level == 0:
        return largest(pools, mean)
    top = np.max(np.where(eligible, mean, -np.inf), axis=1, keepdims=True)
    with np.errstate(over="ignore"):
        weight = np.where(eligible, np.exp((np.where(eligible, mean, top) - top) / level), 0.0)
    reached = np.cumsum(weight, axis=1)
    point = uniforms(pools.seeds, 1) * reached[:, -1:]
    index = np.minimum((reached <= point).sum(axis=1), eligible.shape[1] - 1)
    probability = weight / reached[:, -1:]
    return Choice(index, np.where(eligible, probability, np.nan), eligible)
