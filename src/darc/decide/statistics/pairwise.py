"""Comparisons as scalar samples: what each rater thinks of each candidate, (K, R).

Comparison c is `left[c]` against `right[c]` (candidate indices 0..K-1), judged by `rater[c]`
(0..R-1; None puts all comparisons under one rater), with `outcome[c]` 1 where left wins, 0 where
right wins and 0.5 for a tie. Results are NaN where a rater never saw a candidate.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from darc.errors import InputError, UnknownName
from darc.typing import Array

Indices = NDArray[np.intp]

# A utility gap to log F, its derivative, and minus its second derivative.
Link = Callable[[Array], tuple[Array, Array, Array]]

# Beyond these the prior is all there is, or too faint to keep the Hessian regular.
_PRIORS = (1e-6, 1e4)
_MAX_STEPS = 500
_MAX_HALVINGS = 60
# Newton squares the error, so the step after one this small is below rounding.
_CONVERGED = 1e-9
_ROUNDING = 1e-13
_ROOT_TWO = math.sqrt(2.0)
_LOG_ROOT_TAU = 0.5 * math.log(2.0 * math.pi)
# Above 30 deviations erfc nears underflow, and eight levels of the continued fraction are exact.
_TAIL = 30.0
_TAIL_LEVELS = 8
_complementary_error = np.vectorize(math.erfc, otypes=[np.float64])


@dataclass(frozen=True)
class _Comparisons:
    left: Indices
    right: Indices
    rater: Indices
    outcome: Array
    candidates: int
    raters: int


def win_rates(
    left: ArrayLike,
    right: ArrayLike,
    rater: ArrayLike | None,
    outcome: ArrayLike,
    *,
    candidates: int,
    raters: int | None = None,
) -> Array:
    """Each rater's share of wins of each candidate in the comparisons with it, (K, R).

    Ties count half; NaN where the rater never saw the candidate. `raters` defaults to one more
    than the largest index. O(comparisons + K R).

    Args:
        left: Index of the first candidate of each comparison.
        right: Index of the second candidate of each comparison.
        rater: Index of the rater of each comparison; None puts all under one rater.
        outcome: 1 where the left candidate wins, 0 where the right one does, 0.5 for a tie.
        candidates: The number of candidates, K.
        raters: The number of raters, R; by default one more than the largest index.

    Returns:
        One score per candidate and rater, (K, R).
    """
    seen = _comparisons(left, right, rater, outcome, candidates, raters)
    shape = (seen.candidates, seen.raters)
    wins = np.zeros(shape)
    played = np.zeros(shape)
    for side, won in ((seen.left, seen.outcome), (seen.right, 1.0 - seen.outcome)):
        np.add.at(wins, (side, seen.rater), won)
        np.add.at(played, (side, seen.rater), 1.0)
    np.divide(wins, played, out=wins, where=played > 0)
    return np.where(played > 0, wins, np.nan)


def bradley_terry(
    left: ArrayLike,
    right: ArrayLike,
    rater: ArrayLike | None,
    outcome: ArrayLike,
    *,
    candidates: int,
    raters: int | None = None,
    prior: float = 1.0,
) -> Array:
    """Each rater's most probable scores, (K, R), where i beats j with odds exp(s_i - s_j).

    Scores have a N(0, prior^2) prior, so a rater who always prefers one candidate gets a finite
    score, and sum to zero over the candidates the rater saw; NaN for the others. A tie is half a
    win each way. O(R K^3) per Newton step.

    Args:
        left: Index of the first candidate of each comparison.
        right: Index of the second candidate of each comparison.
        rater: Index of the rater of each comparison; None puts all under one rater.
        outcome: 1 where the left candidate wins, 0 where the right one does, 0.5 for a tie.
        candidates: The number of candidates, K.
        raters: The number of raters, R; by default one more than the largest index.
        prior: The standard deviation of the scores before any comparison is seen.

    Returns:
        One score per candidate and rater, (K, R).
    """
    seen = _comparisons(left, right, rater, outcome, candidates, raters)
    return _most_probable(seen, _logistic, prior)


def thurstone(
    left: ArrayLike,
    right: ArrayLike,
    rater: ArrayLike | None,
    outcome: ArrayLike,
    *,
    candidates: int,
    raters: int | None = None,
    prior: float = 1.0,
) -> Array:
    """Each rater's most probable scores, (K, R), where i beats j with probability Phi(s_i - s_j).

    The noise of a comparison has unit variance; all else is as in `bradley_terry`.

    Args:
        left: Index of the first candidate of each comparison.
        right: Index of the second candidate of each comparison.
        rater: Index of the rater of each comparison; None puts all under one rater.
        outcome: 1 where the left candidate wins, 0 where the right one does, 0.5 for a tie.
        candidates: The number of candidates, K.
        raters: The number of raters, R; by default one more than the largest index.
        prior: The standard deviation of the scores before any comparison is seen.

    Returns:
        One score per candidate and rater, (K, R).
    """
    seen = _comparisons(left, right, rater, outcome, candidates, raters)
    return _most_probable(seen, _gaussian, prior)


_METHODS: dict[str, Callable[..., Array]] = {
    "win-rate": win_rates,
    "bradley-terry": bradley_terry,
    "thurstone": thurstone,
}


def scalarize(
    method: str,
    left: ArrayLike,
    right: ArrayLike,
    rater: ArrayLike | None,
    outcome: ArrayLike,
    *,
    candidates: int,
    raters: int | None = None,
) -> Array:
    """Scores (K, R) by method: "win-rate", "bradley-terry" or "thurstone" (their default prior).

    Args:
        method: "win-rate", "bradley-terry" or "thurstone".
        left: Index of the first candidate of each comparison.
        right: Index of the second candidate of each comparison.
        rater: Index of the rater of each comparison; None puts all under one rater.
        outcome: 1 where the left candidate wins, 0 where the right one does, 0.5 for a tie.
        candidates: The number of candidates, K.
        raters: The number of raters, R; by default one more than the largest index.

    Returns:
        One score per candidate and rater, (K, R).

    Raises:
        UnknownName: If there is no such method.
    """
    if method not in _METHODS:
        raise UnknownName("pairwise method", method, _METHODS)
    return _METHODS[method](left, right, rater, outcome, candidates=candidates, raters=raters)


def _comparisons(
    left: ArrayLike,
    right: ArrayLike,
    rater: ArrayLike | None,
    outcome: ArrayLike,
    candidates: int,
    raters: int | None,
) -> _Comparisons:
    results = np.asarray(outcome, dtype=np.float64)
    if results.ndim != 1:
        raise InputError(f"outcome has {results.ndim} dimensions", "give one per comparison")
    if not np.isin(results, (0.0, 0.5, 1.0)).all():
        raise InputError(
            "outcome holds something other than 0, 0.5 and 1",
            "use 1 where left wins, 0 where right wins and 0.5 for a tie",
        )
    first = _indices("left", left, results.size, candidates)
    second = _indices("right", right, results.size, candidates)
    if np.any(first == second):
        place = int(np.flatnonzero(first == second)[0])
        raise InputError(
            f"comparison {place} is candidate {first[place]} against itself",
            "compare two different candidates",
        )
    if rater is None:
        if raters not in (None, 1):
            raise InputError(f"raters is {raters} but rater is None", "say who judged, or raters=1")
        judge = np.zeros(results.size, dtype=np.intp)
        return _Comparisons(first, second, judge, results, candidates, 1)
    if raters is None:
        raters = int(np.max(np.asarray(rater), initial=-1)) + 1
    judge = _indices("rater", rater, results.size, raters)
    return _Comparisons(first, second, judge, results, candidates, raters)


def _indices(name: str, values: ArrayLike, length: int, limit: int) -> Indices:
    array = np.asarray(values)
    if array.shape != (length,):
        raise InputError(
            f"{name} has shape {array.shape} but there are {length} outcomes",
            "give one per comparison",
        )
    if not length:
        return np.zeros(0, dtype=np.intp)
    if array.dtype.kind not in "iu":
        raise InputError(f"{name} holds {array.dtype} values", "give integer indices")
    outside = np.flatnonzero((array < 0) | (array >= limit))
    if outside.size:
        place = int(outside[0])
        raise InputError(
            f"{name} of comparison {place} is {array[place]}", f"use indices 0 to {limit - 1}"
        )
    return array.astype(np.intp)


def _most_probable(seen: _Comparisons, link: Link, prior: float) -> Array:
    """Maximise the log posterior of all raters at once by Newton's method with halved steps."""
    if not _PRIORS[0] <= prior <= _PRIORS[1]:
        raise InputError(f"prior is {prior}", f"it must lie from {_PRIORS[0]} to {_PRIORS[1]}")
    shape = (seen.raters, seen.candidates, seen.candidates)
    wins = np.zeros(shape)
    np.add.at(wins, (seen.rater, seen.left, seen.right), seen.outcome)
    np.add.at(wins, (seen.rater, seen.right, seen.left), 1.0 - seen.outcome)
    rater, winner, loser = np.nonzero(wins)
    count = wins[rater, winner, loser]
    precision = prior**-2.0

    def gaps(scores: Array) -> Array:
        return np.asarray(scores[rater, winner] - scores[rater, loser])

    def objective(scores: Array) -> Array:
        fit = np.bincount(rater, count * link(gaps(scores))[0], minlength=seen.raters)
        return np.asarray(fit - 0.5 * precision * np.sum(scores**2, axis=1))

    scores = np.zeros(shape[:2])
    diagonal = np.arange(seen.candidates)
    for _ in range(_MAX_STEPS):
        _, slope, curvature = link(gaps(scores))
        gradient = -precision * scores
        np.add.at(gradient, (rater, winner), count * slope)
        np.add.at(gradient, (rater, loser), -count * slope)
        hessian = np.zeros(shape)
        np.add.at(hessian, (rater, winner, loser), -count * curvature)
        hessian = hessian + np.swapaxes(hessian, 1, 2)
        hessian[:, diagonal, diagonal] = precision - np.sum(hessian, axis=2)
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        step *= _step_lengths(objective, scores, step, np.sum(gradient * step, axis=1))[:, None]
        scores = scores + step
        if np.all(np.abs(gaps(step)) <= _CONVERGED * (1.0 + np.abs(gaps(scores)))):
            break
    compared = np.any(wins + np.swapaxes(wins, 1, 2) > 0, axis=2)
    # The maximum already sums to zero; this removes what rounding left.
    excess = np.sum(scores, axis=1, where=compared) / np.maximum(np.sum(compared, axis=1), 1)
    return np.where(compared, scores - excess[:, None], np.nan).T


def _step_lengths(
    objective: Callable[[Array], Array], scores: Array, step: Array, gain: Array
) -> Array:
    """First of 1, 1/2, 1/4, ... that raises each rater's objective by a share of its gain."""
    start = objective(scores)
    slack = _ROUNDING * (1.0 + np.abs(start))
    length = np.ones(scores.shape[0])
    for _ in range(_MAX_HALVINGS):
        reached = objective(scores + length[:, None] * step)
        short = reached < start + 0.1 * length * gain - slack
        if not short.any():
            break
        length = np.where(short, length / 2.0, length)
    return length


def _logistic(gap: Array) -> tuple[Array, Array, Array]:
    """Log of 1 / (1 + exp(-gap)), its derivative and minus its second derivative."""
    small = np.exp(-np.abs(gap))
    share = np.where(gap > 0, small, 1.0) / (1.0 + small)
    return np.minimum(gap, 0.0) - np.log1p(small), share, small / (1.0 + small) ** 2


def _gaussian(gap: Array) -> tuple[Array, Array, Array]:
    """Log of the normal distribution function, its derivative and minus its second derivative."""
    body = np.maximum(gap, -_TAIL)
    below = 0.5 * _complementary_error(-body / _ROOT_TWO)
    above = 0.5 * _complementary_error(np.maximum(body, 0.0) / _ROOT_TWO)
    log_body = np.where(body > 0, np.log1p(-above), np.log(below))
    slope_body = np.exp(-0.5 * body**2 - _LOG_ROOT_TAU) / below
    distance = np.maximum(-gap, _TAIL)
    slope_tail = distance
    for level in range(_TAIL_LEVELS, 0, -1):
        slope_tail = distance + level / slope_tail
    log_tail = -0.5 * distance**2 - _LOG_ROOT_TAU - np.log(slope_tail)
    far = gap < -_TAIL
    slope = np.where(far, slope_tail, slope_body)
    return np.where(far, log_tail, log_body), slope, np.maximum(slope * (slope + gap), 0.0)
