"""Minimum Bayes risk: the answer most like the others."""

import numpy as np
from numpy.typing import NDArray

from darc.registry import rule
from darc.selection.pools import Pools
from darc.selection.rule import Choice, largest


@rule("mbr", needs=("similarity",), because="the largest mean similarity to the others")
def mbr(pools: Pools) -> Choice:
    """Largest mean similarity to the other candidates (side input `similarity`, K x K)."""
    return largest(pools, mean_similarity(pools))


def mean_similarity(pools: Pools) -> NDArray[np.float64]:
    """Each candidate's mean similarity to the other present ones, (P, K); 0 for an only one."""
    similarity = pools.side_input("similarity")
    others = pools.present[:, None, :] & ~np.eye(similarity.shape[1], dtype=bool)
    total = np.where(others, similarity, 0.0).sum(axis=2)
    return np.asarray(total / np.maximum(others.sum(axis=2), 1))
