"""What a whole population thinks of each candidate, exactly."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from darc.core import risk
from darc.core.arrays import check_share
from darc.simulate.noise import noise_below
from darc.simulate.recipe import Recipe
from darc.typing import Array

FINE = 200
BLOCK = 2_000_000


@dataclass(frozen=True, eq=False)
class Truth:
    """The distribution of ratings of each candidate over all people.

    `levels` (V,) are the ratings that the scale allows, `chances` (P, K, V) how often people give
    each of them.
    """

    levels: Array
    chances: Array

    @cached_property
    def mean(self) -> Array:
        """True mean of each candidate, (P, K)."""
        return np.asarray(self.chances @ self.levels)

    @cached_property
    def sigma(self) -> Array:
        """True standard deviation over people, (P, K)."""
        second = self.chances @ (self.levels - self.levels[0]) ** 2
        return np.sqrt(np.maximum(second - (self.mean - self.levels[0]) ** 2, 0.0))

    def value(self, beta: float = 1.0) -> Array:
        """True entropic value, (P, K)."""
        scores = np.broadcast_to(self.levels, self.chances.shape)
        return risk.entropic_value(scores, beta, weights=self.chances)

    def cvar(self, alpha: float = 0.1) -> Array:
        """Mean rating by the least pleased share alpha of the people, (P, K)."""
        share = check_share("alpha", alpha)
        before = np.cumsum(self.chances, axis=-1) - self.chances
        tail = np.clip(share - before, 0.0, self.chances)
        return np.asarray((tail @ self.levels) / tail.sum(axis=-1))


def truth(recipe: Recipe, centre: Array, scale: Array) -> Truth:
    """The `Truth` of candidates with group centres (P, K, G) and noise scales (P, K).

    Ratings that are not rounded are counted in `FINE` cells. O(P K G V nodes), in blocks.
    """
    cells = round((recipe.high - recipe.low) / recipe.step) if recipe.step else FINE
    width = (recipe.high - recipe.low) / cells
    levels = np.asarray(recipe.low + width * np.arange(cells + 1), dtype=np.float64)
    edges = levels[:-1] + width / 2
    shares = np.array(recipe.groups)
    below = np.empty((*scale.shape, cells))
    rows = max(1, BLOCK // max(1, centre[:1].size * cells))
    for start in range(0, len(scale), rows):
        part = slice(start, start + rows)
        distance = edges - centre[part][..., None]
        chance = noise_below(distance, scale[part][..., None, None], recipe.severity, recipe.df)
        below[part] = np.einsum("pkgv,g->pkv", chance, shares)
    ends = np.zeros((*scale.shape, 1)), np.ones((*scale.shape, 1))
    return Truth(levels, np.maximum(np.diff(np.concatenate([ends[0], below, ends[1]], axis=-1)), 0))
