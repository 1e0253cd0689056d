"""Checks of the arguments that users give: samples, weights, bounds and numbers."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from darc.errors import InputError
from darc.typing import Array

# Larger scores and weights have no variance or product in floating point.
LARGEST_NUMBER = 1e100


def as_samples(scores: ArrayLike, mask: ArrayLike | None = None, name: str = "scores") -> Array:
    """Float64 samples (..., n), NaN where missing or where `mask` (True = present) is False."""
    try:
        samples = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise InputError(
            f"{name} cannot be read as numbers ({problem})",
            "give an array or nested lists of equal length, with NaN for missing samples",
        ) from None
    if mask is not None:
        present = np.broadcast_to(np.asarray(mask, dtype=bool), samples.shape)
        samples = np.where(present, samples, np.nan)
    if samples.ndim == 0 or samples.shape[-1] == 0:
        raise InputError(f"{name} is empty", "give at least one sample per candidate")
    highest = np.fmax.reduce(samples, axis=None, initial=0.0)
    lowest = np.fmin.reduce(samples, axis=None, initial=0.0)
    if highest > LARGEST_NUMBER or lowest < -LARGEST_NUMBER:
        place = tuple(int(i) for i in np.argwhere(np.abs(samples) > LARGEST_NUMBER)[0])
        if np.isinf(samples[place]):
            raise InputError(f"{name} has an infinity at {place}", "use NaN for a missing sample")
        raise InputError(
            f"{name} has {samples[place]:g} at {place}",
            f"numbers go from {-LARGEST_NUMBER:g} to {LARGEST_NUMBER:g}",
        )
    return samples


def as_weights(weights: ArrayLike | None, shape: tuple[int, ...]) -> Array | None:
    """Weights broadcast to the samples' shape, or None; they must be finite and not negative."""
    if weights is None:
        return None
    array = np.asarray(weights, dtype=np.float64)
    if not np.isfinite(array).all() or (array < 0).any():
        raise InputError("weights must be finite and not negative", "use 0 to leave a sample out")
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise InputError(
            f"weights of shape {array.shape} do not fit scores of shape {shape}",
            "give one weight per sample, (n,) or the shape of the scores",
        ) from None


def as_bounds(bounds: ArrayLike, scorers: int) -> Array:
    """The lowest and highest score of each scorer, (M, 2), from one pair or one per scorer."""
    try:
        pairs = np.broadcast_to(np.asarray(bounds, dtype=np.float64), (scorers, 2))
    except (TypeError, ValueError):
        raise InputError(
            f"bounds {bounds!r} are not a pair (lowest, highest) for {scorers} scorer(s)",
            "such as bounds=(0, 10)",
        ) from None
    if not (np.isfinite(pairs).all() and (pairs[:, 0] < pairs[:, 1]).all()):
        raise InputError(f"bounds {bounds!r} must be finite and rising", "such as bounds=(0, 10)")
    return pairs


def check_level(name: str, value: float) -> float:
    """`value` as a float from 0 to infinity (beta, gamma, lam, epsilon, tau)."""
    return _checked(name, value, lambda x: x >= 0, "be 0 or larger", "use 0 to switch it off")


def check_weight(name: str, value: float) -> float:
    """`value` as a float from 0 on to multiply by (lam, a, b, c); infinity is 1e100."""
    return min(check_level(name, value), LARGEST_NUMBER)


def check_number(name: str, value: float) -> float:
    """`value` as a finite float (floor)."""
    return _checked(name, value, math.isfinite, "be a number", "0 is usual")


def check_probability(name: str, value: float) -> float:
    """`value` as a float strictly between 0 and 1 (delta, confidence)."""
    usual = "0.05 or 0.95 is usual"
    return _checked(name, value, lambda x: 0 < x < 1, "lie between 0 and 1", usual)


def check_share(name: str, value: float) -> float:
    """`value` as a float above 0 and at most 1 (alpha)."""
    return _checked(name, value, lambda x: 0 < x <= 1, "be above 0 and at most 1", "0.1 is usual")


def _checked(
    name: str, value: float, is_allowed: Callable[[float], bool], words: str, hint: str
) -> float:
    """`value` as a float; if it is not allowed, the error says that it must, say, "be above 0"."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InputError(f"{name} must be a number, not {value!r}")
    if not is_allowed(float(value)):
        raise InputError(f"{name} must {words}, not {value}", hint)
    return float(value)


def stacked(arrays: list[Array]) -> Array:
    """Arrays as one with a leading axis, NaN where one is smaller."""
    largest_shape = np.max([array.shape for array in arrays], axis=0)
    result = np.full((len(arrays), *largest_shape), np.nan)
    for row, array in zip(result, arrays, strict=True):
        row[tuple(slice(size) for size in array.shape)] = array
    return result
