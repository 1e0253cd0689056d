"""Putting several scorers on one scale: by the prompt's own scores, by fixed constants, or not."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from darc.core.kernel import Columns
from darc.errors import InputError
from darc.typing import Array

Normalization = Literal["prompt", "none"] | Sequence[ArrayLike] | None

ROUNDING = 1e-12


@dataclass(frozen=True)
class Units:
    """What each scorer's samples are shifted and divided by; every array broadcasts to (M, 1, P).

    A sample becomes ((R - base) - center) * factor, base and center being apart so that scores with
    a large common offset keep their digits; `factor` is None where nothing changes, and 0 for a
    constant scorer, whose scale is 1.
    """

    base: Array
    center: Array
    scale: Array
    constant: NDArray[np.bool_]
    factor: Array | None

    @property
    def location(self) -> Array:
        """What is subtracted in all, (M, 1, P)."""
        return np.asarray(self.base + self.center)

    def rate(self, beta: float) -> Array:
        """Beta in the units of the raw samples, (M, 1, P)."""
        if self.factor is None:
            return np.full((1, 1, 1), beta)
        with np.errstate(over="ignore"):
            return np.asarray(beta / self.scale)


ZERO, ONE, NEVER = np.zeros((1, 1, 1)), np.ones((1, 1, 1)), np.zeros((1, 1, 1), dtype=bool)


class Kind(IntEnum):
    """The ways of putting scorers on one scale."""

    NONE = 0
    FIXED = 1
    PROMPT = 2


@dataclass(frozen=True)
class Normalizer:
    """A way of normalising and, where it is FIXED, each scorer's location and scale, (M,)."""

    kind: Kind
    location: Array
    scale: Array

    def units(self, table: Columns) -> Units:
        """The `Units` of a block of columns, (n, M, K, P)."""
        if self.kind == Kind.PROMPT:
            return prompt_units(table)
        if self.kind == Kind.NONE:
            return Units(ZERO, ZERO, ONE, NEVER, None)
        scale = self.scale[:, None, None]
        return Units(self.location[:, None, None], ZERO, scale, NEVER, 1.0 / scale)


def normalizer(normalize: object, scorers: int) -> Normalizer:
    """The `Normalizer` for M scorers.

    `normalize` is "prompt", "none", (location, scale), or None for the usual one: "prompt" with
    several scorers, "none" with one.
    """
    if normalize is None:
        normalize = "prompt" if scorers > 1 else "none"
    if isinstance(normalize, str) and normalize in ("prompt", "none"):
        kind = Kind[normalize.upper()]
        return Normalizer(kind, np.zeros(scorers), np.ones(scorers))
    return Normalizer(Kind.FIXED, *fixed_constants(normalize, scorers))


def prompt_units(table: Columns) -> Units:
    """Pooled mean and deviation (ddof = 1) of each scorer over the prompt's K n samples.

    A deviation that is only rounding, at most 1e-12 of the scores, counts as constant.
    """
    base = np.fmin.reduce(table.low, axis=1, keepdims=True)
    height, variance = (table.low - base) + table.offset, table.variance
    if table.mass is not None:
        base, height, variance = (np.nan_to_num(array) for array in (base, height, variance))
    total = table.count * height.shape[1]
    if table.count.ndim > 0:
        total = np.maximum(_over_candidates(table.count), 1.0)
    center = _over_candidates(table.count * height) / total
    height -= center
    height *= height
    height += variance
    height *= table.count
    spread = np.sqrt(_over_candidates(height) / np.maximum(total - 1.0, 1.0))
    constant = spread <= ROUNDING * np.maximum(np.abs(base), np.abs(base + center))
    scale = np.where(constant, 1.0, spread)
    return Units(base, center, scale, constant, np.where(constant, 0.0, 1.0 / scale))


def _over_candidates(array: Array) -> Array:
    return np.add.reduce(array, axis=1, keepdims=True)


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
