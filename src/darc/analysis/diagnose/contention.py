"""The most contentious prompts: where raters disagree beyond chance."""

import math
from dataclasses import dataclass

import numpy as np

from darc.analysis.diagnose.candidate_ratings import CandidateRatings
from darc.analysis.diagnose.gaussian_reliability import gaussian_noise
from darc.analysis.diagnose.reliability import Reliability
from darc.analysis.diagnose.residuals import subtract_group_means
from darc.typing import Array, Integers

# Shrunk sigmas that differ by less than this share are equal.
_LEAST_RANGE = 0.01


@dataclass(frozen=True)
class PromptContention:
    """How much raters disagree on one prompt."""

    prompt: str
    #: The number of candidates with a sigma.
    candidates: int
    #: The mean sigma of the candidates, as seen.
    sigma: float
    #: The same with chance taken out, and its 95 % interval.
    shrunk: float
    low: float
    high: float
    #: The candidate with the largest shrunk sigma.
    widest: str
    widest_sigma: float


@dataclass(frozen=True, eq=False)
class Contention:
    """How much raters disagree on each prompt and candidate."""

    #: The most contentious prompt first.
    prompts: list[PromptContention]
    #: The shrunk sigma of every candidate (I,), NaN where unknown.
    candidate_sigmas: Array

    @property
    def ranked(self) -> list[PromptContention]:
        """The most contentious prompt first; none if chance explains how prompts differ."""
        if len(self.prompts) > 1:
            most = self.prompts[0].shrunk
            least = self.prompts[-1].shrunk
            if most - least <= _LEAST_RANGE * abs(most):
                return []
        return self.prompts


def measure_contention(
    ratings: CandidateRatings, between: Reliability | None, within: Reliability | None
) -> Contention:
    """Measure how contentious prompts and candidates are.

    The most contentious ones by raw sigma are mostly the luckiest. So a prompt's mean sigma is
    drawn towards that of all prompts by its reliability between prompts, and a candidate's towards
    that of its prompt by its reliability within prompts.

    Args:
        ratings: The ratings.
        between: The reliability of the prompts' mean sigmas; if None, Gaussian noise stands in.
        within: The reliability of sigmas within prompts; if None, it counts as 0.

    Returns:
        Prompts and candidates.
    """
    sigma = ratings.sigmas()
    candidate_sigmas = np.full(sigma.size, math.nan)
    rows = np.flatnonzero(~np.isnan(sigma))
    if not rows.size:
        return Contention([], candidate_sigmas)
    prompts, prompt, size = np.unique(
        ratings.prompts[rows], return_inverse=True, return_counts=True
    )
    seen = np.bincount(prompt, sigma[rows]) / size
    if between is None:
        between_value = _gaussian_reliability_between(ratings, rows, prompt, size)
    else:
        between_value = between.value
    trust = 0.0
    if not math.isnan(between_value):
        trust = min(max(between_value, 0.0), 1.0)
    middle = float(np.mean(seen))
    shrunk = middle + trust * (seen - middle)
    error = math.nan
    if trust > 0:
        error = 1.96 * math.sqrt(trust * (1 - trust) * _variance(seen))
    low = np.maximum(shrunk - error, 0.0)
    high = shrunk + error
    trust_within = 0.0
    if within is not None and not math.isnan(within.value):
        trust_within = max(within.value, 0.0)
    deviations = subtract_group_means(sigma[rows], prompt)
    candidate_sigmas[rows] = shrunk[prompt] + trust_within * deviations
    # If shrinkage makes all alike, the raw sigma says which candidate is named.
    order = np.lexsort((ratings.lots[rows], -sigma[rows], -candidate_sigmas[rows], prompt))
    first_of_prompt = np.cumsum(size) - size
    widest = rows[order[first_of_prompt]]
    table = [
        PromptContention(
            prompt=ratings.prompt_names[prompts[place]],
            candidates=int(size[place]),
            sigma=float(seen[place]),
            shrunk=float(shrunk[place]),
            low=float(low[place]),
            high=float(high[place]),
            widest=ratings.candidate_names[widest[place]],
            widest_sigma=float(candidate_sigmas[widest[place]]),
        )
        for place in np.lexsort((-seen, -shrunk)).tolist()
    ]
    return Contention(table, candidate_sigmas)


def _gaussian_reliability_between(
    ratings: CandidateRatings, rows: Integers, prompt: Integers, size: Integers
) -> float:
    """The reliability of the prompts' mean sigmas if ratings were Gaussian."""
    unbiased, noise = gaussian_noise(ratings)
    variance = _variance(np.bincount(prompt, unbiased[rows]) / size)
    if variance <= 0:
        return 0.0
    chance = float(np.mean(np.bincount(prompt, noise[rows]) / size**2))
    return 1 - chance / variance


def _variance(values: Array) -> float:
    if values.size < 2:
        return 0.0
    return float(np.var(values, ddof=1))
