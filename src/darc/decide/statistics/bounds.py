"""Lower confidence bounds on the mean, uniform over K candidates, and the proxy's slack.

`mean`, `sigma` (ddof = 1), `n` and `candidates` broadcast together, each candidate with its own n
and each pool with its own K; the result has their common shape. The bounds hold for independent
samples (raters), not for rewrites of one answer. Every function is O(1) per element.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from darc.decide.statistics.arrays import as_bounds, check_probability
from darc.errors import InputError
from darc.typing import Array

# How far past a bound, in ranges, the rounding of a mean may carry it.
_ROUNDING = 1e-9


def empirical_bernstein(
    mean: ArrayLike,
    sigma: ArrayLike,
    n: ArrayLike,
    *,
    candidates: ArrayLike,
    bounds: ArrayLike,
    delta: float = 0.05,
) -> Array:
    """Maurer and Pontil's lower bound on all K true means at once, with probability 1 - delta.

    mean - sigma sqrt(2 log(2K/delta)/n) - 7 (b - a) log(2K/delta) / (3 (n - 1)) for samples in
    bounds = (a, b). Fewer than two samples carry no information about the spread: -inf there,
    whatever mean and sigma are; otherwise NaN in gives NaN out.

    Args:
        mean: Mean of each candidate's samples.
        sigma: Their standard deviation (ddof = 1).
        n: The number of samples of each candidate.
        candidates: The number of candidates in the pool, K.
        bounds: The ends (a, b) of the scale of the samples.
        delta: The probability that any of the K bounds fails.

    Returns:
        The bound of each candidate.
    """
    low, high = _bounds(bounds)
    centre, deviation, count = np.broadcast_arrays(
        _within(mean, low, high), _nonnegative("sigma", sigma), _nonnegative("n", n)
    )
    level = _log_ratio(2.0, candidates, delta)
    size = np.maximum(count, 2.0)
    bound = centre - deviation * np.sqrt(2.0 * level / size)
    bound -= 7.0 * (high - low) * level / (3.0 * (size - 1.0))
    return np.where(count < 2, -np.inf, bound)


def sub_gaussian(
    mean: ArrayLike, n: ArrayLike, *, candidates: ArrayLike, nu: float, delta: float = 0.05
) -> Array:
    """Lower bound on all K true means at once, with probability 1 - delta, at proxy deviation nu.

    mean - nu sqrt(2 log(K/delta)/n); samples in [a, b] have nu = (b - a)/2 (Hoeffding). -inf where
    n < 1; otherwise NaN in gives NaN out.

    Args:
        mean: Mean of each candidate's samples.
        n: The number of samples of each candidate.
        candidates: The number of candidates in the pool, K.
        nu: The sub-Gaussian proxy deviation of one sample.
        delta: The probability that any of the K bounds fails.

    Returns:
        The bound of each candidate.

    Raises:
        InputError: If nu is negative or not finite.
    """
    if not (math.isfinite(nu) and nu >= 0):
        raise InputError(f"nu is {nu}", "nu must be finite and at least 0")
    centre, count = np.broadcast_arrays(np.asarray(mean, np.float64), _nonnegative("n", n))
    level = _log_ratio(1.0, candidates, delta)
    bound = centre - nu * np.sqrt(2.0 * level / np.maximum(count, 1.0))
    return np.where(count < 1, -np.inf, bound)


def lower_confidence_bound(
    mean: ArrayLike,
    sigma: ArrayLike,
    n: ArrayLike,
    *,
    candidates: ArrayLike,
    bounds: ArrayLike,
    delta: float = 0.05,
) -> Array:
    """Lower bound on all K true means at once, from their statistics alone.

    It holds with probability 1 - delta. `betting_bound`, which sees the samples themselves, is
    tighter; certificates have that one.

    The larger of `empirical_bernstein` and `sub_gaussian` (nu = (b - a)/2), each at delta/2, and
    never below a. n = 1 leaves the second alone, n = 0 gives a; otherwise NaN in gives NaN out.

    Args:
        mean: Mean of each candidate's samples.
        sigma: Their standard deviation (ddof = 1).
        n: The number of samples of each candidate.
        candidates: The number of candidates in the pool, K.
        bounds: The ends (a, b) of the scale of the samples.
        delta: The probability that any of the K bounds fails.

    Returns:
        The bound of each candidate.
    """
    low, high = _bounds(bounds)
    half = check_probability("delta", delta) / 2.0
    bernstein = empirical_bernstein(
        mean, sigma, n, candidates=candidates, bounds=bounds, delta=half
    )
    hoeffding = sub_gaussian(mean, n, candidates=candidates, nu=(high - low) / 2.0, delta=half)
    return np.maximum(np.maximum(bernstein, hoeffding), low)


def lcb_coefficient(
    n: ArrayLike, *, candidates: ArrayLike, delta: float = 0.05, c: float = 1.0
) -> Array:
    """Multiplier of sigma in the `lcb` rule, c sqrt(log(K/delta)/n); infinite where n < 1.

    A selection heuristic: mean minus this many sigmas is not a valid bound.

    Args:
        n: The number of samples of each candidate.
        candidates: The number of candidates in the pool, K.
        delta: The probability that any of the K bounds fails.
        c: A factor of the whole term.

    Returns:
        The multiplier of each candidate.
    """
    count = _nonnegative("n", n)
    factor = float(_nonnegative("c", c)) * np.sqrt(_log_ratio(1.0, candidates, delta))
    return np.where(count < 1, np.inf, factor / np.sqrt(np.maximum(count, 1.0)))


def proxy_slack(
    eps_mu: ArrayLike,
    eps_sigma: ArrayLike,
    n: ArrayLike,
    *,
    candidates: ArrayLike,
    delta: float = 0.05,
    c: float = 1.0,
) -> Array:
    """How far the lcb score of a proxy can be off: eps_mu + c eps_sigma sqrt(log(K/delta)/n).

    `eps_mu` and `eps_sigma` bound the proxy's error in mean and sigma; arguments broadcast.

    Args:
        eps_mu: The largest error of the proxy's mean.
        eps_sigma: The largest error of the proxy's sigma.
        n: The number of samples of each candidate.
        candidates: The number of candidates in the pool, K.
        delta: The probability that any of the K bounds fails.
        c: A factor of the whole term.

    Returns:
        The slack, in the units of the scores.
    """
    coefficient = lcb_coefficient(n, candidates=candidates, delta=delta, c=c)
    centre, deviation, factor = np.broadcast_arrays(
        _nonnegative("eps_mu", eps_mu), _nonnegative("eps_sigma", eps_sigma), coefficient
    )
    # The mask keeps a faithful sigma at n = 0 from becoming 0 * inf.
    spread = np.zeros(factor.shape)
    np.multiply(deviation, factor, out=spread, where=deviation > 0)
    return np.asarray(centre + spread)


def proxy_suboptimality(
    eps_mu: ArrayLike,
    eps_sigma: ArrayLike,
    n: ArrayLike,
    *,
    candidates: ArrayLike,
    delta: float = 0.05,
    c: float = 1.0,
) -> Array:
    """Most that choosing by the proxy's lcb score can cost: twice `proxy_slack`.

    Args:
        eps_mu: The largest error of the proxy's mean.
        eps_sigma: The largest error of the proxy's sigma.
        n: The number of samples of each candidate.
        candidates: The number of candidates in the pool, K.
        delta: The probability that any of the K bounds fails.
        c: A factor of the whole term.

    Returns:
        The largest loss, in the units of the scores.
    """
    return 2.0 * proxy_slack(eps_mu, eps_sigma, n, candidates=candidates, delta=delta, c=c)


def _log_ratio(factor: float, candidates: ArrayLike, delta: float) -> Array:
    count = np.asarray(candidates, dtype=np.float64)
    if not (np.isfinite(count).all() and (count >= 1).all()):
        raise InputError(f"candidates is {candidates!r}", "there must be at least one candidate")
    return np.asarray(np.log(factor * count) - np.log(check_probability("delta", delta)))


def _bounds(bounds: ArrayLike) -> tuple[float, float]:
    low, high = as_bounds(bounds, 1)[0]
    return float(low), float(high)


def _nonnegative(name: str, value: ArrayLike) -> Array:
    array = np.asarray(value, dtype=np.float64)
    if np.any(array < 0):
        raise InputError(f"{name} is negative", f"{name} must be at least 0")
    return array


def _within(mean: ArrayLike, low: float, high: float) -> Array:
    array = np.asarray(mean, dtype=np.float64)
    slack = _ROUNDING * (high - low)
    if np.any((array < low - slack) | (array > high + slack)):
        raise InputError(
            f"a mean lies outside the bounds ({low}, {high})",
            "the bounds must contain every sample, or the bound is not valid",
        )
    return array
