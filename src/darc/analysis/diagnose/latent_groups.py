"""Two camps of raters that nobody named."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from darc.analysis.diagnose.candidate_ratings import CandidateRatings
from darc.analysis.diagnose.residuals import fit_rater_levels
from darc.typing import Array, Integers, Mask

MIN_RATERS = 4
MIN_PROMPTS = 5
# At least this share of the pairs of raters must share so many candidates.
MIN_SHARED = 15
MIN_SHARED_PAIRS = 0.9
MAX_RATERS = 60
# A rater counts as at least this noisy, as a share of the average.
_LEAST_NOISE = 0.1
# Numbers that are held in memory at once.
_MAX_NUMBERS = 4_000_000


@dataclass(frozen=True)
class LatentGroups:
    """Two groups of raters, or why they were not looked for."""

    #: The raters of both groups, the smaller group first.
    first: tuple[str, ...] = ()
    second: tuple[str, ...] = ()
    #: The leading eigenvalue of the correlations between raters, and the same by chance.
    strength: float = math.nan
    chance: float = math.nan
    #: How often chance is as strong.
    p_value: float = math.nan
    #: Why groups were not looked for, empty if they were.
    reason: str = ""


def find_latent_groups(
    ratings: CandidateRatings, *, permutations: int = 500, seed: int = 0
) -> LatentGroups:
    """Find the two groups into which the raters fall most clearly.

    What is left of the ratings without candidates, severity and how strongly each rater follows
    the consensus is correlated between raters. The signs of the leading eigenvector divide them.
    Noise has a leading eigenvalue too. Its distribution comes from the same remainders with a
    random sign for each rater in each prompt, after what taking out the candidates' means removed
    is put back as noise. That leaves no two raters in agreement, and keeps how noisy each rater,
    how disputed each candidate and how alike a rater's ratings of one prompt are.
    O(ratings + raters^3) per permutation.

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
    table = _rating_table(ratings)
    varied = np.nanmax(table, axis=0, initial=-np.inf) > np.nanmin(table, axis=0, initial=np.inf)
    names = [name for name, one in zip(ratings.rater_names, varied, strict=True) if one]
    if len(names) < MIN_RATERS:
        return LatentGroups(reason=f"fewer than {MIN_RATERS} raters tell candidates apart")
    table = table[:, varied]
    rated = ~np.isnan(table)
    # A candidate with one rating says nothing about agreement.
    compared = rated.sum(axis=1) > 1
    remainders = _Remainders(table[compared], rated[compared])
    prompts = np.unique(ratings.prompts[compared], return_inverse=True)[1]
    shared = rated[compared].astype(float).T @ rated[compared]
    pairs = shared[np.triu_indices(len(names), 1)]
    if np.mean(pairs >= MIN_SHARED) < MIN_SHARED_PAIRS:
        return LatentGroups(reason=f"most pairs of raters share fewer than {MIN_SHARED} candidates")
    if not (np.abs(remainders.values).max(axis=0) > 1e-9 * np.ptp(table[rated])).all():
        return LatentGroups(reason="a rater agrees with the others exactly")
    strength, component = _leading_component(remainders.correlations(remainders.values))
    null = np.concatenate(
        [
            _leading_component(remainders.correlations(values))[0]
            for values in remainders.without_agreement(prompts, permutations, seed)
        ]
    )
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
    if raters > MAX_RATERS:
        return f"there are more than {MAX_RATERS} raters"
    return ""


def _rating_table(ratings: CandidateRatings) -> Array:
    """The ratings by candidate and rater (I, raters), NaN where there is none."""
    candidate, rater, value = ratings.flat()
    table = np.full((ratings.counts.size, len(ratings.rater_names)), np.nan)
    table[candidate, rater] = value
    return table


class _Remainders:
    """What is left of a table of ratings (I, J) without candidates, raters and the consensus."""

    def __init__(self, table: Array, rated: Mask) -> None:
        """Fit candidates and raters, and take them out.

        Args:
            table: The ratings, NaN where there is none.
            rated: Where there are ratings.
        """
        self._rated = rated.astype(float)
        candidate, rater = np.nonzero(rated)
        level, residual = fit_rater_levels(candidate, rater, table[rated])
        means = np.bincount(candidate, table[rated] - level[rater]) / rated.sum(axis=1)
        self._consensus = self._rated * (means - means.mean())[:, None]
        values = np.zeros(table.shape)
        values[rated] = residual
        self._weights = self._rated / _noise_variances(values, rated)
        #: The remainders (I, J), 0 where there is no rating.
        self.values = self._cleaned(values)

    def correlations(self, values: Array) -> Array:
        """Correlations (..., J, J) of remainders (..., I, J), after they are cleaned again."""
        cleaned = self._cleaned(values)
        products = np.swapaxes(cleaned, -1, -2) @ cleaned
        scale = np.sqrt(np.maximum(np.diagonal(products, axis1=-2, axis2=-1), 1e-300))
        return np.asarray(products / scale[..., :, None] / scale[..., None, :])

    def without_agreement(self, prompts: Integers, permutations: int, seed: int) -> Iterator[Array]:
        """Draw values (draws, I, J) as noisy as the remainders, in which no two raters agree.

        Args:
            prompts: The prompt of each candidate (I,); signs are drawn by prompt and rater.
            permutations: How many draws there are in all.
            seed: The seed of the draws.
        """
        generator = np.random.default_rng([seed, 6])
        candidates, raters = self.values.shape
        at_once = max(1, _MAX_NUMBERS // self.values.size)
        freedom = self._rated.sum(axis=1) - 1
        variance = (self._weights * self.values**2).sum(axis=1) / freedom
        removed = np.sqrt(variance / self._weights.sum(axis=1))
        for start in range(0, permutations, at_once):
            draws = min(at_once, permutations - start)
            signs = generator.integers(0, 2, (draws, int(prompts.max()) + 1, raters)) * 2.0 - 1.0
            means = removed * generator.normal(size=(draws, candidates))
            yield (self.values + self._rated * means[..., None]) * signs[:, prompts]

    def _cleaned(self, values: Array) -> Array:
        """Values (..., I, J) without means of candidates and raters, and without the consensus."""
        values = values - self._rated * _divided(
            (values * self._weights).sum(axis=-1, keepdims=True),
            self._weights.sum(axis=1, keepdims=True),
        )
        values = values - self._rated * _divided(
            values.sum(axis=-2, keepdims=True), self._rated.sum(axis=0)
        )
        slopes = _divided(
            (values * self._consensus).sum(axis=-2, keepdims=True), (self._consensus**2).sum(axis=0)
        )
        return np.asarray(values - slopes * self._consensus)


def _noise_variances(residuals: Array, rated: Mask) -> Array:
    """How noisy each rater is (J,), from what is left without candidates and raters, (I, J).

    A residual has 1 - 2/n of its own rater's variance, and 1/n^2 of that of all raters of its
    candidate, of whom there are n.
    """
    size = rated.sum(axis=0)
    raters = float(np.median(rated.sum(axis=1)))
    seen = (residuals**2).sum(axis=0) / np.maximum(size, 1)
    average = float(seen.mean()) / (1 - 1 / raters)
    variances = seen
    if raters > 2:
        variances = (seen - average / raters) / (1 - 2 / raters)
    return np.asarray(np.maximum(variances, _LEAST_NOISE * average) + 1e-300)


def _divided(values: Array, by: Array) -> Array:
    """Values over something, 0 where that is 0."""
    return np.asarray(values / np.where(by > 0, by, np.inf))


def _leading_component(matrices: Array) -> tuple[Array, Array]:
    """The largest eigenvalues and their vectors of matrices whose diagonals count as 0."""
    values, vectors = np.linalg.eigh(matrices * (1 - np.eye(matrices.shape[-1])))
    return values[..., -1], vectors[..., -1]
