"""The weight of sigma in the tradeoff: a number, or matched to the medians of the ratings."""

import numpy as np

from darc.analysis import metrics
from darc.analysis.evaluate.settings import ContestSettings
from darc.decide.statistics.draws import folds, prompt_seeds
from darc.errors import InputError
from darc.ratings.ratings import Halves, Ratings
from darc.typing import Array


def split_lambdas(ratings: Ratings, settings: ContestSettings, halves: Halves, split: str) -> Array:
    """The weight for every prompt of one split; by median matching from what is not judged there.

    The split's own selecting half gives it. Where a proxy selects, on a scale of its own, each
    half of the prompts takes it from the ratings of the other half.

    Args:
        ratings: The ratings that name the prompts.
        settings: How the evaluation is made.
        halves: The halves of the split.
        split: What was divided, see `Contest.split`.

    Returns:
        Weights (P,), NaN where no sigma is known.
    """
    prompts = len(ratings.prompt_ids)
    if settings.lam is not None:
        return np.full(prompts, float(settings.lam))
    if split != "joined":
        seen = metrics.aggregate(halves.select.samples)
        return np.full(prompts, metrics.matched_lambda(seen.mean, seen.sigma))
    seeds = prompt_seeds(settings.seed, [f"lambda {prompt}" for prompt in ratings.prompt_ids])
    fold = folds(seeds, 2)
    judged = metrics.aggregate(halves.judge.samples)
    result = np.full(prompts, np.nan)
    for number in (0, 1):
        others = fold != number
        matched = metrics.matched_lambda(judged.mean[others], judged.sigma[others])
        result[fold == number] = matched
    return result


def settled_lambdas(ratings: Ratings, lambdas: Array, split: str) -> Array:
    """The weights of all splits, (R, P), where a split without a sigma takes the others' mean.

    Raises:
        InputError: A weight is still unknown.
    """
    if split != "joined" and not np.isnan(lambdas).all():
        lambdas = np.where(np.isnan(lambdas), np.nanmean(lambdas), lambdas)
    if np.isnan(lambdas).any():
        raise InputError(
            f"{ratings.name}: no lambda matches the medians: sigma is 0 or unknown where it is "
            "looked for",
            "give --lambda a number",
        )
    return lambdas
