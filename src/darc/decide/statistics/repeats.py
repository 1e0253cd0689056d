"""A rater's own noise told from disagreement between raters, by moments.

Rater i's j-th grade of candidate k is m_k + d_ki + e_kij: what the candidate is worth, where the
rater differs, and noise that another call would draw anew. The mean of r repeats still holds noise
of variance within / r, so the variance of these means over raters is expected to be var(d) + the
mean of within / r. The estimate of var(d) is therefore max(0, variance - mean within / r), with
`within` the variance of the repeats (ddof 1), pooled over candidates and raters. Only d is
disagreement: noise is not an opinion, and asking more often makes it vanish.
"""

import math
from dataclasses import dataclass

import numpy as np

from darc.typing import Array, Integers


@dataclass(frozen=True)
class RepeatComponents:
    """How grades vary, NaN where that is not defined."""

    #: The variance of one rater's repeats.
    within: float
    #: The variance between raters, for each candidate, (K,).
    between: Array


def components(grades: Array) -> RepeatComponents:
    """The components of grades (K, n, repeats), NaN where there is none or it is not defined."""
    means, counts = _means(grades)
    with np.errstate(invalid="ignore"):
        denoised = without_noise(grades)
        raters = (~np.isnan(means)).sum(axis=-1)
        squares = np.nansum((denoised - _center(denoised)) ** 2, axis=-1)
        between = np.where(raters > 1, squares / np.maximum(raters - 1, 1), math.nan)
    return RepeatComponents(_within(grades, counts), between)


def without_noise(grades: Array) -> Array:
    """Each rater's mean (K, n) of grades (K, n, repeats), drawn towards the candidate's mean.

    So far that the variance over raters is exactly the estimate of var(d); the mean, which noise
    does not bias, stays. Every rule then sees disagreement alone, whether it reads sigma, a tail or
    the entropic value. Without repeats nothing is known of the noise, and the grades stay.
    """
    means, counts = _means(grades)
    within = _within(grades, counts)
    if not within > 0:
        return means
    graded = counts > 0
    raters = graded.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        inverse_counts = np.where(graded, 1.0 / counts, 0.0).sum(axis=-1, keepdims=True)
        noise = within * inverse_counts / raters
        center = _center(means)
        squares = np.nansum((means - center) ** 2, axis=-1, keepdims=True)
        share = np.clip(1.0 - noise * (raters - 1) / squares, 0.0, 1.0)
        denoised = center + np.sqrt(share) * (means - center)
    return np.asarray(np.where((raters > 1) & (squares > 0), denoised, means))


def _means(grades: Array) -> tuple[Array, Integers]:
    """The mean over the repeats that there are, and how many they are."""
    counts = (~np.isnan(grades)).sum(axis=-1)
    means = np.nansum(grades, axis=-1) / np.where(counts, counts, math.nan)
    return means, counts


def _center(means: Array) -> Array:
    """The mean over the raters that graded, (K, 1)."""
    raters = (~np.isnan(means)).sum(axis=-1, keepdims=True)
    total = np.nansum(means, axis=-1, keepdims=True)
    return np.asarray(total / np.where(raters, raters, math.nan))


def _within(grades: Array, counts: Integers) -> float:
    """The variance of repeats, pooled over candidates and raters, NaN without repeats."""
    repeated = grades[counts > 1]
    if len(repeated) == 0:
        return math.nan
    return float(np.nanvar(repeated, axis=-1, ddof=1).mean())
