"""A number with its interval, or with the reason why it has none."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from darc.typing import Array

# The level of all intervals.
LEVEL = 0.95
# With fewer prompts no interval is given.
FEWEST_PROMPTS = 10
# With a larger share of resamples in which a statistic is not defined, there is no interval.
_MOST_UNDEFINED = 0.05


@dataclass(frozen=True)
class Estimate:
    """An estimate with its 95 % interval."""

    value: float
    low: float = math.nan
    high: float = math.nan
    #: Why there is no interval, or no value; empty if there are both.
    reason: str = ""

    @property
    def has_interval(self) -> bool:
        """Whether both ends are known."""
        return not (math.isnan(self.low) or math.isnan(self.high))

    def text(self, digits: int = 2) -> str:
        """The number with its interval, or with the reason why it has none."""
        if math.isnan(self.value):
            return f"not known: {self.reason}"
        number = f"{self.value:.{digits}f}"
        if self.has_interval:
            return f"{number} ({self.low:.{digits}f} to {self.high:.{digits}f})"
        return f"{number} (no interval: {self.reason})"


def unknown(reason: str) -> Estimate:
    """No estimate, for a reason."""
    return Estimate(math.nan, reason=reason)


def bootstrap_estimate(value: float, draws: Array, prompts: int) -> Estimate:
    """An estimate with the percentile interval of its resamples over prompts.

    Args:
        value: The estimate.
        draws: The same statistic of each resample, (B,), NaN where it is not defined.
        prompts: The number of prompts.
    """
    if math.isnan(value):
        return unknown("the statistic is not defined on these grades")
    if prompts < FEWEST_PROMPTS:
        return Estimate(value, reason=f"fewer than {FEWEST_PROMPTS} prompts")
    known = draws[~np.isnan(draws)]
    if len(known) < (1 - _MOST_UNDEFINED) * len(draws):
        return Estimate(value, reason="it is not defined on many resamples of the prompts")
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(value, float(low), float(high))


def mean_estimate(values: Array, level: float = LEVEL) -> Estimate:
    """The mean of one number per prompt, NaN left out, with its t-interval."""
    known = values[~np.isnan(values)]
    if not len(known):
        return unknown("there are no numbers")
    mean = float(known.mean())
    if len(known) < FEWEST_PROMPTS:
        return Estimate(mean, reason=f"fewer than {FEWEST_PROMPTS} prompts")
    error = float(known.std(ddof=1)) / math.sqrt(len(known))
    reach = float(stats.t.ppf((1 + level) / 2, len(known) - 1)) * error
    return Estimate(mean, mean - reach, mean + reach)
