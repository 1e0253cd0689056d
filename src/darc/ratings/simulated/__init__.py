"""Rater populations with a known truth, and proxies that stand in for them."""

from darc.ratings.simulated.population import Population, simulate
from darc.ratings.simulated.presets import PRESETS, Preset, preset, two_minds
from darc.ratings.simulated.proxy import Proxy, proxy_scores
from darc.ratings.simulated.recipe import ProxyRecipe, Recipe
from darc.ratings.simulated.truth import Truth

__all__ = [
    "PRESETS",
    "Population",
    "Preset",
    "Proxy",
    "ProxyRecipe",
    "Recipe",
    "Truth",
    "preset",
    "proxy_scores",
    "simulate",
    "two_minds",
]
