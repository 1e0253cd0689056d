"""Best-of-Poisson: the best of a random number of candidates, a hedge against a hacked reward."""

import numpy as np
from numpy.typing import NDArray

from darc.core.draws import poisson as poisson_numbers
from darc.core.draws import uniforms
from darc.errors import InputError
from darc.registry import rule
from darc.selection.choice import Choice, largest
from darc.selection.pools import Pools


@rule(
    "poisson",
    because="the largest reward of {near} candidates drawn",
    alone="the only candidate drawn",
)
def poisson(pools: Pools, *, rate: float = 12.0, reward: str = "mean") -> Choice:
    """Largest reward within a random subset of clip(Poisson(rate), 1, K), seeded per prompt.

    The flag `capped` tells where K bound the draw.
    """
    subset, capped = draw(pools, rate)
    return largest(
        pools,
        pools.reward(reward),
        subset,
        flags={"capped": capped},
        facts={"near": subset.sum(axis=1)},
    )


def draw(pools: Pools, rate: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """A uniform subset (P, K) of the eligible candidates of Poisson size, and where K capped it."""
    if not 0 < rate < 1e6:
        raise InputError(f"rate must be above 0, not {rate}", "12 is usual")
    eligible = pools.eligible
    numbers = uniforms(pools.seeds, eligible.shape[1] + 1)
    wanted = poisson_numbers(float(rate), numbers[:, 0])
    available = eligible.sum(axis=1)
    size = np.clip(wanted, 1, available)
    order = np.argsort(np.where(eligible, numbers[:, 1:], np.inf), axis=1, kind="stable")
    place = np.argsort(order, axis=1, kind="stable")
    return eligible & (place < size[:, None]), wanted > available
