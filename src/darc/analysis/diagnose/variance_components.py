"""Where the variance of ratings comes from."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from darc.analysis.diagnose.candidate_ratings import CandidateRatings
from darc.typing import Array, Integers

# Factors whose equations are worse conditioned than this cannot be told apart.
_MAX_CONDITION = 1e5
MEANINGS = {
    "prompt": "between prompts",
    "candidate": "between candidates of a prompt",
    "name": "between names, over all prompts",
    "rater": "between raters (severity)",
    "prompt x rater": "a rater's own level in a prompt",
    "name x rater": "a rater's liking for one system",
    "residual": "one rater on one candidate, and noise",
    "taste": "one rater on one candidate",
    "noise": "noise (repeats by the same rater)",
}


@dataclass(frozen=True)
class Component:
    """One source of variance; both numbers are NaN if the design cannot tell it from another."""

    name: str
    meaning: str
    #: The estimate, which may be negative.
    variance: float
    #: Its share of all variance, from 0 to 1.
    share: float


def variance_components(ratings: CandidateRatings) -> list[Component]:
    """Estimate the components of the ratings' variance.

    By the moments of Henderson's first method: the sum of squares within each factor's levels is
    set equal to its expectation. Unbiased for any design; O(ratings) per pair of factors.

    Args:
        ratings: The ratings.

    Returns:
        The components in a fixed order, the residual last. Where raters rated a candidate
        repeatedly, the residual is parted into taste and noise.
    """
    factors = _factors(ratings)
    levels = list(factors.values())
    _, _, value = ratings.flat()
    value = value - value.mean()
    total = float(value @ value)
    expectations = _expected_squares(levels, value.size)
    between = [_squares_between(level, value) for level in levels]
    within = total - np.array([*between, 0.0])
    estimates = np.full(len(factors) + 1, np.nan)
    if total > 0:
        usable = _separable(expectations)
        equations = expectations[np.ix_(usable, usable)]
        estimates[usable] = np.linalg.solve(equations, within[usable])
    names = [*factors, "residual"]
    variances = estimates.tolist()
    if not math.isnan(ratings.noise_variance):
        noise = min(ratings.noise_variance, max(variances[-1], 0.0))
        names[-1:] = ["taste", "noise"]
        variances[-1:] = [variances[-1] - noise, noise]
    positive = np.maximum(variances, 0.0)
    shares = positive / (np.nansum(positive) or np.nan)
    return [
        Component(name, MEANINGS[name], float(variance), float(share))
        for name, variance, share in zip(names, variances, shares, strict=True)
    ]


def _factors(ratings: CandidateRatings) -> dict[str, Integers]:
    """The level of each rating (N,), by factor; factors that cannot matter are left out."""
    candidate, rater, _ = ratings.flat()
    prompt = ratings.prompts[candidate]
    factors = {"prompt": prompt, "candidate": candidate}
    candidate_names = np.asarray(ratings.systems or ratings.candidate_names, dtype=np.str_)
    names, name = np.unique(candidate_names, return_inverse=True)
    # Names that hardly ever come back say nothing beyond the candidate.
    recurring = names.size <= len(ratings.candidate_names) / 2
    if recurring:
        factors["name"] = name[candidate]
    if ratings.named:
        raters = len(ratings.rater_names)
        factors["rater"] = rater
        factors["prompt x rater"] = prompt * raters + rater
        if recurring:
            factors["name x rater"] = name[candidate] * raters + rater
    return {name: np.unique(level, return_inverse=True)[1] for name, level in factors.items()}


def _squares_between(level: Integers, value: Array) -> float:
    """The sum of squares between the levels of a factor."""
    return float((np.bincount(level, value) ** 2 / np.bincount(level)).sum())


def _expected_squares(levels: Sequence[Integers], ratings: int) -> Array:
    """Expected sums of squares per unit of each component: within each factor's levels, and in all.

    Row f, column g is N - sum over levels l of f of (sum over levels m of g of n_lm^2) / n_l.
    """
    sizes = [np.bincount(level).astype(np.float64) for level in levels]
    matrix = np.zeros((len(levels) + 1, len(levels) + 1))
    matrix[:-1, -1] = [ratings - size.size for size in sizes]
    matrix[-1] = [*(ratings - float(size @ size) / ratings for size in sizes), ratings - 1.0]
    for f, g in combinations(range(len(levels)), 2):
        keys = levels[f] * sizes[g].size + levels[g]
        cells, count = np.unique(keys, return_counts=True)
        f_level, g_level = np.divmod(cells, sizes[g].size)
        matrix[f, g] = ratings - np.sum(count**2 / sizes[f][f_level])
        matrix[g, f] = ratings - np.sum(count**2 / sizes[g][g_level])
    return matrix


def _separable(expectations: Array) -> list[int]:
    """The factors that the design can tell apart, starting with the residual."""
    residual = len(expectations) - 1
    separable = [residual]
    for factor in range(residual):
        tried = [factor, *separable]
        equations = expectations[np.ix_(tried, tried)]
        scale = np.linalg.norm(equations, axis=0)
        if (scale > 0).all() and np.linalg.cond(equations / scale) < _MAX_CONDITION:
            separable.append(factor)
    return separable
