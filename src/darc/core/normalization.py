"""Putting several scorers on one scale: by the prompt's own scores, by fixed constants, or not."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from darc.errors import InputError

Array = NDArray[np.float64]
Normalization = Literal["prompt", "none"] | Sequence[ArrayLike] | None

ROUNDING = 1e-12


@dataclass(frozen=True)
class Units:
    """What each scorer's samples are shifted and divided by, (P, M).

    A sample becomes ((R - base) - center) * factor, base and center being apart so that scores with
    a large common offset keep their digits; `factor` is None where nothing changes, and 0 for a
    constant scorer. The arrays base, center and factor are (P, M, 1).
    """

    location: Array
    scale: Array
    constant: NDArray[np.bool_]
    base: Array
    center: Array
    factor: Array | None

    def rate(self, beta: float, shape: tuple[int, ...]) -> Array:
        """Beta in the units of the raw samples, a scalar or one number a column."""
        if self.factor is None:
            return np.asarray(beta)
        scale = self.scale[..., None]
        with np.errstate(over="ignore"):
            return np.broadcast_to(beta / scale, shape).reshape(-1)


Normalizer = Callable[[Array, Array, Array, Array], Units]


def normalizer(normalize: object, scorers: int) -> Normalizer:
    """The function that finds the `Units` of a block from its low, offset, deviation and count.

    `normalize` is "prompt", "none", (location, scale), or None for the usual one: "prompt" with
    several scorers, "none" with one.
    """
    if normalize is None:
        normalize = "prompt" if scorers > 1 else "none"
    if isinstance(normalize, str):
        if normalize == "prompt":
            return prompt_units
        if normalize == "none":
            return raw_units
    location, scale = fixed_constants(normalize, scorers)

    def fixed_units(low: Array, offset: Array, deviation: Array, count: Array) -> Units:
        shape = low.shape[:2]
        place, size = np.broadcast_to(location, shape), np.broadcast_to(scale, shape)
        zero = np.zeros((*shape, 1))
        constant = np.zeros(shape, dtype=bool)
        return Units(place, size, constant, place[..., None], zero, 1.0 / size[..., None])

    return fixed_units


def raw_units(low: Array, offset: Array, deviation: Array, count: Array) -> Units:
    """No change: location 0, scale 1."""
    shape = low.shape[:2]
    zero = np.zeros((*shape, 1))
    constant = np.zeros(shape, dtype=bool)
    return Units(np.zeros(shape), np.ones(shape), constant, zero, zero, None)


def prompt_units(low: Array, offset: Array, deviation: Array, count: Array) -> Units:
    """Pooled mean and deviation (ddof = 1) of each scorer over the prompt's K n samples.

    A deviation that is only rounding, at most 1e-12 of the scores, counts as constant.
    """
    base = np.fmin.reduce(low, axis=-1, keepdims=True)
    base = np.where(np.isnan(base), 0.0, base)
    height = (low - base) + offset
    square = deviation * deviation
    if np.isnan(np.add.reduce(height, axis=None)):
        height, square = np.nan_to_num(height), np.nan_to_num(square)
    total = np.maximum(np.add.reduce(count, axis=-1, keepdims=True), 1.0)
    center = np.add.reduce(count * height, axis=-1, keepdims=True) / total
    square += (height - center) ** 2
    pooled = np.add.reduce(count * square, axis=-1, keepdims=True) / np.maximum(total - 1.0, 1.0)
    spread = np.sqrt(pooled)
    location = base + center
    constant = spread <= ROUNDING * np.maximum(np.abs(base), np.abs(location))
    scale = np.where(constant, 1.0, spread)
    return Units(
        location[..., 0],
        scale[..., 0],
        constant[..., 0],
        base,
        center,
        np.where(constant, 0.0, 1.0 / scale),
    )


def fixed_constants(constants: object, scorers: int) -> tuple[Array, Array]:
    """(location, scale) as arrays (M,), checked."""
    if isinstance(constants, str) or not isinstance(constants, Sequence | np.ndarray):
        raise _unusable(constants)
    if len(constants) != 2:
        raise _unusable(constants)
    try:
        location, scale = (
            np.broadcast_to(np.asarray(part, dtype=np.float64), (scorers,)) for part in constants
        )
    except (TypeError, ValueError):
        raise InputError(
            f"normalize=(location, scale) does not fit {scorers} scorers",
            "give one number, or one a scorer, for each",
        ) from None
    if not (np.isfinite(location).all() and np.isfinite(scale).all() and (scale > 0).all()):
        raise InputError("a scorer's location or scale is not usable", "scale must be above 0")
    return location, scale


def _unusable(constants: object) -> InputError:
    return InputError(
        f"normalize must be 'prompt', 'none' or (location, scale), not {constants!r}",
        "leave it out for the usual one",
    )
