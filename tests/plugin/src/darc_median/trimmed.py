"""A rule that brings the strengths that `darc tune` tries; importing this module registers it."""

import numpy as np

import darc


@darc.rule(
    "trimmed",
    explanation="the largest mean without its extremes",
    grid=darc.knob("weight", 0.05, 5.0),
)
def trimmed(pools: darc.Pools, *, weight: float = 1.0) -> darc.Choice:
    """Largest mean plus a weight times the median."""
    medians = np.nanmedian(np.where(pools.present[:, None, :, None], pools.samples, 0.0), axis=3)
    return darc.largest(pools, pools.statistics.mean + weight * medians.min(axis=1))
