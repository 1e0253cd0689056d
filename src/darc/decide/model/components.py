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
    """What ratings (P, K, n) say of each candidate, all (P, K).

    `mean`; `sigma`, the standard deviation (ddof = 1); `disagreement`, sigma/c4(n), which small
    samples do not make smaller on average; 0 where there is no rating, or one for the last two.
    """

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
        """The standard deviation."""
        return np.sqrt(self._squares / np.maximum(self.count - 1, 1))

    @cached_property
    def disagreement(self) -> Array:
        """Sigma without its bias at small n."""
        return np.asarray(self.sigma / c4(self.count))

    @cached_property
    def noise(self) -> Array:
        """Noise of (mean, disagreement) times what it falls with, (2, P, K); for n of 3 or more.

        The covariance times sqrt(n (n - 1)) and the variance of the disagreement times n - 1, by
        the jackknife: each rating is left out once. The jackknife's variance of a standard
        deviation is too large by 1 + 1.15/(n - 1.55) for Gaussian ratings (to 1 % from n = 3 on).
        """
        count = np.maximum(self.count, 3)
        size, gap = count[..., None], self._gaps
        squares = np.maximum(self._squares[..., None] - size / (size - 1) * gap * gap, 0.0)
        without = np.where(self.known, np.sqrt(squares / (size - 2)), 0.0)
        change = np.where(self.known, without - without.sum(-1, keepdims=True) / size, 0.0)
        moved = -gap / (size - 1)
        share, unbiased = (count - 1) / count, c4(count)
        covariance = share * (moved * change).sum(-1) / unbiased
        variance = share * (change * change).sum(-1) / (1 + 1.15 / (count - 1.55)) / unbiased**2
        return np.stack([covariance * np.sqrt(count * (count - 1)), variance * (count - 1)])

    @cached_property
    def _gaps(self) -> Array:
        return np.where(self.known, self.ratings - self.mean[..., None], 0.0)

    @cached_property
    def _squares(self) -> Array:
        return np.asarray((self._gaps * self._gaps).sum(axis=-1))


# What is assumed before any data, in units of the variance within candidates, and how many degrees
# of freedom that counts for.
NOISE = (1.0, 0.0, 0.65)
CANDIDATES = ((0.30, -0.03), (-0.03, 0.01))
PRIOR_DF = 10.0
# The weight of disagreement before any data, what that counts for, its largest value while
# disagreement is unreliable, and the least that is not taken for 0.
USUAL_WEIGHT, USUAL_DF = 0.05, 200.0
CAP, CAP_PER_RELIABILITY, LEAST_WEIGHT = 0.5, 4.0, 0.02
# Candidates' means vary at least by this share of what is seen of them.
LEAST_SHARE = 0.1
FEWEST_NOISE = 10
ALTERNATIONS = 4


def within_variance(features: Features) -> tuple[float, float]:
    """The pooled variance of ratings within a candidate (1 where there is none), and its df."""
    df = np.maximum(features.count - 1, 0)
    total = float(df.sum())
    pooled = float((features.sigma**2 * df).sum()) / max(total, 1.0)
    return (pooled if pooled > 0 else 1.0), total


def noise_per_rating(features: Features, within: float) -> tuple[tuple[float, float, float], float]:
    """(1, covariance, variance of disagreement) a rating in units of `within`; its candidates.

    Measured from candidates with three ratings or more, beside 10 that are as assumed.
    """
    enough = features.count >= 3
    seen = float(enough.sum())
    if not seen:
        return NOISE, 0.0
    measured = features.noise[:, enough].sum(axis=1) / within
    link, spread = (measured + PRIOR_DF * np.array(NOISE[1:])) / (seen + PRIOR_DF)
    return (1.0, float(link), float(spread)), seen


def noise_matrix(noise: Sequence[float], shared: float, count: Integers) -> Array:
    """The covariance (..., 2, 2) of the noise of (mean, disagreement) at `count` ratings."""
    size = np.maximum(count, 1).astype(np.float64)
    fewer = np.maximum(size - 1, 1)
    result = np.empty((*size.shape, 2, 2))
    result[..., 0, 0] = shared * noise[0] / size
    result[..., 0, 1] = result[..., 1, 0] = np.sqrt(shared) * noise[1] / np.sqrt(size * fewer)
    result[..., 1, 1] = noise[2] / fewer
    return result


@dataclass(frozen=True, eq=False)
class Residuals:
    """What is left of cells (N, 2) without prompts and systems, and the effects of the systems.

    `effects` (S, 2) are not yet shrunk; `cells` (S,) says how many cells show each; `level` (P,) is
    the mean of each prompt.
    """

    left: Array
    df: float
    level: Array
    effects: Array
    cells: Integers


def residuals(
    cells: Array, prompt: Integers, system: Integers, prompts: int, systems: int
) -> Residuals:
    """The `Residuals` of cells (N, 2), by least squares; a system of -1 is not known."""
    named, who = system >= 0, np.maximum(system, 0)
    effects, times = np.zeros((systems, 2)), np.bincount(who[named], minlength=systems)
    for _ in range(ALTERNATIONS if systems else 1):
        own = np.where(named[:, None], effects[who], 0.0) if systems else np.zeros((1, 2))
        level = _means(cells - own, prompt, prompts)
        if systems:
            effects = _means((cells - level[prompt])[named], who[named], systems)
    own = np.where(named[:, None], effects[who], 0.0) if systems else np.zeros((1, 2))
    used = np.unique(prompt).size + max(int((times > 0).sum()) - 1, 0)
    left = cells - level[prompt] - own
    return Residuals(left, float(max(len(cells) - used, 1)), level[:, 0], effects, times)


@dataclass(frozen=True, eq=False)
class Components:
    """Covariance of the candidates' own worth, and of that with the noise."""

    candidates: Array
    observed: Array

    @property
    def reliability(self) -> float:
        """The share of disagreement's spread, beyond what the mean tells, that is no noise."""
        own, seen = (m[1, 1] - m[0, 1] ** 2 / m[0, 0] for m in (self.candidates, self.observed))
        return float(max(own, 0.0) / max(seen, 1e-12))


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
    left = np.diagonal(between - gain @ between, axis1=1, axis2=2)
    known = seen[:, None]
    return (
        np.where(known, np.einsum("sij,sj->si", gain, effects), 0.0),
        np.where(known, np.sqrt(np.maximum(left, 0.0)), 0.0),
    )


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
    times = np.maximum(np.bincount(group, minlength=groups), 1)
    return np.stack([np.bincount(group, column, groups) for column in values.T], 1) / times[:, None]
