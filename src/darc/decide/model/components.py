"""Mean and disagreement of candidates with few ratings, and their components of variance.

Ratings are (P, K, n), NaN where there is none: P prompts, K candidates, up to n ratings. The two
features of a candidate are its prompt, its system, its own worth and noise, added up. Every
covariance is 2 x 2, of (mean, disagreement).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from darc.decide.statistics.summary import c4
from darc.typing import Array, Integers, Mask


@dataclass(frozen=True, eq=False)
class Features:
    """What ratings say of each candidate, (P, K) unless a property says otherwise.

    Numbers are 0 where there is no rating; sigma and disagreement also where there is one.
    """

    #: (P, K, n), NaN where there is none.
    ratings: Array

    @cached_property
    def known(self) -> Mask:
        """Which ratings there are, (P, K, n)."""
        return ~np.isnan(self.ratings)

    @cached_property
    def count(self) -> Integers:
        """The number of ratings."""
        return np.asarray(self.known.sum(axis=-1))

    @cached_property
    def mean(self) -> Array:
        """The mean rating."""
        total = np.where(self.known, self.ratings, 0.0).sum(axis=-1)
        return np.asarray(total / np.maximum(self.count, 1))

    @cached_property
    def sigma(self) -> Array:
        """The standard deviation (ddof = 1)."""
        return np.sqrt(self._squares / np.maximum(self.count - 1, 1))

    @cached_property
    def disagreement(self) -> Array:
        """Sigma / c4(n), which small samples do not make smaller on average."""
        return np.asarray(self.sigma / c4(self.count))

    @cached_property
    def noise(self) -> Array:
        """Noise of (mean, disagreement) times what it falls with, (2, P, K); for n of 3 or more.

        The covariance times sqrt(n (n - 1)) and the variance of the disagreement times n - 1, by
        the jackknife: each rating is left out once. The jackknife's variance of a standard
        deviation is too large by 1 + 1.15/(n - 1.55) for Gaussian ratings (to 1 % from n = 3 on).
        """
        count = np.maximum(self.count, 3)
        size = count[..., None]
        gap = self._gaps
        squares = np.maximum(self._squares[..., None] - size / (size - 1) * gap * gap, 0.0)
        # Sigma without each rating, and how it differs from the mean of these.
        sigma_without = np.where(self.known, np.sqrt(squares / (size - 2)), 0.0)
        mean_sigma = sigma_without.sum(-1, keepdims=True) / size
        sigma_change = np.where(self.known, sigma_without - mean_sigma, 0.0)
        mean_change = -gap / (size - 1)
        share = (count - 1) / count
        bias = c4(count)
        covariance = share * (mean_change * sigma_change).sum(-1) / bias
        variance = share * (sigma_change * sigma_change).sum(-1)
        variance = variance / (1 + 1.15 / (count - 1.55)) / bias**2
        return np.stack([covariance * np.sqrt(count * (count - 1)), variance * (count - 1)])

    @cached_property
    def _gaps(self) -> Array:
        """Ratings less their candidate's mean, (P, K, n), 0 where there is none."""
        return np.where(self.known, self.ratings - self.mean[..., None], 0.0)

    @cached_property
    def _squares(self) -> Array:
        """The sum of the squared gaps."""
        return np.asarray((self._gaps * self._gaps).sum(axis=-1))


# What is assumed before any data, in units of the variance within candidates, and how many degrees
# of freedom that counts for.
NOISE = (1.0, 0.0, 0.65)
CANDIDATES = ((0.30, -0.03), (-0.03, 0.01))
PRIOR_DF = 10.0
# The weight of disagreement before any data, and how many degrees of freedom that counts for.
USUAL_WEIGHT = 0.05
USUAL_DF = 200.0
# The largest weight while disagreement is unreliable, and per unit of reliability.
CAP = 0.5
CAP_PER_RELIABILITY = 4.0
# A smaller weight is taken for 0.
LEAST_WEIGHT = 0.02
# Candidates' means vary at least by this share of what is seen of them.
LEAST_SHARE = 0.1
# Candidates with three ratings or more that the noise of disagreement must be known from.
FEWEST_NOISE = 10
# How often prompts and systems are fitted in turn.
ALTERNATIONS = 4


def within_variance(features: Features) -> tuple[float, float]:
    """The pooled variance of ratings within a candidate (1 where there is none), and its df."""
    df = np.maximum(features.count - 1, 0)
    total = float(df.sum())
    pooled = float((features.sigma**2 * df).sum()) / max(total, 1.0)
    if pooled <= 0:
        pooled = 1.0
    return pooled, total


def noise_per_rating(features: Features, within: float) -> tuple[tuple[float, float, float], float]:
    """Measure the noise of one rating, in units of the variance within candidates.

    Returns:
        (1, covariance, variance of disagreement), measured from candidates with three ratings or
        more beside `PRIOR_DF` that are as assumed; and how many candidates these are.
    """
    enough = features.count >= 3
    measured_from = float(enough.sum())
    if not measured_from:
        return NOISE, 0.0
    measured = features.noise[:, enough].sum(axis=1) / within
    assumed = PRIOR_DF * np.array(NOISE[1:])
    covariance, variance = (measured + assumed) / (measured_from + PRIOR_DF)
    return (1.0, float(covariance), float(variance)), measured_from


def noise_matrix(noise: Sequence[float], shared: float, count: Integers) -> Array:
    """The covariance (..., 2, 2) of the noise of (mean, disagreement) at `count` ratings."""
    size = np.maximum(count, 1).astype(np.float64)
    df = np.maximum(size - 1, 1)
    covariance = np.sqrt(shared) * noise[1] / np.sqrt(size * df)
    matrix = np.empty((*size.shape, 2, 2))
    matrix[..., 0, 0] = shared * noise[0] / size
    matrix[..., 0, 1] = covariance
    matrix[..., 1, 0] = covariance
    matrix[..., 1, 1] = noise[2] / df
    return matrix


@dataclass(frozen=True, eq=False)
class Residuals:
    """What is left of cells without prompts and systems."""

    #: The residuals, (N, 2).
    left: Array
    #: Their degrees of freedom.
    df: float
    #: The mean of each prompt, (P,).
    level: Array
    #: The effects of the systems, not yet shrunk, (S, 2).
    effects: Array
    #: How many cells show each system, (S,).
    cells: Integers


def residuals(
    cells: Array, prompt: Integers, system: Integers, prompts: int, systems: int
) -> Residuals:
    """Fit prompts and systems by least squares.

    Args:
        cells: Mean and disagreement of each cell, (N, 2).
        prompt: The prompt of each cell, (N,).
        system: The system of each cell, (N,); -1 if it is not known.
        prompts: The number of prompts.
        systems: The number of systems.
    """
    has_system = system >= 0
    known_system = system[has_system]
    cells_of_system = np.bincount(known_system, minlength=systems)
    effects = np.zeros((systems, 2))
    cell_effects = np.zeros_like(cells)
    level = _means(cells, prompt, prompts)
    if systems:
        for alternation in range(ALTERNATIONS):
            if alternation:
                level = _means(cells - cell_effects, prompt, prompts)
            effects = _means((cells - level[prompt])[has_system], known_system, systems)
            cell_effects[has_system] = effects[known_system]
    fitted = np.unique(prompt).size + max(int((cells_of_system > 0).sum()) - 1, 0)
    return Residuals(
        left=cells - level[prompt] - cell_effects,
        df=float(max(len(cells) - fitted, 1)),
        level=level[:, 0],
        effects=effects,
        cells=cells_of_system,
    )


@dataclass(frozen=True, eq=False)
class Components:
    """Covariances (2, 2) of (mean, disagreement)."""

    #: Of the candidates' own worth.
    candidates: Array
    #: Of that with the noise.
    observed: Array

    @property
    def reliability(self) -> float:
        """The share of disagreement's spread, beyond what the mean tells, that is not noise."""
        candidate_spread = _spread_beyond_mean(self.candidates)
        observed_spread = _spread_beyond_mean(self.observed)
        return float(max(candidate_spread, 0.0) / max(observed_spread, 1e-12))


def _spread_beyond_mean(covariance: Array) -> float:
    """The variance of disagreement that the mean does not tell."""
    return float(covariance[1, 1] - covariance[0, 1] ** 2 / covariance[0, 0])


def components(left: Array, df: float, noise: Array) -> Components:
    """The `Components` of residuals (N, 2) whose noise is on average `noise` (2, 2).

    Everything is in units of the variance within candidates. What is assumed counts for 10 degrees
    of freedom.
    """
    observed = left.T @ left / df
    measured = df * (observed - noise) + PRIOR_DF * np.array(CANDIDATES)
    candidates = semidefinite(measured / (df + PRIOR_DF))
    candidates[0, 0] = max(candidates[0, 0], LEAST_SHARE * observed[0, 0], 1e-6)
    return Components(candidates, candidates + noise)


def shrunken(effects: Array, cells: Integers, variance: Array) -> tuple[Array, Array]:
    """Effects (S, 2) of systems shrunk by how much systems vary, and their standard errors (S, 2).

    `variance` (2, 2) is that of one cell; systems without cells have no effect.
    """
    seen = cells > 0
    between = semidefinite(np.cov(effects[seen].T) - variance * np.mean(1 / cells[seen]))
    noise = variance / np.maximum(cells, 1)[:, None, None]
    gain = posterior_gain(between, noise)
    shrunken_effects = np.einsum("sij,sj->si", gain, effects)
    remaining_variance = np.diagonal(between - gain @ between, axis1=1, axis2=2)
    errors = np.sqrt(np.maximum(remaining_variance, 0.0))
    has_cells = seen[:, None]
    return np.where(has_cells, shrunken_effects, 0.0), np.where(has_cells, errors, 0.0)


def posterior_gain(signal: Array, noise: Array) -> Array:
    """What to believe of a deviation that is seen: signal (signal + noise)^-1, (..., 2, 2)."""
    size = np.trace(signal) + np.trace(noise, axis1=-2, axis2=-1) + 1e-12
    # A trace of the identity lets zero matrices through.
    ridge = 1e-9 * size[..., None, None] * np.eye(2)
    return np.asarray(signal @ np.linalg.inv(signal + noise + ridge))


def weights(
    candidates: Array, noise: Array, lam: float, reliability: float, seen: float
) -> tuple[Array, Array]:
    """What a unit of disagreement counts against a unit of mean, (L,), and the mean's shrinkage.

    For noise (L, 2, 2): the posterior expectation of mean - lam sigma moves by `shrinkage` (L,) for
    a unit of mean seen, and by `weight` times that for a unit of disagreement. The link between the
    two may strengthen the mean, never weaken it: where sigma grows with the mean, mean - lam sigma
    alone would prefer what everybody dislikes. `seen` degrees of freedom stand against 200 of the
    usual weight, 0.05.
    """
    gain = posterior_gain(candidates, noise)
    mean = gain[:, 0, 0]
    raw = (lam * gain[:, 1, 1] - gain[:, 0, 1]) / np.maximum(mean - lam * gain[:, 1, 0], mean)
    most = max(min(CAP, lam), min(lam, CAP_PER_RELIABILITY * reliability))
    usual = USUAL_DF * min(USUAL_WEIGHT, lam)
    weight = (seen * np.clip(raw, 0.0, most) + usual) / (seen + USUAL_DF)
    shrinkage = candidates[0, 0] / (candidates[0, 0] + noise[:, 0, 0])
    return np.where(weight < LEAST_WEIGHT, 0.0, weight), np.asarray(shrinkage)


def semidefinite(matrix: Array) -> Array:
    """The nearest positive semi-definite matrix."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def _means(values: Array, group: Integers, groups: int) -> Array:
    """The mean (groups, 2) of values (N, 2) by group, 0 for empty ones."""
    count = np.maximum(np.bincount(group, minlength=groups), 1)
    totals = [np.bincount(group, column, groups) for column in values.T]
    return np.stack(totals, axis=1) / count[:, None]
