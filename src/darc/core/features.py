"""Mean and disagreement of candidates with few ratings, and how far noise moves the two.

Ratings are (P, K, n), NaN where there is none: P prompts, K candidates, up to n ratings.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from darc.typing import Array, Mask

_MOST = 200
_C4 = np.array(
    [1.0, 1.0]
    + [
        math.sqrt(2 / (n - 1)) * math.exp(math.lgamma(n / 2) - math.lgamma((n - 1) / 2))
        for n in range(2, _MOST + 1)
    ]
)
_C4[:2] = _C4[2]


def c4(count: ArrayLike) -> Array:
    """E[standard deviation]/sigma of `count` Gaussian ratings; fewer than 2 count as 2."""
    return np.asarray(_C4[np.minimum(np.asarray(count, dtype=np.int64), _MOST)])


@dataclass(frozen=True, eq=False)
class Features:
    """What ratings (P, K, n) say of each candidate, all (P, K).

    `mean`; `sigma`, the standard deviation (ddof = 1); `disagreement`, sigma/c4(n), which small
    samples do not make smaller on average; 0 where there is no rating, or one for the last two.
    """

    ratings: Array

    @cached_property
    def known(self) -> Mask:
        """Which ratings there are, (P, K, n)."""
        return ~np.isnan(self.ratings)

    @cached_property
    def count(self) -> NDArray[np.int64]:
        """The number of ratings."""
        return np.asarray(self.known.sum(axis=-1))

    @cached_property
    def mean(self) -> Array:
        """The mean rating."""
        total = np.where(self.known, self.ratings, 0.0).sum(axis=-1)
        return np.asarray(total / np.maximum(self.count, 1))

    @cached_property
    def sigma(self) -> Array:
        """The standard deviation."""
        return np.sqrt(self._squares / np.maximum(self.count - 1, 1))

    @cached_property
    def disagreement(self) -> Array:
        """Sigma without its bias at small n."""
        return np.asarray(self.sigma / c4(self.count))

    @cached_property
    def noise(self) -> Array:
        """Noise of (mean, disagreement) times what it falls with, (2, P, K); for n of 3 or more.

        The covariance times sqrt(n (n - 1)) and the variance of the disagreement times n - 1, by
        the jackknife: each rating is left out once. The jackknife's variance of a standard
        deviation is too large by 1 + 1.15/(n - 1.55) for Gaussian ratings (to 1 % from n = 3 on).
        """
        count = np.maximum(self.count, 3)
        size, gap = count[..., None], self._gaps
        squares = np.maximum(self._squares[..., None] - size / (size - 1) * gap * gap, 0.0)
        without = np.where(self.known, np.sqrt(squares / (size - 2)), 0.0)
        change = np.where(self.known, without - without.sum(-1, keepdims=True) / size, 0.0)
        moved = -gap / (size - 1)
        share, unbiased = (count - 1) / count, c4(count)
        covariance = share * (moved * change).sum(-1) / unbiased
        variance = share * (change * change).sum(-1) / (1 + 1.15 / (count - 1.55)) / unbiased**2
        return np.stack([covariance * np.sqrt(count * (count - 1)), variance * (count - 1)])

    @cached_property
    def _gaps(self) -> Array:
        return np.where(self.known, self.ratings - self.mean[..., None], 0.0)

    @cached_property
    def _squares(self) -> Array:
        return np.asarray((self._gaps * self._gaps).sum(axis=-1))
