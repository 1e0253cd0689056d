"""The scores of many prompts, as users write them, as one array."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from darc.decide.statistics.arrays import as_samples, stacked
from darc.errors import InputError
from darc.typing import Array


def pad_scores(scores: ArrayLike | Sequence[Any]) -> Array:
    """Bring the scores of many prompts into one array.

    Args:
        scores: An array (P, M, K, n) or (P, K, n), or a list of pools, each (K, n), (M, K, n) or a
            list of lists. Pools may differ in K and n, and candidates in their numbers of samples.

    Returns:
        Scores (P, M, K, n), NaN where a pool is smaller.

    Raises:
        InputError: If there are no prompts, or a pool has another form.
    """
    if isinstance(scores, np.ndarray) and scores.dtype != object:
        if scores.ndim == 3:
            return as_samples(scores[:, None])
        if scores.ndim == 4:
            return as_samples(scores)
        raise InputError(
            f"scores have {scores.ndim} dimensions",
            "give (prompts, candidates, samples), (prompts, scorers, candidates, samples), or "
            "a list of pools",
        )
    pools = [_pad_pool(pool, position) for position, pool in enumerate(scores)]  # type: ignore[arg-type]
    if not pools:
        raise InputError("there are no prompts", "give at least one pool of scores")
    numbers_of_scorers = {len(pool) for pool in pools}
    if len(numbers_of_scorers) > 1:
        raise InputError(
            "prompts have different numbers of scorers", "score each with the same ones"
        )
    return stacked(pools)


def _pad_pool(pool: ArrayLike, position: int) -> Array:
    """One pool as (M, K, n); a list of candidates with different numbers of samples is padded."""
    name = f"prompt {position}"
    if isinstance(pool, Sequence):
        sizes = [np.size(row) for row in pool]
        if len(set(sizes)) > 1:
            rows = [as_samples(row, name=name) for row in pool]
            longest = max(sizes)
            pool = [np.pad(row, (0, longest - row.size), constant_values=np.nan) for row in rows]
    samples = as_samples(pool, name=name)
    if samples.ndim == 2:
        return samples[None]
    if samples.ndim == 3:
        return samples
    raise InputError(f"{name} has {samples.ndim} dimensions", "give (K, n) or (M, K, n)")
