"""Scorers that stand in for people, with noise, bias and a spread over rewrites."""

import math
from dataclasses import dataclass

import numpy as np

from darc.simulate.population import Population
from darc.simulate.recipe import ProxyRecipe
from darc.typing import Array


@dataclass(frozen=True, eq=False)
class Proxy:
    """Scores (P, M, K, n) of each candidate's original (the first sample) and rewrites.

    `log_likelihood` (P, K) is the candidates' mean per token under the policy that wrote them.
    """

    samples: Array
    log_likelihood: Array


def proxy_scores(population: Population, recipe: ProxyRecipe, seed: int | None = None) -> Proxy:
    """The `Proxy` of a population; seeded by the population unless told otherwise.

    The scores are on the people's scale, not clipped to it.
    """
    start = population.seed if seed is None else seed
    errors, spreads, rewrites, words = (
        np.random.default_rng([start, stream]) for stream in (11, 12, 13, 14)
    )
    true = population.truth
    prompts, candidates = true.mean.shape
    size = recipe.rewrites + 1
    common = math.sqrt(recipe.shared) * errors.standard_normal((prompts, 1, candidates))
    own = math.sqrt(1 - recipe.shared) * errors.standard_normal(
        (prompts, recipe.scorers, candidates)
    )
    centre = true.mean[:, None, :] + recipe.error * (common + own)
    height = recipe.tracking * _standard(np.log(np.maximum(true.sigma, 1e-9)))
    other = math.sqrt(1 - recipe.tracking**2) * spreads.standard_normal((prompts, candidates))
    spread = recipe.spread * np.exp(recipe.uneven * (height + other))
    samples = centre[..., None] + spread[:, None, :, None] * rewrites.standard_normal(
        (prompts, recipe.scorers, candidates, size)
    )
    kept = 1.0 - recipe.fragility * rewrites.random((prompts, candidates, size))
    kept[..., 0] = 1.0
    fooled = np.arange(recipe.scorers) < round(recipe.fooled * recipe.scorers)
    gain = recipe.bias * population.exploit[..., None] * kept
    samples += np.where(fooled[:, None, None], gain[:, None], 0.0)
    chance = -1.0 + 0.2 * words.standard_normal((prompts, candidates))
    return Proxy(samples, chance - recipe.oddity * population.exploit)


def _standard(numbers: Array) -> Array:
    """Numbers less their mean over their deviation; zeros where they hardly differ."""
    spread = float(numbers.std())
    if spread < 1e-6:
        return np.zeros_like(numbers)
    return np.asarray((numbers - numbers.mean()) / spread)
