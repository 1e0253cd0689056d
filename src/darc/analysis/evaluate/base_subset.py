"""One high-variance subset for several sources: that of the base, found by prompt ids."""

from dataclasses import replace

import numpy as np

from darc.analysis.evaluate.contest import Contest
from darc.typing import Integers


def with_subset_of(contest: Contest, base: Contest) -> Contest:
    """The contest on the high-variance prompts of another one.

    Args:
        contest: A contest.
        base: The contest of the base, with as many splits.

    Returns:
        The contest with these high-variance prompts.
    """
    places = base_places(contest, base)
    high = base.high[:, places] & (places >= 0)
    return replace(contest, high=high & contest.usable)


def base_places(contest: Contest, base: Contest) -> Integers:
    """The place of each prompt of a contest in the base, (P,), -1 if it is not there."""
    places = {prompt_id: place for place, prompt_id in enumerate(base.ratings.prompt_ids)}
    return np.array([places.get(prompt_id, -1) for prompt_id in contest.ratings.prompt_ids])


def is_beside(contest: Contest, base: Contest) -> bool:
    """Whether a contest is of the same prompts as the base, in as many splits."""
    same_prompts = set(contest.ratings.prompt_ids) == set(base.ratings.prompt_ids)
    return same_prompts and len(contest.usable) == len(base.usable)
