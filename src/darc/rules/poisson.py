"""Best-of-Poisson: the best of a random number of candidates, a hedge against a hacked reward."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from darc.core.draws import poisson as poisson_numbers
from darc.core.draws import uniforms
from darc.errors import InputError
from darc.registry import rule
from darc.selection.pools import Pools
from darc.selection.rule import STRENGTHS, Choice, Scale, Variants, largest
from darc.typing import Positive, Reward


def _grid(scale: Scale, size: str) -> Variants:
    rates = np.geomspace(1, 4 * scale.candidates, STRENGTHS[size])
    found = {float(f"{rate:.2g}") for rate in rates} | {4.0, 8.0, 12.0, 16.0}
    return [{"rate": rate} for rate in sorted(found, reverse=True)]


@rule(
    "poisson",
    because="the largest reward of {near} candidates drawn",
    alone="the only candidate drawn",
    grid=_grid,
)
def poisson(pools: Pools, *, rate: Positive = 12.0, reward: Reward = "mean") -> Choice:
    """Largest reward within a random subset of clip(Poisson(rate), 1, K), seeded per prompt.

    The flag `capped` tells where K bound the draw.
    """
    return best_drawn(pools, rate, reward)


def best_drawn(pools: Pools, rate: ArrayLike, reward: str) -> Choice:
    """The largest reward within the subsets drawn; the rate is one number, or one a prompt."""
    subset, capped = draw(pools, rate)
    rates = np.broadcast_to(np.asarray(rate, dtype=np.float64), len(subset))
    return largest(
        pools,
        pools.reward(reward),
        subset,
        flags={"capped": capped},
        facts={"near": subset.sum(axis=1), "rate": rates},
    )


def draw(pools: Pools, rate: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """A uniform subset (P, K) of the eligible candidates of Poisson size, and where K capped it.

    The rate is one number, or one a prompt.
    """
    eligible = pools.eligible
    rates = np.broadcast_to(np.asarray(rate, dtype=np.float64), len(eligible))
    for wrong in rates[~((rates > 0) & (rates < 1e6))]:
        raise InputError(f"rate must be above 0, not {wrong}", "12 is usual")
    numbers = uniforms(pools.seeds, eligible.shape[1] + 1)
    wanted = np.zeros(len(eligible), dtype=np.int64)
    for each in np.unique(rates):
        wanted[rates == each] = poisson_numbers(float(each), numbers[rates == each, 0])
    available = eligible.sum(axis=1)
    size = np.clip(wanted, 1, available)
    order = np.argsort(np.where(eligible, numbers[:, 1:], np.inf), axis=1, kind="stable")
    place = np.argsort(order, axis=1, kind="stable")
    return eligible & (place < size[:, None]), wanted > available
