"""How often the lower bound of a decision's certificate holds."""

import numpy as np

from benchmarks.coverage.rows import Row, Simulation, file_count
from darc.decide.statistics.betting import betting_bound
from darc.typing import Array

CANDIDATES = 8
BOUNDS = (0.0, 10.0)
SIZES = (5, 20, 100)
FILES = 4000


def certificate_coverage(share: float) -> list[Row]:
    """The certificate of the candidate with the largest mean, among equally good candidates."""
    files = file_count(FILES, share)
    rows: list[Row] = []
    for size in SIZES:
        random = np.random.default_rng(size)
        shape = (files, CANDIDATES, size)
        worlds = {
            "0 to 10": random.binomial(10, 0.7, size=shape).astype(float),
            "0 or 10": 10.0 * (random.random(shape) < 0.7),
            "7, rarely 0": np.where(random.random(shape) < 0.02, 0.0, 7.0 / 0.98),
        }
        for world, ratings in worlds.items():
            name = f"certificate: holds, 8 answers, {size} ratings ({world})"
            rows.append(Row(name, ">= 0.95", _share_holding(ratings, 7.0), files))
    return rows


def _share_holding(ratings: Array, true_mean: float) -> float:
    """How often the bound of the largest mean of ratings (files, K, n) is below the true mean."""
    best = ratings.mean(axis=2).argmax(axis=1)
    chosen = ratings[np.arange(len(ratings)), best]
    bounds = betting_bound(chosen, candidates=CANDIDATES, bounds=BOUNDS)
    return float((bounds <= true_mean).mean())


SIMULATIONS: tuple[Simulation, ...] = (certificate_coverage,)
