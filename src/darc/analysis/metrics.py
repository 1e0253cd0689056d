"""What is measured of choices: plain functions over arrays."""

import math

import numpy as np

from darc.analysis.bootstrap import ROUNDING
from darc.analysis.ranks import share_size
from darc.decide.statistics import risk
from darc.decide.statistics.bounds import lcb_coefficient
from darc.decide.statistics.summary import batched
from darc.ratings.splitting import NOBODY
from darc.types import Statistics
from darc.typing import Array, Integers, Mask


def pooled_units(samples: Array) -> tuple[Array, Array]:
    """The location and the scale of each scorer.

    Args:
        samples: Samples (P, M, K, n).

    Returns:
        The mean and the deviation of all samples of each scorer, (M,); the scale of a scorer that
        is constant is 1.
    """
    by_scorer = samples.transpose(1, 0, 2, 3).reshape(samples.shape[1], -1)
    location = np.nan_to_num(risk.mean(by_scorer))
    scale = risk.sigma(by_scorer)
    return location, np.where(np.nan_to_num(scale) > 0, scale, 1.0)


def aggregate(samples: Array) -> Statistics:
    """`Statistics` (P, K) over all scorers of samples (P, M, K, n).

    One scorer's are on its raw scale; several are each normalised by their pooled mean and
    deviation.
    """
    if samples.shape[1] == 1:
        return batched(samples, 0.0, 0.0, "none")
    return batched(samples, 0.0, 0.0, pooled_units(samples))


def values_at(values: Array, index: Integers) -> Array:
    """The values at each choice.

    Args:
        values: Values of the candidates, (P, K).
        index: Choices, (..., P), -1 where there is none.

    Returns:
        Values (..., P), NaN where there is no choice.
    """
    prompts = np.arange(values.shape[0])
    return np.where(index >= 0, values[prompts, np.maximum(index, 0)], np.nan)


def lower_bound(statistics: Statistics, candidates: Array, delta: float = 0.05) -> Array:
    """Lower confidence bounds mean - sigma sqrt(log(K / delta) / n), (P, K).

    Args:
        statistics: Statistics (P, K).
        candidates: The number K of candidates of each prompt, (P,).
        delta: The chance that a bound of the prompt does not hold.
    """
    count = np.maximum(candidates, 1)[:, None]
    weight = lcb_coefficient(np.maximum(statistics.count, 1), candidates=count, delta=delta)
    return np.asarray(statistics.mean - weight * statistics.sigma)


def outcome_signs(delta: Array, threshold: float = 0.0, scale: float = 1.0) -> Array:
    """1 for a win, 0 for a tie, -1 for a loss, NaN where the difference is not known.

    Args:
        delta: Differences.
        threshold: Smaller differences are ties.
        scale: The size of the values; differences within its rounding are ties.
    """
    size = np.abs(delta)
    rounding = ROUNDING * scale
    is_tie = (size <= rounding) | (size < threshold - rounding)
    return np.where(np.isnan(delta), np.nan, np.sign(delta) * ~is_tie)


def high_subset(
    disagreement: Array, usable: Mask, prompt_ids: list[str], share: float = 0.2
) -> Mask:
    """The ceil(share N) of the N usable prompts with the largest disagreement, (P,), ties by id.

    No prompt is in it where no disagreement is known.
    """
    result = np.zeros(len(usable), dtype=bool)
    is_known = usable & ~np.isnan(disagreement)
    if is_known.any():
        size = share_size(share, int(usable.sum()))
        order = sorted(
            np.flatnonzero(is_known),
            key=lambda prompt: (-disagreement[prompt], prompt_ids[prompt]),
        )
        result[order[:size]] = True
    return result


def matched_lambda(mean: Array, sigma: Array) -> float:
    """The lambda that makes median |mean| and lambda times median sigma equal; NaN for sigma 0."""
    if np.isnan(sigma).all():
        return math.nan
    typical_sigma = float(np.nanmedian(sigma))
    if not typical_sigma > 0:
        return math.nan
    return float(np.nanmedian(np.abs(mean))) / typical_sigma


def pairwise_scores(judge: Array, raters: Integers, index: Integers, base: Integers) -> Array:
    """Win rate minus one half against the base's choice, over the people who judged both.

    A win by the same rater counts 1, a tie 1/2, averaged over raters, then scorers.

    Args:
        judge: Samples (P, M, K, n).
        raters: Who gave each sample, (P, M, K, n).
        index: The choices of A methods, (A, P).
        base: The choices to compare with, (P,).

    Returns:
        Scores (A, P), NaN where nobody judged both.
    """
    prompts = np.arange(len(judge))
    base_candidate = np.maximum(base, 0)
    base_values = judge[prompts, :, base_candidate]
    base_raters = raters[prompts, :, base_candidate]
    result = np.full(index.shape, np.nan)
    for row, chosen in zip(result, index, strict=True):
        candidate = np.maximum(chosen, 0)
        values = judge[prompts, :, candidate]
        value_raters = raters[prompts, :, candidate]
        is_known = (value_raters != NOBODY)[..., :, None]
        same_rater = (value_raters[..., :, None] == base_raters[..., None, :]) & is_known
        sign = np.sign(values[..., :, None] - base_values[..., None, :])
        wins = np.where(same_rater, sign, 0.0).sum(axis=(2, 3))
        pairs = same_rater.sum(axis=(2, 3))
        has_pairs = pairs > 0
        with np.errstate(invalid="ignore", divide="ignore"):
            by_scorer = np.where(has_pairs, wins / pairs / 2, 0.0)
            average = by_scorer.sum(axis=1) / has_pairs.sum(axis=1)
        row[:] = np.where((chosen >= 0) & (base >= 0), average, np.nan)
    return result


def group_scores(judge: Array, groups: Integers, count: int, index: Integers) -> Array:
    """The mean rating of each choice by each group of raters.

    Args:
        judge: Samples (P, M, K, n).
        groups: The group of each sample, (P, M, K, n), negative where it is not known.
        count: The number of groups.
        index: The choices of A methods, (A, P).

    Returns:
        Means (A, G, P), NaN where no one of the group judged the choice.
    """
    prompts = np.arange(len(judge))
    result = np.full((len(index), count, len(judge)), np.nan)
    for row, chosen in zip(result, index, strict=True):
        candidate = np.maximum(chosen, 0)
        values = judge[prompts, :, candidate]
        codes = groups[prompts, :, candidate]
        for group in range(count):
            is_member = (codes == group) & ~np.isnan(values) & (chosen >= 0)[:, None, None]
            members = is_member.sum(axis=(1, 2))
            total = np.where(is_member, values, 0.0).sum(axis=(1, 2))
            row[group] = np.where(members > 0, total / np.maximum(members, 1), np.nan)
    return result
