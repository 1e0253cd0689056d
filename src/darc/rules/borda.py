"""The largest mean rank over raters, who may use their scales as they like."""

import numpy as np
from numpy.typing import NDArray

from darc.registry import rule
from darc.selection.pools import Pools
from darc.selection.rule import Choice, largest
from darc.typing import Array


@rule("borda", because="the largest share of others that raters rank below it", unasked=False)
def borda(pools: Pools) -> Choice:
    """Largest mean over raters of the share of other candidates that they rate lower (Borda).

    Only each rater's order counts; a tie counts half. A rater is an id, or a sample's place where
    there are no ids. J.-C. de Borda, Memoire sur les elections au scrutin (1784). O(P K^2 n).
    """
    ratings = by_rater(pools)
    gap = ratings[:, :, None] - ratings[:, None]
    known = ~np.isnan(gap) & ~np.eye(ratings.shape[1], dtype=bool)[..., None]
    below = np.where(known, (np.sign(gap) + 1) / 2, 0.0).sum(axis=2)
    others = known.sum(axis=2)
    voted = others > 0
    share = np.where(voted, below / np.maximum(others, 1), 0.0).sum(axis=2)
    # Whom nobody compared is as good as the average.
    return largest(pools, np.where(voted.any(2), share / np.maximum(voted.sum(2), 1), 0.5))


def averaged(pools: Pools) -> Array:
    """The mean over scorers of the normalised samples of eligible candidates, (P, K, n)."""
    samples = pools.normalized(pools.samples)
    times = (~np.isnan(samples)).sum(axis=1)
    mean = np.where(times > 0, np.nansum(samples, axis=1) / np.maximum(times, 1), np.nan)
    return np.where(pools.eligible[..., None], mean, np.nan)


def by_rater(pools: Pools) -> Array:
    """`averaged` with a column for each of a prompt's raters, (P, K, R), NaN where there is none.

    What nobody known gave is left out, unless no rater of the prompt is known.
    """
    ratings = averaged(pools)
    if pools.raters is None:
        return ratings
    tables = [_columns(*each) for each in zip(ratings, pools.raters.codes, strict=True)]
    result = np.full((*ratings.shape[:2], max(table.shape[1] for table in tables)), np.nan)
    for row, table in zip(result, tables, strict=True):
        row[:, : table.shape[1]] = table
    return result


def _columns(ratings: Array, raters: NDArray[np.int64]) -> Array:
    """Ratings (K, n) by rater, (K, R); the mean where one rated a candidate twice."""
    known = ~np.isnan(ratings) & (raters >= 0)
    if not known.any():
        return ratings
    people, column = np.unique(raters[known], return_inverse=True)
    place = np.nonzero(known)[0], column
    total, times = np.zeros((2, len(ratings), len(people)))
    np.add.at(total, place, ratings[known])
    np.add.at(times, place, 1.0)
    return np.where(times > 0, total / np.maximum(times, 1.0), np.nan)
