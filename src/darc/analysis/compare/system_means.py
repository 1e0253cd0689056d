"""Means of systems by a two-way fit, and the noise of their differences.

A rating is a prompt plus a system plus noise. The noise has two sources that do not average out
alike: what is particular to a prompt, and what a rater likes about a system.
"""

from dataclasses import dataclass

import numpy as np

from darc.analysis.bootstrap import LEVEL
from darc.typing import Array, Integers, Mask

#: How the means of systems were made comparable.
SAME_PROMPTS = "same prompts"
TWO_WAY = "two-way"
OWN_PROMPTS = "own prompts"
# How many draws the critical values come from.
_DRAWS = 8000
# The power that a study is planned with: told apart in four of five, as a normal quantile.
_POWER_QUANTILE = 0.8416
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class RatedSystems:
    """Ratings of S systems by R raters on P prompts, all arrays (N,)."""

    prompt: Integers
    system: Integers
    #: -1 where nobody in particular rated.
    rater: Integers
    value: Array
    prompts: int
    systems: int
    raters: int


@dataclass(frozen=True, eq=False)
class SystemMeans:
    """Means of S systems with the covariances of their noise."""

    #: The means (S,), NaN for a system without ratings.
    means: Array
    #: `SAME_PROMPTS`, `TWO_WAY` or `OWN_PROMPTS`.
    method: str
    #: The covariance (S, S) that resampling prompts gives.
    prompt_covariance: Array
    #: The covariance (S, S) that resampling raters gives, and what of it is noise of single
    #: ratings, which the prompts' covariance has already.
    rater_covariance: Array
    rating_covariance: Array
    #: The number of prompts, and of known raters.
    prompts: int
    raters: int
    seed: int = 0

    def pair_noise(self, first: int, second: int) -> "Noise":
        """The noise of the difference between two systems."""
        contrast = np.zeros(len(self.means))
        contrast[first] = 1.0
        contrast[second] = -1.0
        return self._noise(contrast)

    def mean_noise(self, system: int) -> "Noise":
        """The noise of one system's mean."""
        contrast = np.zeros(len(self.means))
        contrast[system] = 1.0
        return self._noise(contrast)

    @property
    def liking(self) -> float:
        """How much larger raters' covariance is than single ratings explain, over all pairs.

        It is 1 where no rater likes a system more than the other raters do.
        """
        rated = ~np.isnan(self.means)
        by_rating = _pair_total(self.rating_covariance[np.ix_(rated, rated)])
        if by_rating <= 0:
            return 1.0
        return _pair_total(self.rater_covariance[np.ix_(rated, rated)]) / by_rating

    @property
    def liking_freedom(self) -> float:
        """The degrees of freedom of `liking`."""
        rated = int((~np.isnan(self.means)).sum())
        return float(max(1, (self.raters - 1) * max(1, rated - 1)))

    def _noise(self, contrast: Array) -> "Noise":
        # Where nothing varies, rounding may leave a variance below 0.
        by_prompt = max(0.0, float(contrast @ self.prompt_covariance @ contrast))
        by_rater = float(contrast @ self.rater_covariance @ contrast)
        by_rating = float(contrast @ self.rating_covariance @ contrast)
        if self.raters < 2 or by_rating <= 0:
            return Noise(by_prompt, 0.0, float(max(1, self.prompts - 1)))
        # A pair that raters are more divided about than about the others counts as it is.
        ratio = max(self.liking, by_rater / by_rating, 1.0)
        excess = (ratio - 1.0) * by_rating
        total = by_prompt + excess
        spread = by_prompt**2 / max(1, self.prompts - 1)
        spread += (ratio * by_rating) ** 2 / self.liking_freedom
        freedom = float(max(1, self.prompts - 1))
        if spread > 0:
            freedom = min(freedom, max(1.0, total**2 / spread))
        return Noise(by_prompt, excess, freedom)

    def band(self) -> "DifferenceBand":
        """Differences between all systems within one simultaneous band."""
        size = len(self.means)
        variance = np.full((size, size), np.nan)
        freedom = np.full((size, size), np.nan)
        rated = np.flatnonzero(~np.isnan(self.means)).tolist()
        for first in rated:
            for second in rated:
                if first != second:
                    noise = self.pair_noise(first, second)
                    variance[first, second] = noise.variance
                    freedom[first, second] = noise.freedom
        critical = self._critical_value(rated, freedom)
        return DifferenceBand(
            difference=self.means[:, None] - self.means[None, :],
            margin=critical * np.sqrt(variance),
            critical=critical,
        )

    def _critical_value(self, rated: list[int], freedom: Array) -> float:
        """What the largest of all studentised differences stays below, with probability `LEVEL`."""
        if len(rated) < 2:
            return 0.0
        generator = np.random.default_rng([self.seed, len(rated)])
        excess = max(self.liking - 1.0, 0.0)
        covariance = self.prompt_covariance + excess * self.rating_covariance
        covariance = covariance[np.ix_(rated, rated)]
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        draws = generator.standard_normal((_DRAWS, len(rated))) @ root.T
        deviation = np.sqrt(np.maximum(_pair_variances(covariance), 0.0))
        largest = np.zeros(_DRAWS)
        for first in range(len(rated)):
            usable = deviation[first] > _ROUNDING
            distance = np.abs(draws[:, [first]] - draws[:, usable]) / deviation[first][usable]
            largest = np.maximum(largest, distance.max(axis=1, initial=0.0))
        least_freedom = float(np.nanmin(freedom))
        chance = generator.chisquare(least_freedom, _DRAWS) / least_freedom
        return float(np.quantile(largest / np.sqrt(chance), LEVEL))


@dataclass(frozen=True)
class Noise:
    """The noise of a mean or of a difference."""

    #: What more prompts reduce, and what only more raters reduce.
    by_prompt: float
    by_rater: float
    freedom: float

    @property
    def variance(self) -> float:
        """The variance from both sources."""
        return self.by_prompt + self.by_rater

    @property
    def half_width(self) -> float:
        """Half the width of an interval of its own."""
        return student_quantile(self.freedom) * float(np.sqrt(self.variance))


@dataclass(frozen=True, eq=False)
class DifferenceBand:
    """The differences between all systems, (S, S), the first less the second."""

    difference: Array
    #: Half widths that hold for all differences together.
    margin: Array
    #: The margin in standard errors.
    critical: float

    @property
    def ahead(self) -> Mask:
        """Whether the first system is ahead of the second beyond noise, (S, S)."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.difference > self.margin + _ROUNDING)


def student_quantile(freedom: float) -> float:
    """The two-sided quantile at `LEVEL` of Student's t, from the normal one (Hill's expansion).

    Args:
        freedom: The degrees of freedom, at least 1.
    """
    if freedom < 1.5:
        return 12.706
    if freedom < 2.5:
        return 4.303
    z = 1.959964
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / freedom ** (power + 1) for power, term in enumerate(terms))


def factor_to_separate(difference: float, variance: float, critical: float) -> float:
    """How many times the data would tell a difference apart in four of five studies.

    Args:
        difference: The difference as seen.
        variance: The variance of its noise.
        critical: How many standard errors count as beyond noise.
    """
    if difference == 0:
        return float("inf")
    return (critical + _POWER_QUANTILE) ** 2 * variance / difference**2


def fit_systems(rated: RatedSystems, seed: int = 0) -> SystemMeans:
    """Fit a rating as its prompt plus its system, and estimate the noise of the systems.

    Every answer counts once, however many ratings it has. Prompts and raters are the units that
    another study would draw again. O(N S + P S^2).

    Args:
        rated: The ratings.
        seed: The seed of the draws behind critical values.

    Returns:
        The means. Systems that are not connected by shared prompts have the means of their own
        prompts.
    """
    size = rated.prompts * rated.systems
    cell = rated.prompt * rated.systems + rated.system
    count = np.bincount(cell, minlength=size)
    with np.errstate(invalid="ignore"):
        table = np.bincount(cell, rated.value, size) / count
    table = table.reshape(rated.prompts, rated.systems)
    has_cell = ~np.isnan(table)
    fit = _two_way_fit(table, has_cell)
    # How much of each rating's deviation is noise, and what it adds to each system's mean.
    rating_count = count[cell]
    single = rating_count == 1
    deviation = rated.value - table.ravel()[cell]
    deviation *= np.sqrt(rating_count / np.maximum(rating_count - 1, 1))
    deviation[single] = fit.residual.ravel()[cell][single]
    weighted = deviation / rating_count
    known = rated.rater >= 0
    raters = np.unique(rated.rater[known]).size
    clusters = rated.rater[known] * rated.prompts + rated.prompt[known]
    _, cluster = np.unique(clusters, return_inverse=True)
    by_rater = np.zeros((rated.raters, rated.systems))
    by_rating = np.zeros((int(cluster.max(initial=-1)) + 1, rated.systems))
    for system in range(rated.systems):
        share = fit.shares(rated.prompt[known], rated.system[known], system) * weighted[known]
        by_rater[:, system] = np.bincount(rated.rater[known], share, rated.raters)
        by_rating[:, system] = np.bincount(cluster, share, len(by_rating))
    used = max(1, int(has_cell.any(axis=1).sum()))
    correction = used / max(1, used - 1)
    return SystemMeans(
        means=fit.means,
        method=fit.method,
        prompt_covariance=correction * fit.influence.T @ fit.influence,
        rater_covariance=by_rater.T @ by_rater,
        rating_covariance=by_rating.T @ by_rating,
        prompts=used,
        raters=raters,
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class _TwoWayFit:
    """Means (S,) of systems, and how cells (P, S) and prompts determine them."""

    means: Array
    method: str
    #: What each prompt adds to each mean, (P, S).
    influence: Array
    #: What is left of each cell, (P, S), 0 where there is none.
    residual: Array
    #: A mean is the sum over cells (p, s) of by_system[t, s] - by_prompt[p, t] times the cell.
    by_system: Array
    by_prompt: Array

    def shares(self, prompt: Integers, system: Integers, mean_of: int) -> Array:
        """How much cells (N,) add to the mean of one system, (N,)."""
        return np.asarray(self.by_system[mean_of, system] - self.by_prompt[prompt, mean_of])


def _two_way_fit(table: Array, has_cell: Mask) -> _TwoWayFit:
    """Fit prompts and systems to a table (P, S) of means."""
    weight = has_cell.astype(np.float64)
    rated = weight.sum(axis=0) > 0
    answered = np.flatnonzero(weight.sum(axis=1) > 0)
    filled = np.where(has_cell, table, 0.0)
    if not _is_connected(weight[:, rated]):
        return _own_prompts_fit(filled, weight, rated)
    cells = np.maximum(weight.sum(axis=1), 1.0)
    normal = np.diag(weight.sum(axis=0)) - (weight / cells[:, None]).T @ weight
    inverse = np.linalg.pinv(normal, hermitian=True)
    centred = weight * (filled - (filled.sum(axis=1) / cells)[:, None])
    effect = inverse @ centred.sum(axis=0)
    level = (filled - weight * effect).sum(axis=1) / cells
    residual = weight * (filled - level[:, None] - effect)
    average_level = float(level[answered].mean())
    # The average level falls as the effects of the systems that prompts have rise.
    lowering = (weight / cells[:, None])[answered].mean(axis=0)
    centring = np.eye(len(effect)) - lowering[None, :]
    by_system = centring @ inverse
    by_prompt = (weight / cells[:, None]) @ by_system.T
    by_prompt -= 1.0 / (len(answered) * cells)[:, None]
    influence = residual @ by_system.T
    influence[answered] += ((level - average_level)[answered] / len(answered))[:, None]
    method = TWO_WAY
    if (weight[answered][:, rated] > 0).all():
        method = SAME_PROMPTS
    return _TwoWayFit(
        means=np.where(rated, average_level + effect, np.nan),
        method=method,
        influence=np.where(rated, influence, 0.0),
        residual=residual,
        by_system=by_system,
        by_prompt=by_prompt,
    )


def _own_prompts_fit(filled: Array, weight: Array, rated: Mask) -> _TwoWayFit:
    """The mean of each system over the prompts that it has."""
    answers = np.maximum(weight.sum(axis=0), 1.0)
    means = filled.sum(axis=0) / answers
    residual = weight * (filled - means)
    return _TwoWayFit(
        means=np.where(rated, means, np.nan),
        method=OWN_PROMPTS,
        influence=residual / answers,
        residual=residual,
        by_system=np.diag(1.0 / answers),
        by_prompt=np.zeros_like(weight),
    )


def _is_connected(weight: Array) -> bool:
    """Whether every two systems of (P, S) are connected by prompts that systems share."""
    systems = weight.shape[1]
    shared = (weight.T @ weight) > 0
    reached = np.zeros(systems, dtype=bool)
    reached[:1] = True
    for _ in range(systems):
        reached = reached | shared[reached].any(axis=0)
    return bool(reached.all())


def _pair_variances(covariance: Array) -> Array:
    """The variances of all differences, (S, S), of a covariance (S, S)."""
    own = np.diag(covariance)
    return np.asarray(own[:, None] + own[None, :] - covariance - covariance.T)


def _pair_total(covariance: Array) -> float:
    """The sum of the variances of all differences."""
    return float(_pair_variances(covariance).sum())
