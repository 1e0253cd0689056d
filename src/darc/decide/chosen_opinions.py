"""What people think of the choices for a batch of prompts."""

from dataclasses import dataclass

import numpy as np

from darc.decide.decision import Decisions
from darc.typing import Array, Integers, Mask

# A mean that is lower by less than this share of it is as high.
TIE_SHARE = 1e-9


@dataclass(frozen=True, eq=False)
class ChosenOpinions:
    """What people think of the choice for each prompt of a batch, (P,) each.

    Attributes:
        unhappy: How many people are unhappy with it, or rate it clearly lower.
        ratings: How many ratings it has.
        limits: A person who rates below it is unhappy, or rates the choice clearly lower.
        known_scale: Whether "unhappy" may be said, see `Opinions.known_scale`.
    """

    unhappy: Integers
    ratings: Integers
    limits: Array
    known_scale: bool


def chosen_opinions(decisions: Decisions) -> ChosenOpinions | None:
    """The opinions about the choices of a batch, as `Decision.opinions` has them for one prompt.

    Returns:
        None for scores of rewrites or of several scorers, which are not opinions of people.
    """
    pools = decisions.pools
    if pools.about_wording or pools.shape[1] != 1:
        return None
    ratings = pools.samples[:, 0]
    limit = pools.standards.unhappy_below
    if limit is None:
        limits = _clearly_lower(ratings)
    else:
        limits = np.full(len(ratings), limit)
    chosen = ratings[np.arange(len(ratings)), decisions.index]
    return ChosenOpinions(
        unhappy=(chosen < limits[:, None]).sum(axis=-1),
        ratings=(~np.isnan(chosen)).sum(axis=-1),
        limits=limits,
        known_scale=limit is not None,
    )


def _clearly_lower(ratings: Array) -> Array:
    """One pooled within-candidate deviation below the average of a prompt's ratings, (P,)."""
    count = (~np.isnan(ratings)).sum(axis=-1, keepdims=True)
    mean = np.nansum(ratings, axis=-1, keepdims=True) / np.maximum(count, 1)
    squares = np.nansum((ratings - mean) ** 2, axis=(1, 2))
    degrees = np.maximum(count - 1, 0).sum(axis=(1, 2))
    average = np.nansum(ratings, axis=(1, 2)) / np.maximum(count.sum(axis=(1, 2)), 1)
    return np.asarray(average - np.sqrt(squares / np.maximum(degrees, 1)))


def is_below_best_mean(decisions: Decisions) -> Mask:
    """Where another candidate than the one with the highest average was chosen, (P,)."""
    best = np.nanmax(decisions.statistics.mean, axis=1)
    slack = TIE_SHARE * (1 + np.abs(best))
    return np.asarray(decisions.chosen["mean"] < best - slack)
