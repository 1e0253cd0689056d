"""Sources made of plain arrays."""

import numpy as np
from numpy.typing import NDArray

from darc.ratings.ratings import Ratings
from darc.ratings.splitting import NOBODY

Array = NDArray[np.float64]


def source_of(samples: Array, side: dict[str, Array] | None = None, name: str = "made") -> Ratings:
    """A source of samples (P, K, n) or (P, M, K, n), rater i giving every i-th sample."""
    if samples.ndim == 3:
        samples = samples[:, None]
    prompts, scorers, candidates, size = samples.shape
    raters = np.broadcast_to(np.arange(size), samples.shape)
    return Ratings(
        name=name,
        kind="rater",
        prompt_ids=[f"p{i}" for i in range(prompts)],
        candidate_ids=[[f"c{i}" for i in range(candidates)] for _ in range(prompts)],
        scorers=[f"s{i}" for i in range(scorers)],
        samples=samples,
        raters=np.where(np.isnan(samples), NOBODY, raters),
        rater_names=[f"r{i}" for i in range(size)],
        lengths=np.full((prompts, candidates), np.nan),
        side=side or {},
    )


def noise(prompts: int, seed: int, candidates: int = 6, size: int = 8) -> Array:
    """Samples (P, K, n) of candidates that do not differ."""
    return np.random.default_rng(seed).normal(6.0, 1.5, size=(prompts, candidates, size))
