"""A selection rule for DARC: the largest median."""

import numpy as np

import darc


@darc.rule("median", because="the largest median of its samples, over the worst scorer")
def median(pools: darc.Pools, *, bonus: float = 0.0) -> darc.Choice:
    """Largest median of the samples, the least over scorers, plus a bonus times the mean."""
    samples = pools.normalized(pools.samples)
    filled = np.where(pools.present[:, None, :, None], samples, 0.0)
    medians = np.nanmedian(filled, axis=3).min(axis=1)
    return darc.largest(pools, medians + bonus * pools.statistics.mean)
