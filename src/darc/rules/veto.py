"""Veto by consumption: every rater has as much power to rule out."""

import numpy as np

from darc.registry import rule
from darc.rules.borda import by_rater
from darc.selection.pools import Pools
from darc.selection.rule import Choice, largest

NOTHING = 1e-9


@rule("veto", because="stood longest while raters used up what they like least", unasked=False)
def veto(pools: Pools) -> Choice:
    """The last one standing while raters consume their least liked candidates at equal speed.

    A rater with several least liked ones consumes them alike, and leaves alone what they did not
    rate. Only each rater's order counts, and a group of raters can rule out as large a share of the
    candidates as it is of the raters. Ianovski and Kondratev, Computing the proportional veto core
    (AAAI 2021), after Moulin (1981). O(P K^2 n).
    """
    ratings, standing = by_rater(pools), pools.eligible.copy()
    left, until = standing.astype(float), np.zeros(standing.shape)
    clock = np.zeros((len(ratings), 1))
    for _ in range(ratings.shape[1]):
        liked = np.where(standing[..., None] & ~np.isnan(ratings), ratings, np.inf)
        least = liked.min(axis=1, keepdims=True)
        consumed = (liked == least) & np.isfinite(least)
        speed = (consumed / np.maximum(consumed.sum(axis=1, keepdims=True), 1)).sum(axis=2)
        with np.errstate(divide="ignore", invalid="ignore"):
            time = np.where(speed > 0, left / speed, np.inf).min(axis=1, keepdims=True)
        time = np.where(np.isfinite(time), time, 0.0)
        left, clock = left - speed * time, clock + time
        until = np.where(standing, clock, until)
        standing &= ~((speed > 0) & (left <= NOTHING))
    # Whom nobody consumed outlasts the others.
    return largest(pools, np.where(standing, until + 1.0, until))
