"""Disagreement between the raters of a panel, without their severity and their own noise.

Rater i's grade of candidate k is m_k + s_i + d_ki + noise: what the candidate is worth, how mild
the rater is with all candidates of the prompt, where the rater differs about this candidate, and
noise that another call would draw anew. Only d is disagreement. Its variance is estimated by
moments from the residuals of m_k + s_i. Where the raters saw the candidates in two orders, each
candidate's mean difference between the orders is removed as well: position is not an opinion.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.typing import Array, Integers

# Severity can be told from disagreement from this many candidates on.
MIN_CANDIDATES = 3
# How often the means of candidates and of raters are removed in turn where grades are missing.
_ROUNDS = 30


@dataclass(frozen=True, eq=False)
class PanelDisagreement:
    """How the grades of a panel vary, NaN where that is not defined."""

    #: The variance of one rater's repeated grades, over all candidates.
    repeat_variance: float
    #: The noise that is left in a rater's mean grade of each candidate, as a variance, (K,).
    noise: Array
    #: The variance between raters about each candidate, (K,).
    between: Array
    #: The deviations (K, n) that the variance is estimated from.
    residuals: Array
    #: Whether severity could be told from disagreement.
    severity_removed: bool


def panel_disagreement(
    grades: Array,
    orders: Sequence[int] = (),
    *,
    means: Array | None = None,
    subtract_noise: bool = True,
) -> PanelDisagreement:
    """Estimate how much the raters of a panel disagree about each candidate.

    Args:
        grades: The grades (K, n, repeats), NaN where there is none.
        orders: In which of several orders each rater saw the candidates, (n,); empty if the raters
            saw each candidate alone.
        means: Each rater's mean grade (K, n), where it is not the mean of the repeats.
        subtract_noise: Whether the raters' own noise, as far as repeats show it, is left out.

    Returns:
        The estimates.
    """
    if means is None:
        means = mean_of_repeats(grades)
    noise = _noise(grades)
    graded = np.flatnonzero((~np.isnan(means)).sum(axis=1) > 1)
    removes_severity = len(graded) >= MIN_CANDIDATES
    residuals = np.full(means.shape, math.nan)
    variance = np.full(len(means), math.nan)
    fit = _fit(means[graded], _order_codes(orders, means.shape[1]), removes_severity)
    residuals[graded] = fit.residuals
    with np.errstate(invalid="ignore", divide="ignore"):
        variance[graded] = np.nansum(fit.residuals**2, axis=1) / np.where(
            fit.degrees > 0, fit.degrees, math.nan
        )
    own_noise = np.zeros(len(means))
    if subtract_noise:
        own_noise = np.nan_to_num(noise)
    between = variance - own_noise
    if removes_severity:
        between[graded] = _without_spill(variance[graded], own_noise[graded])
    return PanelDisagreement(
        repeat_variance=_repeat_variance(grades),
        noise=noise,
        between=np.maximum(between, 0.0),
        residuals=residuals,
        severity_removed=removes_severity,
    )


def disagreement_alone(means: Array, disagreement: PanelDisagreement) -> Array:
    """Grades (K, n) that have the candidates' means and vary by disagreement alone.

    Every rule then sees disagreement, whether it reads a deviation, a tail or the entropic value.

    Args:
        means: Each rater's mean grade, (K, n), NaN where there is none.
        disagreement: What `panel_disagreement` makes of them.

    Returns:
        Grades whose variance over raters is the estimated one. Candidates for which it is not
        defined keep their grades.
    """
    count = (~np.isnan(means)).sum(axis=1)
    center = np.nansum(means, axis=1) / np.maximum(count, 1)
    residuals = np.where(np.isnan(means), math.nan, np.nan_to_num(disagreement.residuals))
    squares = np.nansum(residuals**2, axis=1)
    target_squares = disagreement.between * np.maximum(count - 1, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = np.where(squares > 0, np.sqrt(target_squares / squares), 0.0)
    samples = center[:, None] + factor[:, None] * residuals
    is_defined = ~np.isnan(disagreement.between)
    return np.asarray(np.where(is_defined[:, None], samples, means))


def mean_of_repeats(grades: Array) -> Array:
    """The mean (K, n) of the repeats that there are, NaN where there is none."""
    counts = (~np.isnan(grades)).sum(axis=-1)
    return np.asarray(np.nansum(grades, axis=-1) / np.where(counts, counts, math.nan))


@dataclass(frozen=True, eq=False)
class _Fit:
    #: What is left of the grades, (K, n).
    residuals: Array
    #: The degrees of freedom of each candidate's residuals, (K,).
    degrees: Integers


def _fit(means: Array, orders: Integers, remove_severity: bool) -> _Fit:
    """Remove the means of candidates in each order and, if asked for, those of raters."""
    values = means.copy()
    if remove_severity:
        # A rater of one candidate shows nothing but severity.
        values[:, (~np.isnan(values)).sum(axis=0) < 2] = math.nan
    groups = _usable_groups(values, orders)
    is_graded = ~np.isnan(values)
    rounds = _ROUNDS if remove_severity else 1
    for _ in range(rounds):
        before = values.copy()
        for members in groups:
            values[:, members] -= _mean_or_zero(values[:, members], axis=1)
        if remove_severity:
            values -= _mean_or_zero(values, axis=0)
        if np.allclose(values[is_graded], before[is_graded], rtol=0, atol=1e-12):
            break
    groups_of_candidate = sum(is_graded[:, members].any(axis=1).astype(int) for members in groups)
    degrees = np.asarray(is_graded.sum(axis=1) - groups_of_candidate)
    # Squared deviations of the last rounding errors are none.
    values[np.abs(values) < 1e-9] = 0.0
    return _Fit(values, degrees)


def _usable_groups(values: Array, orders: Integers) -> list[Integers]:
    """The raters of each order; all raters together where there are too few for two orders."""
    raters = np.flatnonzero((~np.isnan(values)).any(axis=0))
    codes = np.unique(orders[raters])
    everybody = np.arange(values.shape[1])
    if len(raters) - len(codes) < 1:
        return [everybody]
    return [everybody[orders == code] for code in codes]


def _without_spill(variance: Array, own_noise: Array) -> Array:
    """Each candidate's variance, from residuals in which the other candidates' spill over.

    Removing a rater's mean leaves 1 - 2/K of a candidate's own variance in its residuals, and puts
    the sum of all variances over K^2 into each of them.
    """
    size = len(variance)
    own_share = 1 - 2 / size
    rest = variance - own_noise * own_share - own_noise.sum() / size**2
    total = np.nansum(rest) / (1 - 1 / size)
    return np.asarray((rest - total / size**2) / own_share)


def _order_codes(orders: Sequence[int], raters: int) -> Integers:
    if len(orders) == 0:
        return np.zeros(raters, dtype=np.int64)
    return np.asarray(orders, dtype=np.int64)


def _mean_or_zero(values: Array, axis: int) -> Array:
    """The mean along an axis of what is there, 0 where there is nothing."""
    count = (~np.isnan(values)).sum(axis=axis, keepdims=True)
    return np.asarray(np.nansum(values, axis=axis, keepdims=True) / np.maximum(count, 1))


def _noise(grades: Array) -> Array:
    """The noise in raters' means of each candidate as a variance, (K,), NaN without repeats."""
    counts = (~np.isnan(grades)).sum(axis=-1)
    repeated = counts > 1
    spread = np.where(repeated[..., None], grades, 0.0)
    variances = np.nanvar(spread, axis=-1, ddof=1) if grades.shape[-1] > 1 else 0.0 * counts
    in_mean = np.where(repeated, variances / np.maximum(counts, 1), 0.0)
    raters = repeated.sum(axis=-1)
    return np.asarray(in_mean.sum(axis=-1) / np.where(raters, raters, math.nan))


def _repeat_variance(grades: Array) -> float:
    """The variance of repeats, pooled over candidates and raters, NaN without repeats."""
    counts = (~np.isnan(grades)).sum(axis=-1)
    repeated = grades[counts > 1]
    if len(repeated) == 0:
        return math.nan
    return float(np.nanvar(repeated, axis=-1, ddof=1).mean())
