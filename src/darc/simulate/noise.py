"""Probabilities of a severity plus heavy-tailed noise, without scipy."""

import math
from functools import cache

import numpy as np

from darc.typing import Array

REACH = 8.5
NODES = 32


def noise_below(x: Array, scale: Array, severity: float, df: float) -> Array:
    """Chance that severity * normal + scale * Student's t lies below x, broadcast; within 1e-6.

    Student's t is a normal number over the root of a gamma number, so the result is a mean of
    normal probabilities over `NODES` values of the latter (one for an infinite df).
    """
    factors, weights = inverse_gamma(df)
    result = np.zeros(np.broadcast_shapes(x.shape, scale.shape))
    for factor, weight in zip(factors.tolist(), weights.tolist(), strict=True):
        spread = np.sqrt(severity * severity + factor * scale * scale)
        with np.errstate(divide="ignore", invalid="ignore"):
            height = np.where(spread > 0, x / spread, np.sign(x) * np.inf)
        result += weight * normal_below(np.nan_to_num(height, nan=0.0, posinf=9.0, neginf=-9.0))
    return result


def normal_below(x: Array) -> Array:
    """Standard normal distribution function, by interpolation; within 1e-7."""
    grid, table = _table()
    return np.interp(x, grid, table)


@cache
def _table() -> tuple[Array, Array]:
    grid = np.linspace(-REACH, REACH, 12_001)
    table = np.array([0.5 * math.erfc(-x / math.sqrt(2.0)) for x in grid.tolist()])
    table[0], table[-1] = 0.0, 1.0
    return grid, table


@cache
def inverse_gamma(df: float) -> tuple[Array, Array]:
    """Values of 1/u for u ~ gamma(df/2, mean 1) and their weights, by the trapezoidal rule."""
    if math.isinf(df):
        return np.ones(1), np.ones(1)
    shape = df / 2.0
    fine = np.linspace(-60.0, 10.0, 70_001)
    inside = fine[shape * (fine - np.exp(fine) + 1.0) > -16.0]
    nodes = np.linspace(inside[0], inside[-1], NODES)
    density = np.exp(shape * (nodes - np.exp(nodes) + 1.0))
    return np.exp(-nodes), density / density.sum()
