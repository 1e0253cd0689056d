"""Uncertainty-penalised reranking over stochastic forward passes."""

from darc.core import risk
from darc.core.arrays import check_level
from darc.registry import rule
from darc.selection.pools import Pools
from darc.selection.rule import Choice, knob, largest
from darc.typing import Level


@rule(
    "mc_dropout",
    needs=("dropout",),
    because="the largest mean less {lam:g} sigma over its passes",
    instead={"no_sigma": "the largest mean over its passes"},
    grid=knob("lam", 0.05, 5.0),
)
def mc_dropout(pools: Pools, *, lam: Level = 1.0) -> Choice:
    """Largest mean - lam sigma over T stochastic passes of one scorer: `dropout` (K, T)."""
    weight = check_level("lam", lam)
    passes = pools.side_input("dropout")
    average = risk.mean(passes)
    return largest(pools, average - weight * risk.sigma(passes), fallback=average)
