"""Simulated ratings with a judge, for tests of evidence."""

from dataclasses import dataclass

import numpy as np

from darc.typing import Array, Integers


@dataclass(frozen=True)
class JudgedWorld:
    """Ratings of many prompts and one judge's grades."""

    ratings: Array
    raters: Integers
    truth: Array
    grades: Array


def judged_world(
    prompts: int, candidates: int, count: int, correlation: float, seed: int
) -> JudgedWorld:
    """Ratings with noise 1 around true means, and a judge with a given correlation to them."""
    generator = np.random.default_rng(seed)
    truth = generator.normal(0, 0.55, (prompts, candidates))
    noise = generator.normal(size=(prompts, candidates, count))
    level = generator.normal(size=(prompts, 1, 1))
    ratings = truth[..., None] + level + noise
    ratings[generator.random(ratings.shape) < 0.1] = np.nan
    raters = np.broadcast_to(generator.integers(0, 12, (prompts, 1, count)), ratings.shape)
    own_part = generator.normal(0, 0.55, truth.shape)
    grades = correlation * truth + np.sqrt(1 - correlation**2) * own_part
    return JudgedWorld(ratings, raters, truth, grades[..., None])
