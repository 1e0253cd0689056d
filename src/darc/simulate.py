"""Rater populations with a known truth."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from darc.errors import InputError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Population:
    """Ratings (P, K, n) of simulated people, with what they were drawn from.

    `quality` (P, K) is each candidate's mean over all people; `polarising` (P, K) marks candidates
    that one group of people likes and the other does not; `group` (n,) is each rater's group.
    """

    ratings: Array
    quality: Array
    polarising: NDArray[np.bool_]
    group: NDArray[np.int64]


def simulate(
    prompts: int,
    candidates: int = 8,
    raters: int = 9,
    *,
    polarising: float = 0.3,
    gap: float = 4.0,
    minority: float = 0.3,
    noise: float = 0.7,
    seed: int = 0,
) -> Population:
    """A `Population` of two groups of raters on a scale from 0 to 10.

    Each candidate has a quality; a share `polarising` of them is liked more by the majority and
    less, by `gap`, by the share `minority` of raters, its mean being raised a little so that
    Best-of-K is tempted. Ratings carry each rater's severity and `noise`, and are whole numbers.
    """
    if min(prompts, candidates, raters) < 1:
        raise InputError("prompts, candidates and raters must be at least 1")
    generator = np.random.default_rng(seed)
    quality = generator.normal(6.2, 0.8, size=(prompts, candidates))
    divided = generator.random((prompts, candidates)) < polarising
    quality = quality + np.where(divided, 0.5, 0.0)
    group = (np.arange(raters) < round(minority * raters)).astype(np.int64)
    share = group.mean()
    tilt = np.where(group == 1, -gap * (1 - share), gap * share)
    severity = generator.normal(0.0, 0.3, size=raters)
    errors = generator.normal(0.0, noise, size=(prompts, candidates, raters))
    wishes = quality[..., None] + np.where(divided[..., None], tilt, 0.0) + severity + errors
    return Population(np.clip(np.rint(wishes), 0, 10), quality, divided, group)
