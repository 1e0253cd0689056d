"""Simulated scorers that stand in for people."""

import math
from dataclasses import dataclass

import numpy as np

from darc.ratings.simulated.population import Population
from darc.ratings.simulated.recipe import ProxyRecipe
from darc.typing import Array

# The streams of the errors, the spreads, the rewrites and the log-likelihoods.
_ERROR_STREAM = 11
_SPREAD_STREAM = 12
_REWRITE_STREAM = 13
_LIKELIHOOD_STREAM = 14
# Where log sigmas differ by less there is nothing to track.
_LEAST_DIFFERENCE = 1e-6


@dataclass(frozen=True, eq=False)
class Proxy:
    """The scores of a population's candidates."""

    #: Scores (P, M, K, n) of each candidate's original (the first sample) and rewrites.
    samples: Array
    #: The candidates' mean log-likelihood per token under the policy that wrote them, (P, K).
    log_likelihood: Array


def proxy_scores(population: Population, recipe: ProxyRecipe, seed: int | None = None) -> Proxy:
    """Draw a proxy of a population.

    The scores are on the people's scale, not clipped to it.

    Args:
        population: The people and candidates.
        recipe: What the scorers are like.
        seed: Seed of the draws; by default that of the population.

    Returns:
        The scores of each candidate's samples, and the log-likelihood of each candidate.
    """
    if seed is None:
        seed = population.seed
    truth = population.truth
    prompts, candidates = truth.mean.shape
    size = recipe.rewrites + 1
    errors = np.random.default_rng([seed, _ERROR_STREAM])
    common = math.sqrt(recipe.shared) * errors.standard_normal((prompts, 1, candidates))
    separate = errors.standard_normal((prompts, recipe.scorers, candidates))
    separate = math.sqrt(1 - recipe.shared) * separate
    centre = truth.mean[:, None, :] + recipe.error * (common + separate)
    spread = _draw_spreads(recipe, truth.sigma, np.random.default_rng([seed, _SPREAD_STREAM]))
    rewrites = np.random.default_rng([seed, _REWRITE_STREAM])
    variation = rewrites.standard_normal((prompts, recipe.scorers, candidates, size))
    samples = centre[..., None] + spread[:, None, :, None] * variation
    bias_left = 1.0 - recipe.fragility * rewrites.random((prompts, candidates, size))
    bias_left[..., 0] = 1.0
    is_fooled = np.arange(recipe.scorers) < round(recipe.fooled * recipe.scorers)
    bias = recipe.bias * population.exploit[..., None] * bias_left
    samples += np.where(is_fooled[:, None, None], bias[:, None], 0.0)
    words = np.random.default_rng([seed, _LIKELIHOOD_STREAM])
    log_likelihood = -1.0 + 0.2 * words.standard_normal((prompts, candidates))
    return Proxy(samples, log_likelihood - recipe.oddity * population.exploit)


def _draw_spreads(recipe: ProxyRecipe, sigma: Array, generator: np.random.Generator) -> Array:
    """The deviation of each candidate's scores over its rewrites, (P, K).

    Args:
        recipe: What the scorers are like.
        sigma: The candidates' true sigmas, (P, K).
        generator: Draws the part that does not follow sigma.
    """
    logs = np.log(np.maximum(sigma, 1e-9))
    deviation = float(logs.std())
    if deviation < _LEAST_DIFFERENCE:
        deviation = math.inf
    following = recipe.tracking * ((logs - logs.mean()) / deviation)
    independent = math.sqrt(1 - recipe.tracking**2) * generator.standard_normal(sigma.shape)
    return np.asarray(recipe.spread * np.exp(recipe.uneven * (following + independent)))
