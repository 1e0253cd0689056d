"""Gains over Best-of-K with intervals by a paired bootstrap over prompts."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from darc.analysis.bootstrap import (
    DRAWS,
    draw_counts,
    noise_band_with_default,
    over_splits,
    resample,
    zero_rounding,
)
from darc.typing import Array


class Gains(NamedTuple):
    """The gain of each rule over the first outcome, and the ends of its interval, (A,) each."""

    gain: Array
    low: Array
    high: Array


def gains(
    statistic: Callable[[Array], Array],
    size: float,
    prompts: int,
    seed: int,
    draws: int = DRAWS,
    default: int | None = None,
) -> Gains:
    """Measure gains by a paired bootstrap over prompts. O(draws R A P).

    The intervals are the gain plus or minus the `noise_band`, as in `darc eval`: with probability
    95 % all of them hold, so that the best of several rules is not taken for better than it is.
    The default rule is tested alone.

    Args:
        statistic: Gives (B, R, 1 + A) for weights of the prompts (B, P), the baseline first.
        size: The largest |value| that goes into it.
        prompts: The number of prompts.
        seed: Seed of the draws.
        draws: The number of resamples.
        default: The place of the default rule among the gains, None where it is not compared.
    """
    observed = differences(statistic(np.ones((1, prompts))), size)[0]
    counts = draw_counts(prompts, draws, seed)
    resamples = resample(lambda part: differences(statistic(part), size), counts)
    margin = noise_band_with_default(observed, resamples, np.asarray(size), prompts, default)
    return Gains(observed, observed - margin, observed + margin)


def differences(values: Array, size: float) -> Array:
    """The gains (B, A) of values (B, R, 1 + A) over the first, averaged over the splits.

    What is within rounding of 0 is 0: equal choices gain nothing.
    """
    averages = over_splits(values)
    return zero_rounding(averages[:, 1:] - averages[:, :1], np.asarray(size))
