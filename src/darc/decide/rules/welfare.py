"""Rules over raters, who each count alike; some look at ranks alone, whatever the scales."""

import numpy as np

from darc.decide.choice import Choice, largest
from darc.decide.pools import Pools, over_scorers
from darc.decide.registry import rule
from darc.decide.statistics.arrays import check_number, stacked
from darc.decide.statistics.kernel import ROUNDING
from darc.typing import Array, Integers, Number


@rule(
    "borda",
    explanation="the largest share of others that raters rank below it",
    evaluated_by_default=False,
    uses_raters=True,
)
def borda(pools: Pools) -> Choice:
    """Largest mean over raters of the share of other candidates that they rate lower (Borda).

    Only each rater's order counts; a tie counts half. A rater is an id, or a sample's place where
    there are no ids. J.-C. de Borda, Memoire sur les elections au scrutin (1784). Sorts.
    """
    ratings = by_rater(pools)
    rated = ~np.isnan(ratings)
    others = np.where(rated, rated.sum(axis=1, keepdims=True) - 1, 0)
    below = np.where(rated, _count_below(ratings), 0.0)
    voted = others > 0
    share = np.where(voted, below / np.maximum(others, 1), 0.0).sum(axis=2)
    # Whom nobody compared is as good as the average.
    mean_share = share / np.maximum(voted.sum(axis=2), 1)
    return largest(pools, np.where(voted.any(axis=2), mean_share, 0.5))


def _count_below(ratings: Array) -> Array:
    """How many candidates each rater ranks below each one, a tie counting half; (P, K, n).

    Missing ratings (NaN) sort last, so that they are below nobody.
    """
    order = np.argsort(ratings, axis=1, kind="stable")
    ordered = np.take_along_axis(ratings, order, axis=1)
    count = ratings.shape[1]
    places = np.arange(count)[None, :, None]
    differs = ordered[:, 1:] != ordered[:, :-1]
    edge = np.ones_like(ordered[:, :1], dtype=bool)
    begins = np.concatenate([edge, differs], axis=1)
    ends = np.concatenate([differs, edge], axis=1)
    first = np.maximum.accumulate(np.where(begins, places, 0), axis=1)
    last_places = np.where(ends, places, count)[:, ::-1]
    last = np.minimum.accumulate(last_places, axis=1)[:, ::-1]
    below = np.empty_like(ratings)
    np.put_along_axis(below, order, (first + last) / 2, axis=1)
    return below


def averaged(pools: Pools) -> Array:
    """The mean over scorers of the normalised samples of eligible candidates, (P, K, n)."""
    mean = over_scorers(pools.normalized(pools.samples))
    return np.where(pools.eligible[..., None], mean, np.nan)


def by_rater(pools: Pools) -> Array:
    """`averaged` with a column for each of a prompt's raters, (P, K, R), NaN where there is none.

    What nobody known gave is left out, unless no rater of the prompt is known.
    """
    ratings = averaged(pools)
    if pools.raters is None:
        return ratings
    prompts = zip(ratings, pools.raters.codes, strict=True)
    return stacked([_columns(prompt_ratings, codes) for prompt_ratings, codes in prompts])


def _columns(ratings: Array, raters: Integers) -> Array:
    """Ratings (K, n) by rater, (K, R); the mean where one rated a candidate twice."""
    rated = ~np.isnan(ratings) & (raters >= 0)
    if not rated.any():
        return ratings
    people, column = np.unique(raters[rated], return_inverse=True)
    place = (np.nonzero(rated)[0], column)
    total = np.zeros((len(ratings), len(people)))
    count = np.zeros((len(ratings), len(people)))
    np.add.at(total, place, ratings[rated])
    np.add.at(count, place, 1.0)
    return np.where(count > 0, total / np.maximum(count, 1.0), np.nan)


@rule(
    "leximin",
    explanation="the best sorted samples, compared from the worst up",
    evaluated_by_default=False,
)
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


# The default floor is this share of the prompt's range below its lowest sample.
FLOOR_SHARE = 0.1


@rule(
    "nash",
    explanation="the largest mean log of its samples above the floor",
    evaluated_by_default=False,
)
def nash(pools: Pools, *, floor: Number | None = None) -> Choice:
    """Largest mean of log(sample - floor), the product of what raters have above a floor (Nash).

    A sample at or below the floor rules a candidate out while another has none. Without a `floor`
    it is the prompt's lowest sample less a tenth of its range. Nash, The bargaining problem (1950);
    Kaneko and Nakamura, The Nash social welfare function (1979).
    """
    samples = averaged(pools)
    present = ~np.isnan(samples)
    if floor is None:
        low = np.min(samples, axis=(1, 2), keepdims=True, where=present, initial=np.inf)
        high = np.max(samples, axis=(1, 2), keepdims=True, where=present, initial=-np.inf)
        base = low - np.where(high > low, FLOOR_SHARE * (high - low), 1.0)
    else:
        base = np.full((1, 1, 1), check_number("floor", floor))
    with np.errstate(divide="ignore"):
        gain = np.log(np.where(present, np.maximum(samples - base, 0.0), 1.0))
    return largest(pools, gain.sum(axis=2) / np.maximum(present.sum(axis=2), 1))


# A candidate of which no more is left is consumed.
CONSUMED = 1e-9


@rule(
    "veto",
    explanation="stood longest while raters used up what they like least",
    evaluated_by_default=False,
    uses_raters=True,
)
def veto(pools: Pools) -> Choice:
    """The last one standing while raters consume their least liked candidates at equal speed.

    A rater with several least liked ones consumes them alike, and leaves alone what they did not
    rate. Only each rater's order counts, and a group of raters can rule out as large a share of the
    candidates as it is of the raters. Ianovski and Kondratev, Computing the proportional veto core
    (AAAI 2021), after Moulin (1981). O(P K^2 n).
    """
    ratings = by_rater(pools)
    standing = pools.eligible.copy()
    remaining = standing.astype(float)
    stood_until = np.zeros(standing.shape)
    clock = np.zeros((len(ratings), 1))
    for _ in range(ratings.shape[1]):
        liked = np.where(standing[..., None] & ~np.isnan(ratings), ratings, np.inf)
        least = liked.min(axis=1, keepdims=True)
        eaten = (liked == least) & np.isfinite(least)
        speed = (eaten / np.maximum(eaten.sum(axis=1, keepdims=True), 1)).sum(axis=2)
        with np.errstate(divide="ignore", invalid="ignore"):
            time = np.where(speed > 0, remaining / speed, np.inf).min(axis=1, keepdims=True)
        time = np.where(np.isfinite(time), time, 0.0)
        remaining = remaining - speed * time
        clock = clock + time
        stood_until = np.where(standing, clock, stood_until)
        standing &= ~((speed > 0) & (remaining <= CONSUMED))
    # Whom nobody consumed outlasts the others.
    return largest(pools, np.where(standing, stood_until + 1.0, stood_until))
