"""Each rater beside the others: severity, agreement with the rest, and what is odd."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.analysis.diagnose.candidate_ratings import CandidateRatings
from darc.analysis.diagnose.rater_likings import NotableLiking
from darc.analysis.diagnose.residuals import fit_rater_levels
from darc.typing import Array, Integers, Mask

# A rater farther than this from the median, in robust deviations, is flagged.
OUTLIER_DISTANCE = 3.5
# A rater who gives the same rating at least this often is constant.
CONSTANT_SHARE = 0.9
# With fewer raters nobody is called an outlier, and with fewer ratings no rater is judged.
MIN_RATERS = 5
MIN_RATINGS = 5
# If raters typically have fewer ratings, there are no reports.
MIN_TYPICAL_RATINGS = 3
# Smaller differences are not flagged: in deviations of the residuals, and in Fisher's z.
MIN_SEVERITY = 0.5
MIN_DISAGREEMENT = 0.2


@dataclass(frozen=True)
class RaterReport:
    """One rater."""

    name: str
    #: The number of ratings.
    ratings: int
    #: How far above the others this rater rates the same candidates; negative for strict raters.
    severity: float
    #: The standard error of the severity, with prompts as units; NaN with one rating.
    error: float
    #: The severity, drawn towards 0 as far as it is uncertain.
    shrunk: float
    #: The correlation with the mean of the others' ratings, without their levels.
    agreement: float
    #: What is odd: "constant", "severe", "lenient", "apart", or "for" or "against" a system.
    flags: tuple[str, ...]


def report_raters(
    ratings: CandidateRatings, notable: Sequence[NotableLiking] = ()
) -> list[RaterReport]:
    """Report on every rater.

    O(ratings) per sweep of the additive fit.

    Args:
        ratings: The ratings.
        notable: The likings of systems that are beyond chance, the largest first.

    Returns:
        One report per rater; none if raters are unknown or alone, or have too few ratings.
    """
    size = len(ratings.rater_names)
    if not ratings.named or size < 2:
        return []
    candidate, rater, value = ratings.flat()
    count = np.bincount(rater, minlength=size)
    if np.median(count) < MIN_TYPICAL_RATINGS:
        return []
    severity, residual = fit_rater_levels(candidate, rater, value)
    cell = ratings.prompts[candidate] * size + rater
    error = _standard_errors(cell, rater, residual, count)
    shrunk = severity * _reliability(severity, error)
    agreement = _agreements(candidate, rater, value - severity[rater], size)
    judged = count >= MIN_RATINGS
    constant = judged & _is_constant(rater, value, count)
    usual = judged & ~constant
    # Fisher's transformation makes correlations comparable.
    fisher = np.arctanh(np.clip(agreement, -0.999999, 0.999999))
    fisher_error = 1 / np.sqrt(np.maximum(count - 3.0, 1.0))
    severity_distance = _outlier_distance(
        severity, error, usual, MIN_SEVERITY * float(np.std(residual))
    )
    agreement_distance = _outlier_distance(fisher, fisher_error, usual, MIN_DISAGREEMENT)
    flagged = {
        "constant": constant,
        "severe": severity_distance < -OUTLIER_DISTANCE,
        "lenient": severity_distance > OUTLIER_DISTANCE,
        "apart": agreement_distance < -OUTLIER_DISTANCE,
    }
    reports = []
    for place, name in enumerate(ratings.rater_names):
        report = RaterReport(
            name=name,
            ratings=int(count[place]),
            severity=float(severity[place]),
            error=float(error[place]),
            shrunk=float(shrunk[place]),
            agreement=float(agreement[place]),
            flags=(
                *(flag for flag, raters in flagged.items() if raters[place]),
                *_liking_flags(name, notable),
            ),
        )
        reports.append(report)
    return reports


def _liking_flags(rater: str, notable: Sequence[NotableLiking]) -> list[str]:
    """The system that a rater is for or against most, if any."""
    for liking in notable:
        if liking.rater == rater:
            side = "for" if liking.liking > 0 else "against"
            return [f"{side} {liking.system}"]
    return []


def _standard_errors(cell: Integers, rater: Integers, residual: Array, count: Integers) -> Array:
    """Standard errors of the raters' levels, whole prompts being the independent units.

    Args:
        cell: The prompt and the rater of each rating as one number (N,).
        rater: The rater of each rating (N,).
        residual: The residual of each rating (N,).
        count: The ratings of each rater (raters,).

    Returns:
        The errors (raters,).
    """
    raters = count.size
    cells, code = np.unique(cell, return_inverse=True)
    cell_rater = cells % raters
    cell_squares = np.bincount(code, residual) ** 2
    prompts = np.bincount(cell_rater, minlength=raters).astype(np.float64)
    squares = np.bincount(cell_rater, cell_squares, raters)
    single_prompt = np.bincount(rater, residual**2, raters)
    corrected = squares * prompts / np.maximum(prompts - 1, 1)
    errors = np.sqrt(np.where(prompts > 1, corrected, single_prompt)) / np.maximum(count, 1)
    # The fit goes through the only rating of a rater, so that nothing shows its error.
    return np.where(count > 1, errors, np.nan)


def _reliability(severity: Array, error: Array) -> Array:
    """How much of each rater's severity is kept: as far as raters differ beyond their errors."""
    known = ~np.isnan(error)
    result = np.zeros(error.size)
    if known.sum() < 2:
        return result
    between = max(float(np.var(severity[known], ddof=1) - np.mean(error[known] ** 2)), 0.0)
    total = between + error**2
    return np.divide(between, total, out=result, where=known & (total > 0))


def _is_constant(rater: Integers, value: Array, count: Integers) -> Mask:
    """Which raters (raters,) nearly always give the same rating, if others do not."""
    commonest = [
        np.unique(value[rater == place], return_counts=True)[1].max() for place in range(count.size)
    ]
    return (np.array(commonest) >= CONSTANT_SHARE * count) & bool(np.ptp(value))


def _agreements(candidate: Integers, rater: Integers, value: Array, raters: int) -> Array:
    """The correlation of each rater's ratings with the mean of the others', (raters,).

    NaN with fewer than three candidates that others have rated too.
    """
    count = np.bincount(candidate)[candidate]
    shared = count >= 2
    shared_rater = rater[shared]
    rating = value[shared]
    totals = np.bincount(candidate, value)[candidate][shared]
    others_mean = (totals - rating) / (count[shared] - 1)
    result = np.full(raters, math.nan)
    for place in range(raters):
        ratings = rating[shared_rater == place]
        others = others_mean[shared_rater == place]
        if ratings.size >= 3 and np.ptp(ratings) > 0 and np.ptp(others) > 0:
            result[place] = np.corrcoef(ratings, others)[0, 1]
    return result


def _outlier_distance(values: Array, error: Array, judged: Mask, min_difference: float) -> Array:
    """Distance from the median in deviations, sqrt((1.4826 MAD)^2 + error^2).

    Args:
        values: One value per rater (raters,).
        error: Its standard error (raters,).
        judged: The raters who are compared (raters,).
        min_difference: Smaller differences count as 0.

    Returns:
        The distances (raters,), 0 where unknown and with fewer raters than `MIN_RATERS`.
    """
    compared = ~np.isnan(values) & judged
    result = np.zeros(values.size)
    if compared.sum() < MIN_RATERS:
        return result
    middle = float(np.median(values[compared]))
    deviation = 1.4826 * float(np.median(np.abs(values[compared] - middle)))
    scale = np.sqrt(deviation**2 + np.nan_to_num(error) ** 2)
    usable = compared & (scale > 0) & (np.abs(values - middle) >= min_difference)
    result[usable] = (values[usable] - middle) / scale[usable]
    return result
