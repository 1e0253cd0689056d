"""Sources and panels of arrays, for the tests of the diagnosis."""

import numpy as np
from numpy.typing import NDArray

from darc.analysis.diagnose.candidate_ratings import CandidateRatings, candidate_ratings
from darc.ratings.ratings import Ratings
from darc.ratings.splitting import NOBODY

Array = NDArray[np.float64]


def source(ratings: Array, *, kind: str = "rater", groups: dict[str, str] | None = None) -> Ratings:
    """The source of ratings (P, K, raters), NaN where a rater did not rate."""
    prompts, candidates, raters = ratings.shape
    absent = np.isnan(ratings)
    order = np.argsort(absent, axis=2, kind="stable")
    numbers = np.where(absent, NOBODY, np.arange(raters))
    return Ratings(
        name="made up",
        kind=kind,
        prompt_ids=[f"p{p}" for p in range(prompts)],
        candidate_ids=[[f"c{k}" for k in range(candidates)] for _ in range(prompts)],
        scorers=[""],
        samples=np.take_along_axis(ratings, order, axis=2)[:, None],
        raters=np.take_along_axis(numbers, order, axis=2)[:, None],
        rater_names=[f"r{j}" for j in range(raters)],
        lengths=np.full((prompts, candidates), np.nan),
        groups=groups or {},
    )


def panel(ratings: Array, groups: dict[str, str] | None = None) -> CandidateRatings:
    return candidate_ratings(source(ratings, groups=groups))


def noise_only(
    seed: int, prompts: int = 60, candidates: int = 8, raters: int = 6, holes: float = 0.0
) -> Array:
    """Candidates of different quality, raters of different severity, the same noise everywhere."""
    draw = np.random.default_rng(seed)
    ratings = (
        5
        + draw.normal(0, 0.5, (prompts, 1, 1))
        + draw.normal(0, 0.8, (prompts, candidates, 1))
        + draw.normal(0, 0.4, (1, 1, raters))
        + draw.normal(0, 1.0, (prompts, candidates, raters))
    )
    ratings[draw.random(ratings.shape) < holes] = np.nan
    return ratings


def uneven(
    seed: int, prompts: int = 60, candidates: int = 8, raters: int = 10, strength: float = 0.6
) -> Array:
    """Like `noise_only`, but each candidate has a noise of its own."""
    draw = np.random.default_rng(seed)
    scale = np.exp(draw.normal(0, strength, (prompts, candidates, 1)))
    quality = draw.normal(5, 0.8, (prompts, candidates, 1))
    return quality + scale * draw.normal(size=(prompts, candidates, raters))
