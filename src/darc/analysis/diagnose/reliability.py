"""How far another panel of raters would find the same means and sigmas."""

import math
from dataclasses import dataclass, replace

import numpy as np

from darc.analysis.diagnose.candidate_ratings import CandidateRatings
from darc.decide.statistics import risk
from darc.decide.statistics.summary import c4
from darc.typing import Array, Integers

LEVELS = ("within", "overall", "prompt")
TARGETS = (0.5, 0.7)
# If fewer candidates than this share can be split, they do not speak for the others.
MIN_SPLIT_SHARE = 0.5
# Below this share of the sum of squares, a variance is rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Reliability:
    """The reliability of a statistic on the whole panel."""

    value: float
    #: The 95 % interval over prompts.
    low: float
    high: float
    #: The correlation of the halves. If it is not positive it stands for the whole panel too:
    #: there is nothing for more raters to sharpen.
    half_correlation: float
    #: One-sided, for halves that have nothing in common; NaN with one prompt.
    p_value: float
    #: The panel's length in the Spearman-Brown formula.
    length: float
    #: By how many raters the length is shorter than their number: 1 for sigma.
    lost_raters: int

    def with_raters(self, raters: float) -> float:
        """The reliability that this many raters would have."""
        ratio = (raters - self.lost_raters) / self.length
        return float(spearman_brown(np.array(self.value), ratio))

    def raters_needed(self, target: float) -> float:
        """The number of raters that reach a reliability; infinity if no number would do."""
        if math.isnan(self.value):
            return math.nan
        if self.value <= 0:
            return math.inf
        ratio = target * (1 - self.value) / (self.value * (1 - target))
        return max(1, math.ceil(self.length * ratio - 1e-9)) + self.lost_raters

    def raters_needed_span(self, target: float) -> str:
        """The interval of the raters needed in words, empty if even its near end is unknown."""
        fewest = replace(self, value=self.high).raters_needed(target)
        most = replace(self, value=self.low).raters_needed(target)
        if not math.isfinite(fewest):
            return ""
        if not math.isfinite(most):
            return f"{fewest:.0f} or more"
        return f"{fewest:.0f} to {most:.0f}"


@dataclass(frozen=True, eq=False)
class _SplitSums:
    """Sums over random halves of the raters."""

    #: By level and prompt (3, P, 4): count, sum, cross product and square of both halves.
    sums: Array
    #: The sizes that the noise shrinks with, in a half and in the whole panel: raters for a mean,
    #: degrees of freedom for a sigma.
    half_length: float
    length: float


def reliabilities(
    ratings: CandidateRatings, *, splits: int = 200, resamples: int = 1000, seed: int = 0
) -> tuple[dict[str, Reliability], dict[str, Reliability]]:
    """Estimate the reliabilities of means and of sigmas from random halves of the raters.

    Raters are halved anew for each prompt and alike for its candidates. Sums per prompt are kept,
    which a bootstrap reweights. O(splits x ratings).

    Args:
        ratings: The ratings.
        splits: The number of random halves.
        resamples: The number of bootstrap draws.
        seed: The seed of halves and draws.

    Returns:
        The reliabilities of means and of sigmas, each by level: "within" ranks the candidates of a
        prompt, "overall" takes all candidates, "prompt" the prompts' averages. Empty if most
        candidates have too few ratings to split.
    """
    means = _by_level(ratings, False, splits, resamples, seed)
    sigmas = _by_level(ratings, True, splits, resamples, seed)
    return means, sigmas


def _by_level(
    ratings: CandidateRatings, of_sigma: bool, splits: int, resamples: int, seed: int
) -> dict[str, Reliability]:
    """The reliabilities of means, or of sigmas, by level."""
    halves = _split(ratings, of_sigma, splits, seed)
    if halves is None:
        return {}
    generator = np.random.default_rng([seed, 2])
    ratio = halves.length / halves.half_length
    by_level = {}
    for level, sums in zip(LEVELS, halves.sums, strict=True):
        correlation = _half_correlation(np.ones((1, len(sums))), sums)
        weights = draw_prompts(len(sums), resamples, generator)
        resampled = _half_correlation(weights, sums)
        low, high = middle_interval(spearman_brown(resampled, ratio))
        p_value = math.nan
        if level == "within":
            p_value = _sign_flip_p(sums[:, 2], resamples, generator)
        by_level[level] = Reliability(
            value=float(spearman_brown(correlation, ratio)[0]),
            low=low,
            high=high,
            half_correlation=float(correlation[0]),
            p_value=p_value,
            length=halves.length,
            lost_raters=int(of_sigma),
        )
    return by_level


def _split(ratings: CandidateRatings, of_sigma: bool, splits: int, seed: int) -> _SplitSums | None:
    """Sums of random halves of the candidates' means, or sigmas without their small-sample bias.

    None if most candidates have fewer than two ratings, or than four for sigma: a half of three
    ratings has no two to compare.
    """
    lost = int(of_sigma)
    counts = ratings.counts
    rows = np.nonzero(counts >= 2 + 2 * lost)[0]
    if rows.size < MIN_SPLIT_SHARE * counts.size:
        return None
    values = ratings.values[rows]
    count = counts[rows]
    _, starts, prompt, size = np.unique(
        ratings.prompts[rows], return_index=True, return_inverse=True, return_counts=True
    )
    cells = _rater_cells(ratings, rows)
    # Means and sigmas have seeds of their own, so that one does not move the other.
    generator = np.random.default_rng([seed, lost])
    sums = np.zeros((len(LEVELS), size.size, 4))
    inverse_length = 0.0
    for _ in range(splits):
        # Raters get random keys; those with the smallest keys are the first half.
        key = generator.random(cells.max() + 1)[cells]
        key[np.isnan(values)] = np.inf
        rank = np.argsort(np.argsort(key, axis=1), axis=1)
        # Of an odd count, either half may have the odd one.
        extra = generator.integers(0, 2, size.size)[prompt]
        first_size = count // 2 + (count % 2) * extra
        first = rank < first_size[:, None]
        statistics = []
        for half, half_size in ((first, first_size), (~first, count - first_size)):
            half_values = np.where(half, values, np.nan)
            if of_sigma:
                statistics.append(risk.sigma(half_values) / c4(half_size))
            else:
                statistics.append(np.nansum(half_values, axis=1) / half_size)
            inverse_length += float(np.mean(1 / (half_size - lost))) / 2
        sums += _level_sums(statistics[0], statistics[1], starts, size)
    length = float(1 / np.mean(1 / (count - lost)))
    return _SplitSums(sums / splits, splits / inverse_length, length)


def _rater_cells(ratings: CandidateRatings, rows: Integers) -> Integers:
    """A number for each rating's prompt and rater, (rows, n)."""
    values = ratings.values[rows]
    if ratings.named:
        rater = np.maximum(ratings.raters[rows], 0)
        raters = len(ratings.rater_names)
    else:
        # Without names the places of a candidate's ratings are all there is to split.
        rater = np.arange(values.shape[1])
        raters = values.shape[1]
    keys = ratings.prompts[rows][:, None] * raters + rater
    return np.unique(keys, return_inverse=True)[1].reshape(values.shape)


def _level_sums(first: Array, second: Array, starts: Integers, size: Integers) -> Array:
    """One split's sums of both halves, (3, P, 4).

    "within" has the candidates about their prompt's mean, "overall" as they are, and "prompt" the
    prompts' means.
    """
    first_sum = np.add.reduceat(first, starts)
    second_sum = np.add.reduceat(second, starts)
    cross = np.add.reduceat(first * second, starts)
    square = np.add.reduceat(first**2 + second**2, starts) / 2
    middle = (first_sum + second_sum) / 2
    mean_cross = first_sum * second_sum / size
    mean_square = (first_sum**2 + second_sum**2) / size / 2
    within = [size, np.zeros(size.size), cross - mean_cross, square - mean_square]
    overall = [size, middle, cross, square]
    prompt = [np.ones(size.size), middle / size, mean_cross / size, mean_square / size]
    return np.array([within, overall, prompt]).transpose(0, 2, 1)


def _half_correlation(weights: Array, sums: Array) -> Array:
    """Correlations of the halves, (draws,), each draw weighting the prompts; NaN if constant."""
    count, total, cross, square = (weights @ sums).T
    mean = total / count
    variance = square / count - mean**2
    varied = variance > _ROUNDING * square / count
    covariance = cross / count - mean**2
    return np.divide(covariance, variance, out=np.full_like(variance, np.nan), where=varied)


def spearman_brown(correlation: Array, ratio: float) -> Array:
    """The reliability of a panel `ratio` times as long; what is not positive stays as it is."""
    longer = ratio * correlation / np.maximum(1 + (ratio - 1) * correlation, 1e-300)
    return np.where(correlation > 0, longer, correlation)


def draw_prompts(prompts: int, resamples: int, generator: np.random.Generator) -> Array:
    """How often each prompt is drawn in each resample, (resamples, prompts)."""
    share = np.full(prompts, 1 / prompts)
    return generator.multinomial(prompts, share, size=resamples).astype(np.float64)


def middle_interval(values: Array) -> tuple[float, float]:
    """The middle 95 % of resampled values; NaN if they do not vary, as with one prompt."""
    finite = values[~np.isnan(values)]
    if finite.size < 2 or np.ptp(finite) == 0:
        return math.nan, math.nan
    low, high = np.quantile(finite, [0.025, 0.975])
    return float(low), float(high)


def _sign_flip_p(cross: Array, flips: int, generator: np.random.Generator) -> float:
    """How often random signs of the prompts' cross products give as large a sum."""
    if cross.size < 2 or not cross.any():
        return math.nan
    signs = generator.choice([-1.0, 1.0], size=(flips, cross.size))
    as_large = int(np.sum(signs @ cross >= cross.sum() * (1 - 1e-12)))
    return (1 + as_large) / (1 + flips)
