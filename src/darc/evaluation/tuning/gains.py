"""Gains over Best-of-K, with intervals that hold for several rules at once."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from darc.evaluation.bootstrap import DRAWS, draw_counts, noise_band, over_splits, unrounded
from darc.typing import Array

CELLS_AT_ONCE = 8_000_000


@dataclass(frozen=True, eq=False)
class Gains:
    """Gain (A,) of each rule over the first one's outcome, and the interval's ends (A,) each."""

    gain: Array
    low: Array
    high: Array


def gains(
    statistic: Callable[[Array], Array], size: float, prompts: int, seed: int, draws: int = DRAWS
) -> Gains:
    """The `Gains` by a paired bootstrap over prompts.

    `statistic(counts)` gives (B, R, 1 + A) for prompts' weights (B, P), the baseline first, and
    `size` is the largest |value| that goes into it. The intervals are gain -+ `noise_band`, the
    same as that of `darc eval`: with probability 95 % all of them hold, so that the best of several
    rules is not taken for better than it is. O(draws R A P).
    """
    whole = differences(statistic(np.ones((1, prompts))), size)[0]
    step = max(1, CELLS_AT_ONCE // prompts)
    parts = [
        differences(statistic(draw_counts(prompts, min(step, draws - start), seed + start)), size)
        for start in range(0, draws, step)
    ]
    margin = noise_band(whole, np.concatenate(parts), np.asarray(size))
    return Gains(whole, whole - margin, whole + margin)


def differences(values: Array, size: float) -> Array:
    """(B, R, 1 + A) to the gains (B, A) over the first, averaged over the splits.

    What is within rounding of 0 is 0: equal choices gain nothing.
    """
    merged = over_splits(values)
    return unrounded(merged[:, 1:] - merged[:, :1], np.asarray(size))
