"""Means and differences from few people's ratings and many judgements (PPI++)."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from darc.errors import InputError
from darc.typing import Array

# With fewer prompts that have both, an interval means nothing.
FEWEST_PROMPTS = 10


@dataclass(frozen=True)
class PoweredMean:
    """A mean with its interval, by people alone and with the judge's help."""

    #: The mean by people and judge together.
    mean: float
    low: float
    high: float
    #: The mean by people alone.
    people_mean: float
    people_low: float
    people_high: float
    #: What a unit of the judge's mean counts.
    weight: float
    #: How many prompts have people's ratings and judgements, and how many judgements only.
    rated: int
    judged_only: int

    @property
    def saved_share(self) -> float:
        """The share by which the judge makes the interval narrower."""
        width = self.people_high - self.people_low
        if width <= 0:
            return 0.0
        return 1 - (self.high - self.low) / width


def powered_mean(
    ratings: Array, judgements: Array, more_judgements: Array, level: float = 0.95
) -> PoweredMean:
    """The mean rating over all prompts, from people on some prompts and a judge on all.

    The judge's mean on the prompts without ratings, less its mean on those with ratings, corrects
    the mean of the ratings, with the weight that makes the variance smallest (PPI++, Angelopoulos
    et al. 2023). A useless judge gets a weight near 0, and a biased one moves nothing.

    Args:
        ratings: People's mean rating of each rated prompt, (n,).
        judgements: The judge's number for the same prompts, (n,).
        more_judgements: The judge's numbers for prompts without ratings, (N,).
        level: The nominal coverage of the intervals.

    Raises:
        InputError: There are too few prompts with both.
    """
    rated = len(ratings)
    more = len(more_judgements)
    if rated < FEWEST_PROMPTS:
        raise InputError(
            f"{rated} prompts have both ratings and judgements", f"give {FEWEST_PROMPTS} or more"
        )
    reach = float(stats.t.ppf((1 + level) / 2, rated - 1))
    people_mean = float(ratings.mean())
    people_error = float(ratings.std(ddof=1)) / math.sqrt(rated)
    weight = _best_weight(ratings, judgements, more_judgements)
    mean = people_mean
    error = people_error
    if weight != 0:
        mean = people_mean + weight * float(more_judgements.mean() - judgements.mean())
        left = ratings - weight * judgements
        # One degree of freedom goes to the mean and one to the weight.
        left_variance = float(((left - left.mean()) ** 2).sum()) / (rated - 2)
        more_variance = weight**2 * float(more_judgements.var(ddof=1)) / more
        error = math.sqrt(left_variance / rated + more_variance)
    return PoweredMean(
        mean=mean,
        low=mean - reach * error,
        high=mean + reach * error,
        people_mean=people_mean,
        people_low=people_mean - reach * people_error,
        people_high=people_mean + reach * people_error,
        weight=weight,
        rated=rated,
        judged_only=more,
    )


def _best_weight(ratings: Array, judgements: Array, more_judgements: Array) -> float:
    """The weight of the judge for which the variance of the mean is smallest."""
    rated = len(ratings)
    more = len(more_judgements)
    if more < 2:
        return 0.0
    variance = float(np.concatenate([judgements, more_judgements]).var(ddof=1))
    if not variance > 0:
        return 0.0
    covariance = float(np.cov(ratings, judgements)[0, 1])
    return covariance / ((1 + rated / more) * variance)
