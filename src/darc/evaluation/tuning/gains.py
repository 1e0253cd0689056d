"""Gains over Best-of-K, with intervals that hold for several rules at once."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from darc.evaluation.bootstrap import DRAWS, LEVEL, draw_counts, over_splits

Array = NDArray[np.float64]

CELLS_AT_ONCE = 8_000_000
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Gains:
    """Gain (A,) of each rule over the first one's outcome, and the interval's ends (A,) each."""

    gain: Array
    low: Array
    high: Array


def gains(
    statistic: Callable[[Array], Array], prompts: int, seed: int, draws: int = DRAWS
) -> Gains:
    """The `Gains` by a paired bootstrap over prompts.

    `statistic(counts)` gives (B, R, 1 + A) for prompts' weights (B, P), the baseline first. The
    intervals are gain -+ c times its bootstrap error, with one c for all rules, so that with
    probability 95 % all of them hold (the best of several rules is not taken for better than it
    is). O(draws R A P).
    """
    whole = differences(statistic(np.ones((1, prompts))))[0]
    step = max(1, CELLS_AT_ONCE // prompts)
    parts = [
        differences(statistic(draw_counts(prompts, min(step, draws - start), seed + start)))
        for start in range(0, draws, step)
    ]
    drawn = np.concatenate(parts) - whole
    error = np.nanstd(drawn, axis=0) * np.sqrt(prompts / max(1, prompts - 1))
    moved = error > 0
    reach = 0.0
    if moved.any():
        reach = float(np.quantile(np.nanmax(np.abs(drawn[:, moved]) / error[moved], axis=1), LEVEL))
    return Gains(whole, whole - reach * error, whole + reach * error)


def differences(values: Array) -> Array:
    """(B, R, 1 + A) to the gains (B, A) over the first, averaged over the splits.

    What is within rounding of 0 is 0: equal choices gain nothing.
    """
    merged = over_splits(values)
    base = merged[:, :1]
    gain = merged[:, 1:] - base
    return np.where(np.abs(gain) <= ROUNDING * np.abs(base), 0.0, gain)
