"""What a rule returns, and the one way that ties are broken."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.selection.pools import Pools
from darc.typing import Array, Mask


@dataclass(frozen=True)
class Choice:
    """A rule's choices for P prompts.

    `objective` (P, K) is what the rule compared, larger being better, NaN where undefined;
    `feasible` (P, K) is the set it chose from; `flags` names conditions (P,) that a user must hear
    of; `facts` are numbers or texts (P,) for the explanation, such as the threshold used.
    """

    index: NDArray[np.int64]
    objective: Array
    feasible: Mask
    flags: Mapping[str, Mask] = field(default_factory=dict)
    facts: Mapping[str, NDArray[Any]] = field(default_factory=dict)


def pick(keys: Sequence[Array], among: Mask, tolerance: Array) -> NDArray[np.int64]:
    """Index (P,) of the candidate that is best by the first key, ties by the next, then the lowest.

    Keys are (P, K), larger is better, NaN is worst. Two candidates tie when they differ by no more
    than the larger of their two tolerances (P, K).
    """
    left = among
    rows = np.arange(len(among))
    for key in keys:
        ranked = np.where(left & ~np.isnan(key), key, -np.inf)
        top = ranked.argmax(axis=1)
        best = ranked[rows, top][:, None]
        slack = np.maximum(tolerance, tolerance[rows, top][:, None])
        with np.errstate(invalid="ignore"):
            tied = left & (ranked >= best - slack)
        left = np.where(np.isneginf(best), left, tied)
    return left.argmax(axis=1)


def largest(
    pools: Pools,
    objective: Array,
    among: Mask | None = None,
    fallback: Array | None = None,
    flags: Mapping[str, Mask] | None = None,
    facts: Mapping[str, NDArray[Any]] | None = None,
) -> Choice:
    """The `Choice` with the largest objective, ties to the larger mean, then to the lower index.

    Where no candidate of `among` (default: the eligible ones) has a defined objective, as with a
    single sample and no sigma, `fallback` takes its place and the flag `no_sigma` is set.
    """
    feasible = pools.eligible if among is None else among
    raised = dict(flags or {})
    if fallback is not None:
        undefined = ~np.any(feasible & ~np.isnan(objective), axis=1)
        objective = np.where(undefined[:, None], fallback, objective)
        raised["no_sigma"] = undefined
    index = pick([objective, pools.statistics.mean], feasible, pools.tolerance)
    return Choice(index, objective, feasible, raised, facts or {})
