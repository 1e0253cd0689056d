"""What a whole population thinks of each candidate, exactly, without scipy."""

import math
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from darc.decide.statistics import risk
from darc.decide.statistics.arrays import check_share
from darc.ratings.simulated.recipe import Recipe
from darc.typing import Array

# How many cells a scale has whose ratings are not rounded.
_FINE_CELLS = 200
# How many numbers are worked on at a time.
_BLOCK = 200_000
# How many values of a gamma number stand for its distribution.
_NODES = 32


@dataclass(frozen=True, eq=False)
class Truth:
    """The distribution of ratings of each candidate over all people."""

    #: The ratings that the scale allows, (V,).
    levels: Array
    #: How often people give each of them, (P, K, V).
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
        """True entropic value, (P, K).

        Args:
            beta: Risk aversion.
        """
        scores = np.broadcast_to(self.levels, self.chances.shape)
        return risk.entropic_value(scores, beta, weights=self.chances)

    def cvar(self, alpha: float = 0.1) -> Array:
        """Mean rating by the least pleased share alpha of the people, (P, K).

        Args:
            alpha: The share of the people.
        """
        share = check_share("alpha", alpha)
        before = np.cumsum(self.chances, axis=-1) - self.chances
        tail = np.clip(share - before, 0.0, self.chances)
        return np.asarray((tail @ self.levels) / tail.sum(axis=-1))


def truth(recipe: Recipe, centre: Array, scale: Array) -> Truth:
    """Compute what all people think of candidates. O(P K G V nodes), in blocks.

    Args:
        recipe: What people are like. Ratings that are not rounded are counted in cells.
        centre: What each group thinks on average, (P, K, G).
        scale: The scale of the noise, (P, K).
    """
    cells = _FINE_CELLS
    if recipe.step:
        cells = round((recipe.high - recipe.low) / recipe.step)
    width = (recipe.high - recipe.low) / cells
    levels = np.asarray(recipe.low + width * np.arange(cells + 1), dtype=np.float64)
    edges = levels[:-1] + width / 2
    shares = np.array(recipe.groups)
    below = np.empty((*scale.shape, cells))
    rows = max(1, _BLOCK // max(1, centre[:1].size * cells))
    for start in range(0, len(scale), rows):
        part = slice(start, start + rows)
        distance = edges - centre[part][..., None]
        chance = noise_below(distance, scale[part][..., None, None], recipe.severity, recipe.df)
        below[part] = np.einsum("pkgv,g->pkv", chance, shares)
    nothing = np.zeros((*scale.shape, 1))
    everything = np.ones((*scale.shape, 1))
    cumulative = np.concatenate([nothing, below, everything], axis=-1)
    return Truth(levels, np.maximum(np.diff(cumulative), 0))


def noise_below(x: Array, scale: Array, severity: float, df: float) -> Array:
    """Chance that severity * normal + scale * Student's t lies below x, broadcast; within 1e-6.

    Student's t is a normal number over the root of a gamma number, so the result is a mean of
    normal probabilities over some values of the latter (one for an infinite df).
    """
    result = np.zeros(np.broadcast_shapes(x.shape, scale.shape))
    for factor, weight in zip(*inverse_gamma(df), strict=True):
        spread = np.sqrt(severity * severity + factor * scale * scale)
        result += weight * np.interp(x / np.maximum(spread, 1e-300), *_normal())
    return result


@cache
def _normal() -> tuple[Array, Array]:
    """Numbers, and the standard normal distribution function of each, to interpolate in."""
    grid = np.linspace(-8.5, 8.5, 12_001)
    table = np.array([0.5 * math.erfc(-x / math.sqrt(2.0)) for x in grid.tolist()])
    table[0] = 0.0
    table[-1] = 1.0
    return grid, table


@cache
def inverse_gamma(df: float) -> tuple[Array, Array]:
    """Values of 1/u for u ~ gamma(df/2, mean 1) and their weights, by the trapezoidal rule."""
    if math.isinf(df):
        return np.ones(1), np.ones(1)
    shape = df / 2.0
    grid = np.linspace(-60.0, 10.0, 70_001)
    inside = grid[shape * (grid - np.exp(grid) + 1.0) > -16.0]
    nodes = np.linspace(inside[0], inside[-1], _NODES)
    density = np.exp(shape * (nodes - np.exp(nodes) + 1.0))
    return np.exp(-nodes), density / density.sum()
