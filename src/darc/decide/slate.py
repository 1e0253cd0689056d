"""Several answers that serve different people."""

import numpy as np

from darc.typing import Array, Mask


def fill_slate(ratings: Array, first: int, size: int, among: Mask | None = None) -> list[int]:
    """Add to a chosen answer those with which most is gained for people whom it serves badly.

    Each step adds the answer with which the sum over raters of the best rating in the slate is
    largest, the one with the higher mean among equals. An answer that pleases the same people as
    one before gains nothing, so a copy comes last.

    Args:
        ratings: (K, n): every rater's rating of every answer, NaN where there is none, which
            counts as the answer's mean.
        first: The answer that the slate begins with.
        size: How many answers the slate has; fewer if there are not so many.
        among: The answers to take before any others, (K,); by default all.

    Returns:
        The places of the answers, `first` first.
    """
    candidates = len(ratings)
    is_rated = ~np.isnan(ratings)
    count = is_rated.sum(axis=1)
    total = np.where(is_rated, ratings, 0.0).sum(axis=1)
    mean = np.where(count > 0, total / np.maximum(count, 1), -np.inf)
    filled = np.where(is_rated, ratings, mean[:, None])
    if among is None:
        among = np.ones(candidates, dtype=bool)
    slate = [first]
    served = filled[first]
    while len(slate) < min(size, candidates):
        gains = np.maximum(filled - served, 0.0).sum(axis=1)
        remaining = [place for place in range(candidates) if place not in slate]
        best = max(remaining, key=lambda place: (among[place], gains[place], mean[place], -place))
        slate.append(best)
        served = np.maximum(served, filled[best])
    return slate
