"""Leximin: whoever is worst off decides, then the next."""

import numpy as np

from darc.core.kernel import ROUNDING
from darc.registry import rule
from darc.rules.borda import averaged
from darc.selection.pools import Pools
from darc.selection.rule import Choice, largest


@rule("leximin", because="the best sorted samples, compared from the worst up", unasked=False)
def leximin(pools: Pools) -> Choice:
    """Largest lowest sample, ties by the next lowest, and so on (leximin).

    With different numbers of samples their quantiles are compared. Sen, Collective Choice and
    Social Welfare (1970). Sorts.
    """
    ordered = np.sort(averaged(pools), axis=2)
    count = (~np.isnan(ordered)).sum(axis=2)
    size = ordered.shape[2]
    # The middles of `size` equal parts, which are the samples themselves where there are as many.
    place = ((np.arange(size) + 0.5) / size * count[..., None]).astype(np.int64)
    levels = np.take_along_axis(ordered, np.minimum(place, size - 1), axis=2)
    scale = np.nanmax(np.abs(ordered), axis=(1, 2), keepdims=True, initial=1e-300)
    levels = np.where(np.isnan(levels), -np.inf, np.round(levels / scale / ROUNDING) * ROUNDING)
    rank = [np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1) for rows in levels]
    return largest(pools, np.asarray(rank, dtype=np.float64))
