"""Two kinds of raters that nobody named."""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from darc.analysis.diagnose.candidate_ratings import CandidateRatings
from darc.typing import Array

MIN_RATERS = 4
MIN_PROMPTS = 10
MIN_SHARED = 20
# At least this share of the pairs of raters must share enough candidates.
MIN_SHARED_PAIRS = 0.9
MAX_RATERS = 60
MAX_CELLS = 20_000_000
_SWEEPS = 30


@dataclass(frozen=True)
class LatentGroups:
    """Two groups of raters, or why they were not looked for."""

    #: The raters of both groups, the smaller group first.
    first: tuple[str, ...] = ()
    second: tuple[str, ...] = ()
    #: The leading eigenvalue in units of the raters' own variance, and the same by chance.
    strength: float = math.nan
    chance: float = math.nan
    #: How often chance is as strong.
    p_value: float = math.nan
    #: Why groups were not looked for, empty if they were.
    reason: str = ""


@dataclass(frozen=True, eq=False)
class _Products:
    """Products of the ratings of each two raters, by prompt."""

    #: Sums of products about the raters' means in a prompt (P, raters, raters); only candidates
    #: that both have rated count.
    sums: Array
    #: Degrees of freedom of the sums (P, raters, raters).
    freedom: Array


def find_latent_groups(
    ratings: CandidateRatings, *, permutations: int = 500, seed: int = 0
) -> LatentGroups:
    """Find the two groups into which the raters fall most clearly.

    What two raters share within prompts beyond a common factor (Thurstone's centroid) has a leading
    component, whose signs divide them. So has noise: the same remainders under a random sign per
    prompt, which keeps how noisy each rater and how disputed each prompt is.
    O(prompts x raters^2) per permutation, (candidates x raters^2) once.

    Args:
        ratings: The ratings.
        permutations: How often signs are drawn.
        seed: The seed of the signs.

    Returns:
        The groups with the probability that noise divides raters as clearly.
    """
    reason = _refusal(ratings)
    if reason:
        return LatentGroups(reason=reason)
    products = _rater_products(ratings)
    varied = np.einsum("pjj->j", products.sums) > 0
    names = [name for name, one in zip(ratings.rater_names, varied, strict=True) if one]
    if len(names) < MIN_RATERS:
        return LatentGroups(reason=f"fewer than {MIN_RATERS} raters tell candidates apart")
    sums = products.sums[:, varied][:, :, varied]
    freedom = products.freedom[:, varied][:, :, varied]
    total_freedom = freedom.sum(axis=0)
    pairs = total_freedom[np.triu_indices(len(names), 1)]
    if np.mean(pairs >= MIN_SHARED) < MIN_SHARED_PAIRS:
        return LatentGroups(
            reason=f"most pairs of raters share fewer than {MIN_SHARED} comparable candidates"
        )
    variance = np.diag(sums.sum(axis=0)) / np.maximum(np.diag(total_freedom), 1)
    scale = np.sqrt(np.outer(variance, variance)) * np.maximum(total_freedom, 1)
    correlations = sums / scale
    consensus = _outer_square(_common_factor(correlations.sum(axis=0)))
    remainders = correlations - freedom / np.maximum(total_freedom, 1) * consensus
    strength, component = _leading_component(remainders.sum(axis=0))
    null = _null_strengths(consensus, remainders, permutations, seed)
    as_strong = int((null >= strength * (1 - 1e-12)).sum())
    below = tuple(name for name, sign in zip(names, component, strict=True) if sign < 0)
    above = tuple(name for name, sign in zip(names, component, strict=True) if sign >= 0)
    first, second = sorted((below, above), key=len)
    return LatentGroups(
        first=first,
        second=second,
        strength=float(strength),
        chance=float(null.mean()),
        p_value=(1 + as_strong) / (1 + permutations),
    )


def _refusal(ratings: CandidateRatings) -> str:
    """Why groups cannot be looked for, empty if they can."""
    raters = len(ratings.rater_names)
    prompts = len(ratings.prompt_names)
    if not ratings.named:
        return "the raters are not known by name"
    if raters < MIN_RATERS:
        return f"it takes {MIN_RATERS} raters, and there are {raters}"
    if prompts < MIN_PROMPTS:
        return f"it takes {MIN_PROMPTS} prompts, and there are {prompts}"
    if raters > MAX_RATERS or prompts * raters**2 > MAX_CELLS:
        return f"there are more than {MAX_RATERS} raters, or too many prompts for every pair"
    return ""


def _rater_products(ratings: CandidateRatings) -> _Products:
    candidate, rater, value = ratings.flat()
    value = value - value.mean()
    prompts = len(ratings.prompt_names)
    raters = len(ratings.rater_names)
    # Where the candidates of each prompt begin, and where their ratings begin.
    first_candidates = np.searchsorted(ratings.prompts, np.arange(prompts + 1))
    first_ratings = np.searchsorted(candidate, first_candidates)
    sums = np.zeros((prompts, raters, raters))
    freedom = np.zeros((prompts, raters, raters))
    for prompt, (start, stop) in enumerate(pairwise(first_ratings)):
        candidates = first_candidates[prompt + 1] - first_candidates[prompt]
        place = (candidate[start:stop] - first_candidates[prompt], rater[start:stop])
        table = np.zeros((candidates, raters))
        rated = np.zeros((candidates, raters))
        table[place] = value[start:stop]
        rated[place] = 1.0
        both = rated.T @ rated
        total = table.T @ rated
        sums[prompt] = table.T @ table - total * total.T / np.maximum(both, 1.0)
        freedom[prompt] = np.maximum(both - 1.0, 0.0)
    return _Products(sums, freedom)


def _null_strengths(consensus: Array, remainders: Array, permutations: int, seed: int) -> Array:
    """The leading eigenvalues under random signs of the prompts, (permutations,)."""
    generator = np.random.default_rng([seed, 6])
    signs = generator.integers(0, 2, (permutations, len(remainders))) * 2.0 - 1.0
    matrices = consensus + np.tensordot(signs, remainders, 1)
    strengths, _ = _leading_component(matrices - _outer_square(_common_factor(matrices)))
    return strengths


def _common_factor(matrices: Array) -> Array:
    """Loadings (..., J) of the common factor of matrices whose diagonals are ignored."""
    between = matrices * (1 - np.eye(matrices.shape[-1]))
    diagonal = np.zeros(matrices.shape[:-1])
    exists = np.ones((*matrices.shape[:-2], 1), dtype=bool)
    for _ in range(_SWEEPS):
        row = between.sum(axis=-1) + diagonal
        total = row.sum(axis=-1, keepdims=True)
        exists &= total > 0
        total = np.where(exists, total, 1.0)
        diagonal = np.minimum(row**2 / total, 1.0)
    return np.where(exists, row / np.sqrt(total), 0.0)


def _outer_square(loading: Array) -> Array:
    return loading[..., :, None] * loading[..., None, :]


def _leading_component(matrices: Array) -> tuple[Array, Array]:
    """The largest eigenvalues and their vectors of matrices whose diagonals count as 0."""
    values, vectors = np.linalg.eigh(matrices * (1 - np.eye(matrices.shape[-1])))
    return values[..., -1], vectors[..., -1]
