"""Rater populations with a known truth, and proxies that stand in for them."""

from darc.simulate.population import Population, simulate
from darc.simulate.presets import PRESETS, Preset, preset, two_minds
from darc.simulate.proxy import Proxy, proxy_scores
from darc.simulate.recipe import ProxyRecipe, Recipe
from darc.simulate.truth import Truth

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
