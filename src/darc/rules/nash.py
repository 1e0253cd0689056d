"""Nash welfare: the product of what raters gain."""

import numpy as np

from darc.core.arrays import check_number
from darc.registry import rule
from darc.rules.borda import averaged
from darc.selection.pools import Pools
from darc.selection.rule import Choice, largest

BELOW = 0.1


@rule("nash", because="the largest mean log of its samples above the floor", unasked=False)
def nash(pools: Pools, *, floor: float | None = None) -> Choice:
    """Largest mean of log(sample - floor), the product of what raters have above a floor (Nash).

    A sample at or below the floor rules a candidate out while another has none. Without a `floor`
    it is the prompt's lowest sample less a tenth of its range. Nash, The bargaining problem (1950);
    Kaneko and Nakamura, The Nash social welfare function (1979).
    """
    samples = averaged(pools)
    known = ~np.isnan(samples)
    if floor is None:
        low = np.min(samples, axis=(1, 2), keepdims=True, where=known, initial=np.inf)
        high = np.max(samples, axis=(1, 2), keepdims=True, where=known, initial=-np.inf)
        base = low - np.where(high > low, BELOW * (high - low), 1.0)
    else:
        base = np.full((1, 1, 1), check_number("floor", floor))
    with np.errstate(divide="ignore"):
        gain = np.log(np.where(known, np.maximum(samples - base, 0.0), 1.0))
    return largest(pools, gain.sum(axis=2) / np.maximum(known.sum(axis=2), 1))
