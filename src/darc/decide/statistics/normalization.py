"""The common scale that several scorers are put on.

Scorers are normalised by the prompt's own scores, by fixed constants, or not at all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from darc.decide.statistics.kernel import ROUNDING, Columns
from darc.errors import InputError
from darc.typing import Array

#: "prompt", "none", (location, scale), or None for the usual one.
Normalization = Literal["prompt", "none"] | Sequence[ArrayLike] | None


@dataclass(frozen=True)
class Units:
    """What each scorer's samples are shifted and divided by; every array broadcasts to (M, 1, P).

    A sample becomes ((R - base) - center) * factor.
    """

    #: What is subtracted first, so that scores with a large common offset keep their digits.
    base: Array
    #: What is subtracted next.
    center: Array
    #: What is divided by; 1 for a constant scorer.
    scale: Array
    #: Which scorers gave every candidate the same score.
    constant: NDArray[np.bool_]
    #: 1 / scale, 0 for a constant scorer; None where nothing changes.
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


_ZERO = np.zeros((1, 1, 1))
_ONE = np.ones((1, 1, 1))
_NOT_CONSTANT = np.zeros((1, 1, 1), dtype=bool)
_RAW_UNITS = Units(base=_ZERO, center=_ZERO, scale=_ONE, constant=_NOT_CONSTANT, factor=None)


def normalizer(normalize: object, scorers: int) -> Callable[[Columns], Units]:
    """Find how the samples of M scorers are normalised.

    Args:
        normalize: "prompt", "none", (location, scale), or None for the usual one: "prompt" with
            several scorers, "none" with one.
        scorers: The number of scorers.

    Returns:
        A function that returns the `Units` of a block of columns (n, M, K, P).
    """
    if normalize is None:
        normalize = "prompt" if scorers > 1 else "none"
    if isinstance(normalize, str) and normalize == "prompt":
        return prompt_units
    if isinstance(normalize, str) and normalize == "none":
        return lambda _: _RAW_UNITS
    location, scale = fixed_constants(normalize, scorers)
    location = location[:, None, None]
    scale = scale[:, None, None]
    units = Units(location, _ZERO, scale, _NOT_CONSTANT, 1.0 / scale)
    return lambda _: units


def prompt_units(table: Columns) -> Units:
    """Pooled mean and deviation (ddof = 1) of each scorer over the prompt's K n samples.

    A deviation that is only rounding, at most 1e-12 of the scores, counts as constant.
    """
    base = np.fmin.reduce(table.low, axis=1, keepdims=True)
    height = (table.low - base) + table.offset
    variance = table.variance
    if table.mass is not None:
        base = np.nan_to_num(base)
        height = np.nan_to_num(height)
        variance = np.nan_to_num(variance)
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
    """The sum over the candidates of (M, K, P), (M, 1, P)."""
    return np.add.reduce(array, axis=1, keepdims=True)


def fixed_constants(constants: object, scorers: int) -> tuple[Array, Array]:
    """Check the constants of M scorers.

    Args:
        constants: (location, scale), each a number or one per scorer.
        scorers: The number of scorers.

    Returns:
        Locations and scales, (M,) each.

    Raises:
        InputError: If they are something else, or a scale is not above 0.
    """
    if (
        isinstance(constants, str)
        or not isinstance(constants, Sequence | np.ndarray)
        or len(constants) != 2
    ):
        raise InputError(
            f"normalize must be 'prompt', 'none' or (location, scale), not {constants!r}",
            "leave it out for the usual one",
        )
    try:
        location = np.broadcast_to(np.asarray(constants[0], dtype=np.float64), (scorers,))
        scale = np.broadcast_to(np.asarray(constants[1], dtype=np.float64), (scorers,))
    except (TypeError, ValueError):
        raise InputError(
            f"normalize=(location, scale) does not fit {scorers} scorers",
            "give one number, or one per scorer, for each",
        ) from None
    if not (np.isfinite(location).all() and np.isfinite(scale).all() and (scale > 0).all()):
        raise InputError("a scorer's location or scale is not usable", "scale must be above 0")
    return location, scale
