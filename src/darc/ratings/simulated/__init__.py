"""Rater populations with a known truth, and proxies that stand in for them."""

from darc.ratings.simulated.population import Population, Proxy, proxy_scores, simulate
from darc.ratings.simulated.recipe import PRESETS, Preset, ProxyRecipe, Recipe, preset, two_minds
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
