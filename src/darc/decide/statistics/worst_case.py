"""Distributionally robust values: the worst mean over distributions near the empirical one.

Three neighbourhoods of the empirical distribution P: a KL penalty (`tilted_weights`, the weights
behind the entropic value), a KL ball (`kl_ball`) and a chi-square ball (`chi_square`).
Everywhere the last axis holds the samples of one row, NaN is a missing sample, and a sample of
weight 0 counts as missing; a row with nothing left gives NaN.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from darc.decide.statistics.arrays import as_samples, as_weights
from darc.errors import InputError
from darc.typing import Array

# A distance to the minimum below this share of the range is a tie: its square would underflow.
_TIE = 1e-150
# Moving a value by less than rounding: sqrt(radius / 2) bounds the fall in units of the range.
_NEGLIGIBLE_RADIUS = 1e-32
_ROUNDING = 1e-14
_TINY = np.finfo(np.float64).tiny
_MAX_STEPS = 200


def tilted_weights(scores: ArrayLike, beta: ArrayLike, weights: ArrayLike | None = None) -> Array:
    """Worst-case weights of the KL-penalised problem, proportional to w_i exp(-beta R_i).

    `scores` is (..., n), `beta` a scalar or anything that broadcasts to (...), `weights`
    broadcasts to (..., n); the result is (..., n), sums to 1 and is 0 at NaN. beta = 0 gives the
    weights back, beta = inf spreads over the ties of the minimum. O(n) per row.

    Args:
        scores: Samples, (..., n); NaN marks a missing one.
        beta: Risk aversion, which broadcasts to (...).
        weights: Weights of the samples, which broadcast to (..., n).

    Returns:
        The weights, (..., n), which sum to 1 in each row.
    """
    samples, mass = _empirical(scores, weights)
    tilt = _parameter("beta", beta, samples.shape[:-1])
    low, _ = _extremes(samples, mass)
    return _tilt(np.subtract(samples, low, out=np.zeros_like(samples), where=mass > 0), mass, tilt)


def kl_ball(
    scores: ArrayLike, radius: ArrayLike, weights: ArrayLike | None = None
) -> tuple[Array, Array]:
    """Least mean over Q with KL(Q || P) <= radius (nats), (...), and that Q, (..., n).

    `scores` is (..., n), `radius` broadcasts to (...), `weights` to (..., n); NaN samples are
    missing. The value is the mean at radius 0 and the minimum once the radius reaches
    -log P(minimum), which is log(n / multiplicity of the minimum) without weights. It is accurate
    to about 1e-14 of the range. O(n) per row and Newton step, some ten steps.

    Args:
        scores: Samples, (..., n); NaN marks a missing one.
        radius: The radius of the ball in nats, which broadcasts to (...).
        weights: Weights of the samples, which broadcast to (..., n).

    Returns:
        The least mean, (...), and the weights that attain it, (..., n).
    """
    samples, mass = _empirical(scores, weights)
    limit = _parameter("radius", radius, samples.shape[:-1])
    low, spread, unit = _standardise(samples, mass)
    atom = np.sum(mass, axis=-1, where=unit == 0)
    ceiling = -np.log(np.where(atom > 0, atom, np.nan))
    reached = limit >= ceiling - _ROUNDING * (1.0 + ceiling)
    interior = ~reached & (limit > _NEGLIGIBLE_RADIUS) & ~np.isnan(ceiling)
    tilt = np.asarray(np.where(reached & (limit > 0), np.inf, 0.0))
    tilt[interior] = _tilt_for_radius(unit[interior], mass[interior], limit[interior])
    worst = _tilt(unit, mass, tilt)
    return low + spread * np.sum(worst * unit, axis=-1), worst


def chi_square(scores: ArrayLike, rho: ArrayLike) -> tuple[Array, Array]:
    """Least mean over Q with n sum (q - 1/n)^2 <= rho, (...), and that Q, (..., n).

    `scores` is (..., n), `rho` broadcasts to (...); NaN samples are missing and n is each row's
    own count. The value is the closed form where `closed_form_is_exact`, and the minimum, spread
    over its ties, once rho >= n / multiplicity - 1. O(n log n) per row.

    The optimum is q_i proportional to max(0, eta - R_i), so its support is the k lowest samples,
    and there it is the closed form again, with (1 + rho) k / n - 1 in the place of rho.

    Args:
        scores: Samples, (..., n); NaN marks a missing one.
        rho: The radius of the chi-square ball, which broadcasts to (...).

    Returns:
        The least mean, (...), and the weights that attain it, (..., n).
    """
    samples, mass = _empirical(scores, None)
    limit = _parameter("rho", rho, samples.shape[:-1])
    low, spread, unit = _standardise(samples, mass)
    count = np.sum(mass > 0, axis=-1).astype(np.float64)
    limit = np.minimum(limit, count)
    support = (mass > 0) & (unit <= _support_edge(unit, mass, limit, count)[..., None])
    size = np.sum(support, axis=-1)
    divisor = np.maximum(size, 1)
    centre = np.sum(unit, axis=-1, where=support) / divisor
    offset = np.where(support, unit - centre[..., None], 0.0)
    deviation = np.sqrt(np.sum(offset**2, axis=-1) / divisor)
    share = np.maximum(limit * size + (size - count), 0.0) / np.maximum(count, 1.0)
    slope = np.divide(np.sqrt(share), deviation, out=np.zeros_like(share), where=deviation > 0)
    worst = np.where(support, np.maximum(1.0 - slope[..., None] * offset, 0.0), 0.0)
    total = np.sum(worst, axis=-1, keepdims=True)
    worst = np.divide(worst, total, out=np.full_like(worst, np.nan), where=total > 0)
    return low + spread * np.sum(worst * unit, axis=-1), worst


def chi_square_closed_form(scores: ArrayLike, rho: ArrayLike) -> Array:
    """Mean minus sqrt(rho) times the standard deviation (ddof = 0), shape (...).

    `scores` is (..., n), `rho` broadcasts to (...); NaN samples are missing. Never above
    `chi_square`, and equal to it where `closed_form_is_exact`. O(n) per row.

    Args:
        scores: Samples, (..., n); NaN marks a missing one.
        rho: The radius of the chi-square ball, which broadcasts to (...).

    Returns:
        The closed form of each row, (...).
    """
    samples, mass = _empirical(scores, None)
    limit = _parameter("rho", rho, samples.shape[:-1])
    low, spread, unit = _standardise(samples, mass)
    centre, deviation = _moments(unit, mass)
    # The mask keeps an infinite rho on a constant row from becoming inf * 0.
    drop = np.multiply(np.sqrt(limit), deviation, out=np.zeros(limit.shape), where=deviation > 0)
    return low + spread * (centre - drop)


def closed_form_is_exact(scores: ArrayLike, rho: ArrayLike) -> NDArray[np.bool_]:
    """Whether the closed form's weights are nonnegative, hence its value attained, shape (...).

    It is samples far above the mean that break it. `scores` is (..., n), `rho` broadcasts to
    (...); NaN samples are missing and a row without samples is False. O(n) per row.

    Args:
        scores: Samples, (..., n); NaN marks a missing one.
        rho: The radius of the chi-square ball, which broadcasts to (...).

    Returns:
        Whether it is attained, for each row, (...).
    """
    samples, mass = _empirical(scores, None)
    limit = _parameter("rho", rho, samples.shape[:-1])
    _, _, unit = _standardise(samples, mass)
    centre, deviation = _moments(unit, mass)
    highest = np.max(unit, axis=-1, initial=0.0)
    reach = np.sqrt(np.minimum(limit, samples.shape[-1])) * (highest - centre)
    return np.asarray(np.any(mass > 0, axis=-1) & (reach <= deviation * (1.0 + _ROUNDING)))


def rho_from_lambda(lam: ArrayLike, n: ArrayLike) -> Array:
    """Chi-square radius n/(n-1) lam^2 at which the closed form is mean - lam sigma (ddof = 1).

    Arguments broadcast; NaN where n < 2, as sigma is. O(1) per element.

    Args:
        lam: The number of standard deviations.
        n: The number of samples.

    Returns:
        The radius.
    """
    level, count = np.broadcast_arrays(_parameter("lam", lam), _parameter("n", n))
    empty = np.full(count.shape, np.nan)
    rho: Array = np.divide(level**2 * count, count - 1.0, out=empty, where=count >= 2)
    return rho


def lambda_from_rho(rho: ArrayLike, n: ArrayLike) -> Array:
    """Nonnegative lam with n/(n-1) lam^2 = rho; inverse of `rho_from_lambda`.

    Arguments broadcast; NaN where n < 2. O(1) per element.

    Args:
        rho: The radius of the chi-square ball, which broadcasts to (...).
        n: The number of samples.

    Returns:
        The number of standard deviations.
    """
    limit, count = np.broadcast_arrays(_parameter("rho", rho), _parameter("n", n))
    empty = np.full(count.shape, np.nan)
    square: Array = np.divide(limit * (count - 1.0), count, out=empty, where=count >= 2)
    return np.sqrt(square)


def _empirical(scores: ArrayLike, weights: ArrayLike | None) -> tuple[Array, Array]:
    """Sample values and probabilities, each (..., n): 0 where missing, NaN in an empty row."""
    samples = as_samples(scores)
    present = ~np.isnan(samples)
    mass = present.astype(np.float64)
    sample_weights = as_weights(weights, samples.shape)
    if sample_weights is not None:
        mass = np.where(present, sample_weights, 0.0)
        # Dividing by the largest first keeps the sum of huge or tiny weights in range.
        largest = np.max(mass, axis=-1, keepdims=True, initial=0.0)
        mass = np.divide(mass, largest, out=np.zeros_like(mass), where=largest > 0)
    total = np.sum(mass, axis=-1, keepdims=True)
    return samples, np.divide(mass, total, out=np.full_like(mass, np.nan), where=total > 0)


def _parameter(name: str, value: ArrayLike, shape: tuple[int, ...] | None = None) -> Array:
    """Array of nonnegative numbers in the given shape, made of `value`."""
    array = np.asarray(value, dtype=np.float64)
    if not np.all(array >= 0):
        raise InputError(f"{name} is negative or NaN", f"{name} must be at least 0")
    if shape is None:
        return array
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise InputError(
            f"{name} of shape {array.shape} does not fit the shape {shape}",
            f"give a {name} that broadcasts to it",
        ) from None


def _extremes(samples: Array, mass: Array) -> tuple[Array, Array]:
    """Smallest and largest sample of positive mass, (..., 1), NaN in an empty row."""
    present = mass > 0
    low = np.min(samples, axis=-1, keepdims=True, initial=np.inf, where=present)
    high = np.max(samples, axis=-1, keepdims=True, initial=-np.inf, where=present)
    return np.where(np.isinf(low), np.nan, low), np.where(np.isinf(high), np.nan, high)


def _standardise(samples: Array, mass: Array) -> tuple[Array, Array, Array]:
    """Minimum (...), range (...) and samples moved to [0, 1] (..., n), 0 where missing."""
    low, high = _extremes(samples, mass)
    spread = high - low
    distance = np.subtract(samples, low, out=np.zeros_like(samples), where=mass > 0)
    unit = np.divide(distance, spread, out=np.zeros_like(samples), where=spread > 0)
    return low[..., 0], spread[..., 0], np.where(unit < _TIE, 0.0, unit)


def _moments(unit: Array, mass: Array) -> tuple[Array, Array]:
    """Mean and standard deviation (ddof = 0), (...)."""
    centre = np.sum(mass * unit, axis=-1)
    return centre, np.sqrt(np.sum(mass * (unit - centre[..., None]) ** 2, axis=-1))


def _tilt(distance: Array, mass: Array, tilt: Array) -> Array:
    """Weights proportional to mass exp(-tilt distance), (..., n); distance is 0 at the minimum."""
    exponent = np.zeros_like(distance)
    with np.errstate(over="ignore"):
        np.multiply(-tilt[..., None], distance, out=exponent, where=distance > 0)
    raw = mass * np.exp(exponent)
    return np.asarray(raw / np.sum(raw, axis=-1, keepdims=True))


def _tilt_for_radius(unit: Array, mass: Array, radius: Array) -> Array:
    """Tilt t whose weights are at KL distance `radius`, (m,), for (m, n) rows.

    KL grows from 0 to -log P(minimum) with derivative t Var_t, so safeguarded Newton on log KL
    against log t finds it. Var <= 1/4 gives the left end of the bracket; for the right end,
    -log P(minimum) - KL <= (1 + u) exp(-u) (1 - atom) / atom with u = t times the smallest gap.
    """
    atom = np.sum(mass, axis=-1, where=unit == 0)
    rest = np.sum(mass, axis=-1, where=unit > 0)
    gap = np.min(unit, axis=-1, initial=np.inf, where=unit > 0)
    shortfall = (-np.log(atom) - radius) * atom / rest
    left = np.sqrt(8.0 * radius)
    right = np.maximum(np.maximum(1.0, 2.0 * np.log(2.0 / shortfall)) / gap, left)
    tilt = left
    for step in range(_MAX_STEPS):
        divergence, variance = _divergence(unit, mass, tilt)
        done = np.abs(divergence - radius) <= _ROUNDING * np.minimum(tilt, 1.0 + radius)
        done |= right <= left * (1.0 + 4.0 * np.finfo(np.float64).eps)
        if done.all():
            break
        left = np.where(divergence < radius, tilt, left)
        right = np.where(divergence < radius, right, tilt)
        slope = np.maximum(tilt**2 * variance, _TINY)
        with np.errstate(over="ignore"):
            newton = tilt * np.exp(np.log(radius / divergence) * divergence / slope)
        # The forced halving bounds the number of steps when samples crowd at several scales.
        inside = (newton > left) & (newton < right) & (step % 4 != 3)
        tilt = np.where(done, tilt, np.where(inside, newton, np.sqrt(left) * np.sqrt(right)))
    return tilt


def _divergence(unit: Array, mass: Array, tilt: Array) -> tuple[Array, Array]:
    """KL of the tilted weights from the mass, and the variance under them, each (m,)."""
    exponent = -tilt[:, None] * unit
    raw = mass * np.exp(exponent)
    total = np.sum(raw, axis=-1)
    # log1p keeps the digits of a small tilt, log those of a large one.
    change = np.maximum(np.sum(mass * np.expm1(exponent), axis=-1), -0.5)
    log_total = np.where(change > -0.5, np.log1p(change), np.log(total))
    weights = raw / total[:, None]
    centre = np.sum(weights * unit, axis=-1)
    variance = np.sum(weights * (unit - centre[:, None]) ** 2, axis=-1)
    return np.maximum(-tilt * centre - log_total, _TINY), variance


def _support_edge(unit: Array, mass: Array, rho: Array, count: Array) -> Array:
    """Largest standardised sample with positive weight in the chi-square optimum, (...).

    With D_p(k) = sum_i (x_k - x_i)_+^p, the sum of q^2 at the threshold eta = x_k is D_2 / D_1^2,
    and it falls as eta grows; x_k is in the support when that still exceeds (1 + rho) / n. Both
    sums are built from nonnegative steps, so nothing cancels.
    """
    ordered = np.sort(np.where(mass > 0, unit, np.inf), axis=-1)
    present = np.isfinite(ordered)
    ordered = np.where(present, ordered, 0.0)
    step = np.diff(ordered, axis=-1, prepend=0.0)
    step = np.where(present, step, 0.0)
    rank = np.arange(unit.shape[-1], dtype=np.float64)
    first = np.cumsum(rank * step, axis=-1)
    second = np.cumsum(2.0 * step * (first - rank * step) + rank * step**2, axis=-1)
    bar = (1.0 + rho) / np.maximum(count, 1.0) * (1.0 + _ROUNDING)
    positive = present & (second > bar[..., None] * first**2)
    return np.asarray(np.max(ordered, axis=-1, initial=0.0, where=positive))
