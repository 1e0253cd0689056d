"""Groups of raters compared: whether they differ in severity or in taste, and where."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from darc.analysis.diagnose.candidate_ratings import CandidateRatings
from darc.analysis.diagnose.residuals import fit_rater_levels
from darc.typing import Array, Integers


@dataclass(frozen=True)
class Contrast:
    """A candidate on which groups differ."""

    prompt: str
    candidate: str
    #: The mean rating of each group, without each rater's own level.
    means: dict[str, float]
    #: The widest gap between two groups, in standard errors under equal tastes.
    gap: float


@dataclass(frozen=True)
class GroupComparison:
    """Groups of raters compared."""

    #: The number of raters in each group.
    sizes: dict[str, int]
    #: For groups that differ in their level.
    severity_p: float
    #: For groups that differ in which candidates they prefer.
    taste_p: float
    #: No p-value can be smaller, since so few raters can be labelled in so few ways.
    smallest_p: float
    #: The share of the residual variation that the groups' tastes explain.
    share: float
    #: The share that random groups of these sizes explain.
    chance: float
    #: The widest gaps, one per prompt.
    contrasts: tuple[Contrast, ...]


@dataclass(frozen=True, eq=False)
class _GroupRatings:
    """The ratings of raters who have a group."""

    #: The groups' names.
    names: list[str]
    #: The group of each rater (raters,), as a place in `names`.
    rater_group: Integers
    #: The candidates (I,) among all candidates.
    candidates: Integers
    #: The candidate, the rater and the value of each rating (N,).
    candidate: Integers
    rater: Integers
    value: Array


def compare_groups(
    ratings: CandidateRatings, *, top: int = 5, permutations: int = 1000, seed: int = 0
) -> GroupComparison | None:
    """Compare the groups that raters belong to.

    In each permutation raters keep their ratings and exchange their group labels, so what makes a
    rater unique is part of the null hypothesis. Raters without a group are left out.
    O(permutations x ratings).

    Args:
        ratings: The ratings.
        top: How many contrasts are kept.
        permutations: The number of permutations.
        seed: Their seed.

    Returns:
        The comparison, None if there are fewer than two groups.
    """
    grouped = _group_ratings(ratings)
    if grouped is None:
        return None
    level, residual = fit_rater_levels(grouped.candidate, grouped.rater, grouped.value)

    def squares_between(rater_group: Integers) -> tuple[float, float]:
        """Squares between groups: of residuals on each candidate, and of raters' levels."""
        cell = grouped.candidate * len(grouped.names) + rater_group[grouped.rater]
        return _squares_of_means(cell, residual), _squares_of_means(rater_group, level)

    generator = np.random.default_rng([seed, 5])
    null = np.array(
        [squares_between(generator.permutation(grouped.rater_group)) for _ in range(permutations)]
    )
    observed = np.array(squares_between(grouped.rater_group))
    as_large = (null >= observed * (1 - 1e-9)).sum(axis=0)
    taste_p, severity_p = (1 + as_large) / (1 + permutations)
    sizes = np.bincount(grouped.rater_group).tolist()
    residual_squares = float(residual @ residual) or math.nan
    return GroupComparison(
        sizes=dict(zip(grouped.names, sizes, strict=True)),
        severity_p=float(severity_p),
        taste_p=float(taste_p),
        smallest_p=max(_equivalent_labellings(sizes), 1 / (1 + permutations)),
        share=float(observed[0]) / residual_squares,
        chance=float(null[:, 0].mean()) / residual_squares,
        contrasts=_contrasts(ratings, grouped, grouped.value - level[grouped.rater], top),
    )


def _group_ratings(ratings: CandidateRatings) -> _GroupRatings | None:
    """The ratings of raters who have a group, None if there are fewer than two groups."""
    if not ratings.named:
        return None
    labels = [ratings.groups.get(name, "") for name in ratings.rater_names]
    names = sorted({*labels} - {""})
    if len(names) < 2:
        return None
    group_of = np.array([names.index(label) if label else -1 for label in labels])
    members = np.nonzero(group_of >= 0)[0]
    candidate, rater, value = ratings.flat()
    in_group = group_of[rater] >= 0
    candidates, candidate = np.unique(candidate[in_group], return_inverse=True)
    return _GroupRatings(
        names=names,
        rater_group=group_of[members],
        candidates=candidates,
        candidate=candidate,
        rater=np.searchsorted(members, rater[in_group]),
        value=value[in_group],
    )


def _squares_of_means(group: Integers, values: Array) -> float:
    """The sum over values of the squared mean of their group."""
    return float(np.sum(np.bincount(group, values) ** 2 / np.maximum(np.bincount(group), 1)))


def _equivalent_labellings(sizes: Sequence[int]) -> float:
    """The share of all labellings of the raters that give the same groups as the observed one."""
    # Groups of one size are interchangeable.
    same_size = Counter(sizes).values()
    equivalent = math.prod(math.factorial(number) for number in (*sizes, *same_size))
    return equivalent / math.factorial(sum(sizes))


def _contrasts(
    ratings: CandidateRatings, grouped: _GroupRatings, value: Array, top: int
) -> tuple[Contrast, ...]:
    """The candidate with the widest gap between two groups in each prompt, the widest first.

    Args:
        ratings: All ratings.
        grouped: The ratings of raters who have a group.
        value: Their values without the raters' levels (N,).
        top: How many contrasts are kept.

    Returns:
        The contrasts.
    """
    means, counts, noise = _group_means(grouped, value)
    gaps = _widest_gaps(means, counts, noise)
    candidates = grouped.candidates
    order = np.lexsort((ratings.lots[candidates], -gaps))
    # The first place of a prompt in this order is its widest gap.
    first = np.unique(ratings.prompts[candidates[order]], return_index=True)[1]
    contrasts = []
    for place in order[np.sort(first)][:top].tolist():
        if gaps[place] <= 0:
            continue
        candidate = candidates[place]
        group_means = {
            name: float(means[place, group])
            for group, name in enumerate(grouped.names)
            if counts[place, group]
        }
        contrast = Contrast(
            prompt=ratings.prompt_names[ratings.prompts[candidate]],
            candidate=ratings.candidate_names[candidate],
            means=group_means,
            gap=float(gaps[place]),
        )
        contrasts.append(contrast)
    return tuple(contrasts)


def _group_means(grouped: _GroupRatings, value: Array) -> tuple[Array, Integers, float]:
    """Means and counts by candidate and group, both (I, groups), and the deviation within them."""
    groups = len(grouped.names)
    size = grouped.candidates.size * groups
    cell = grouped.candidate * groups + grouped.rater_group[grouped.rater]
    counts = np.bincount(cell, minlength=size).reshape(-1, groups)
    sums = np.bincount(cell, value, size).reshape(-1, groups)
    means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    within = value - means.ravel()[cell]
    freedom = max(value.size - int((counts > 0).sum()), 1)
    return means, counts, math.sqrt(float(within @ within) / freedom)


def _widest_gaps(means: Array, counts: Integers, noise: float) -> Array:
    """The widest gap between two groups on each candidate in standard errors, (I,)."""
    gaps = np.zeros(len(means))
    for one, other in combinations(range(means.shape[1]), 2):
        both = (counts[:, one] > 0) & (counts[:, other] > 0)
        error = noise * np.sqrt(1 / counts[both, one] + 1 / counts[both, other])
        gap = np.abs(means[both, one] - means[both, other])
        scaled = np.divide(gap, error, out=np.zeros_like(gap), where=error > 0)
        gaps[both] = np.maximum(gaps[both], scaled)
    return gaps
