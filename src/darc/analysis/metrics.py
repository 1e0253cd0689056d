"""What is measured of choices: plain functions over arrays."""

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
    """Location and scale (M,) of each scorer: mean and deviation of all its samples (P, M, K, n).

    The scale of a scorer that is constant is 1.
    """
    flat = samples.transpose(1, 0, 2, 3).reshape(samples.shape[1], -1)
    location, scale = risk.mean(flat), risk.sigma(flat)
    return np.nan_to_num(location), np.where(np.nan_to_num(scale) > 0, scale, 1.0)


def aggregated(samples: Array) -> Statistics:
    """`Statistics` (P, K) over all scorers of samples (P, M, K, n).

    One scorer's are on its raw scale; several are each normalised by its pooled mean and deviation.
    """
    units = pooled_units(samples) if samples.shape[1] > 1 else "none"
    return batched(samples, 0.0, 0.0, units)


def taken(values: Array, index: Integers) -> Array:
    """The values (..., P) at each choice: values (P, K), index (..., P), NaN where it is -1."""
    rows = np.arange(values.shape[0])
    return np.where(index >= 0, values[rows, np.maximum(index, 0)], np.nan)


def lower_bound(at: Statistics, candidates: Array, delta: float = 0.05) -> Array:
    """Bounds mean - sigma sqrt(log(K/delta)/n), (P, K); K is `candidates` (P,)."""
    size = np.maximum(candidates, 1)[:, None]
    weight = lcb_coefficient(np.maximum(at.count, 1), candidates=size, delta=delta)
    return np.asarray(at.mean - weight * at.sigma)


def outcome_signs(delta: Array, threshold: float = 0.0, scale: float = 1.0) -> Array:
    """1 for a win, 0 for a tie, -1 for a loss, NaN for neither.

    A tie is a difference of 0, or below the threshold, up to the rounding of values of this scale.
    """
    size, rounding = np.abs(delta), ROUNDING * scale
    tied = (size <= rounding) | (size < threshold - rounding)
    return np.where(np.isnan(delta), np.nan, np.sign(delta) * ~tied)


def high_subset(disagreement: Array, kept: Mask, prompt_ids: list[str], share: float = 0.2) -> Mask:
    """The ceil(share N) of the N kept prompts with the largest disagreement, (P,), ties by id.

    No prompt is in it where no disagreement is known.
    """
    result = np.zeros(len(kept), dtype=bool)
    known = kept & ~np.isnan(disagreement)
    if known.any():
        size = share_size(share, int(kept.sum()))
        order = sorted(np.flatnonzero(known), key=lambda p: (-disagreement[p], prompt_ids[p]))
        result[order[:size]] = True
    return result


def matched_lambda(mean: Array, sigma: Array) -> float:
    """The lambda that makes median |mean| and lambda times median sigma equal; NaN for sigma 0."""
    middle = float(np.nanmedian(sigma)) if (~np.isnan(sigma)).any() else 0.0
    return float(np.nanmedian(np.abs(mean))) / middle if middle > 0 else float("nan")


def pairwise_scores(judge: Array, raters: Integers, index: Integers, base: Integers) -> Array:
    """Win rate minus one half against the base's choice, over the people who judged both.

    `judge` and `raters` are (P, M, K, n), `index` (A, P), `base` (P,). A win of the same giver
    counts 1, a tie 1/2, averaged over raters, then scorers. NaN where nobody judged both.
    """
    rows = np.arange(len(judge))
    right, by = judge[rows, :, np.maximum(base, 0)], raters[rows, :, np.maximum(base, 0)]
    result = np.full(index.shape, np.nan)
    for position, chosen in enumerate(index):
        spot = np.maximum(chosen, 0)
        left, who = judge[rows, :, spot], raters[rows, :, spot]
        same = (who[..., :, None] == by[..., None, :]) & (who != NOBODY)[..., :, None]
        better = np.where(same, np.sign(left[..., :, None] - right[..., None, :]), 0.0)
        pairs = same.sum(axis=(2, 3))
        with np.errstate(invalid="ignore", divide="ignore"):
            each = better.sum(axis=(2, 3)) / pairs / 2
            known = pairs > 0
            average = np.where(known, each, 0.0).sum(axis=1) / known.sum(axis=1)
        result[position] = np.where((chosen >= 0) & (base >= 0), average, np.nan)
    return result
