"""Sums over random halves of the raters, from which every split-half correlation follows.

Raters are split anew for each prompt, the same way for all its candidates, so what a rater does in
one half is never seen in the other. A statistic (mean, sigma) is computed in both halves; only its
sums a prompt, averaged over the splits, are kept, so that a bootstrap over prompts reweights them.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from darc.diagnosis.panel import RaterPanel, centred, deviations, shrinkage_of_deviation
from darc.typing import Array, Integers

LEVELS = ("within", "overall", "prompt")
# A few candidates that can be split do not speak for the others.
MOSTLY = 0.5


@dataclass(frozen=True, eq=False)
class HalfSums:
    """Sums (P, 4) a prompt of both halves of a statistic: count, first, cross product, square.

    `within` has the candidates about their prompt's mean, `overall` the candidates as they are,
    `prompt` the prompts' means. `half` and `full` are the sizes that the noise goes down with:
    raters for a mean, degrees of freedom for a sigma, in a half and in the panel.
    """

    within: Array
    overall: Array
    prompt: Array
    half: float
    full: float


def mean_halves(panel: RaterPanel, splits: int, generator: np.random.Generator) -> HalfSums | None:
    """Halves of the candidates' means; None where most have one rating."""
    return _halves(panel, 2, 0, splits, generator)


def sigma_halves(panel: RaterPanel, splits: int, generator: np.random.Generator) -> HalfSums | None:
    """Halves of the candidates' sigmas, freed of their bias at small n.

    None where most have below four ratings: a half of three has no two to compare.
    """
    return _halves(panel, 4, 1, splits, generator)


def _halves(
    panel: RaterPanel, least: int, lost: int, splits: int, generator: np.random.Generator
) -> HalfSums | None:
    counts = panel.counts
    rows = np.nonzero(counts >= least)[0]
    if rows.size < MOSTLY * counts.size:
        return None
    values, count, prompts = panel.values[rows], counts[rows], panel.prompts[rows]
    starts = np.nonzero(np.diff(prompts, prepend=-1))[0]
    size = np.diff(np.append(starts, rows.size)).astype(np.float64)
    owner = np.repeat(np.arange(size.size), size.astype(np.int64))
    cells, number = _cells(panel, rows)
    sums = {level: np.zeros((size.size, 4)) for level in LEVELS}
    inverse = 0.0
    for _ in range(splits):
        key = generator.random(number)[cells]
        key[np.isnan(values)] = np.inf
        rank = np.argsort(np.argsort(key, axis=1), axis=1)
        upper = count // 2 + (count % 2) * generator.integers(0, 2, size.size)[owner]
        first = rank < upper[:, None]
        one, n_one = _statistic(np.where(first, values, np.nan), lost)
        other, n_other = _statistic(np.where(first, np.nan, values), lost)
        inverse += float(np.mean(1 / (n_one - lost) + 1 / (n_other - lost))) / 2
        _add(sums, one, other, starts, size)
    for level in sums.values():
        level /= splits
    return HalfSums(
        sums["within"],
        sums["overall"],
        sums["prompt"],
        half=splits / inverse,
        full=float(1 / np.mean(1 / (count - lost))),
    )


def _cells(panel: RaterPanel, rows: Integers) -> tuple[Integers, int]:
    """What a random key is drawn for, (rows, n): a rater in a prompt, or else a single rating."""
    values = panel.values[rows]
    if not panel.named:
        # Without names the places of a candidate's ratings are all there is to split.
        width = values.shape[1]
        return panel.prompts[rows][:, None] * width + np.arange(width), (
            len(panel.prompt_names) * width
        )
    raters = len(panel.rater_names)
    keys = panel.prompts[rows][:, None] * raters + np.maximum(panel.raters[rows], 0)
    found, code = np.unique(keys, return_inverse=True)
    return code.reshape(keys.shape), found.size


def _statistic(values: Array, lost: int) -> tuple[Array, Integers]:
    """Mean (lost 0) or unbiased sigma (lost 1) of each row, and how many ratings it has."""
    count = (~np.isnan(values)).sum(axis=1)
    if lost == 0:
        return np.nansum(values, axis=1) / count, count
    return deviations(values) / shrinkage_of_deviation(count), count


def _add(sums: dict[str, Array], one: Array, other: Array, starts: Integers, size: Array) -> None:
    """Add one split's sums of both halves."""
    first, second = np.add.reduceat(one, starts), np.add.reduceat(other, starts)
    cross = np.add.reduceat(one * other, starts)
    square = np.add.reduceat(one**2 + other**2, starts) / 2
    middle = (first + second) / 2
    sums["overall"] += np.column_stack([size, middle, cross, square])
    product, power = first * second / size, (first**2 + second**2) / size / 2
    nothing = np.zeros_like(size)
    sums["within"] += np.column_stack([size, nothing, cross - product, square - power])
    sums["prompt"] += np.column_stack(
        [np.ones_like(size), middle / size, product / size, power / size]
    )


TARGETS = (0.5, 0.7)
# Below this share of the sum of squares, a variance is rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Reliability:
    """Reliability of a statistic on the whole panel, with its 95 % interval over prompts.

    `half` is the correlation of the halves. Where it is not positive it stands for the whole panel
    too: there is nothing for more raters to sharpen. `p_value` (one-sided) is for halves that have
    nothing in common, NaN with one prompt. `size` is the panel's length in the formula, `lost` how
    many raters it is short of their number.
    """

    value: float
    low: float
    high: float
    half: float
    p_value: float
    size: float
    lost: int

    def at(self, raters: float) -> float:
        """The reliability that this many raters would have."""
        return float(_stepped(np.array(self.value), (raters - self.lost) / self.size))

    def needed(self, target: float) -> float:
        """Raters needed to reach a reliability; infinity where no number would do."""
        return raters_needed(self.value, target, self.size, self.lost)

    def needed_span(self, target: float) -> str:
        """The interval of the raters needed, in words, "" where even its near end is unknown."""
        least, most = (self.having(end).needed(target) for end in (self.high, self.low))
        if not math.isfinite(least):
            return ""
        return f"{least:.0f} to {most:.0f}" if math.isfinite(most) else f"{least:.0f} or more"

    def having(self, value: float) -> "Reliability":
        """The same panel with another reliability."""
        return replace(self, value=value)


def raters_needed(reliability: float, target: float, size: float, lost: int) -> float:
    """Raters at which a panel of length `size` with this reliability would reach the target."""
    if math.isnan(reliability):
        return math.nan
    if reliability <= 0:
        return math.inf
    if reliability >= 1:
        return 1.0 + lost
    ratio = target * (1 - reliability) / (reliability * (1 - target))
    return max(1.0 + lost, math.ceil(size * ratio - 1e-9) + lost)


def reliabilities(
    panel: RaterPanel, *, splits: int = 200, resamples: int = 1000, seed: int = 0
) -> tuple[dict[str, Reliability], dict[str, Reliability]]:
    """Reliabilities of means and of sigmas, each by level: within, overall, prompt.

    Within ranks the candidates of a prompt; overall takes all candidates; prompt the prompts'
    averages. Empty where most candidates have too few ratings to split. O(splits x ratings).
    """
    found: list[dict[str, Reliability]] = []
    for lost, split in ((0, mean_halves), (1, sigma_halves)):
        # Of one seed each, so that what one of them draws does not move the other.
        halves = split(panel, splits, np.random.default_rng([seed, lost]))
        draw = np.random.default_rng([seed, 2])
        found.append(
            {}
            if halves is None
            else {level: _reliability(halves, level, lost, resamples, draw) for level in LEVELS}
        )
    return found[0], found[1]


def gaussian_reliability(panel: RaterPanel, *, resamples: int = 1000, seed: int = 0) -> Reliability:
    """Within-prompt reliability of sigma if ratings were Gaussian about each candidate's mean.

    What sigmas vary beyond the chi distribution's noise, as a share of how they vary. It needs two
    ratings a candidate, not four; heavier tails than the Gaussian's make it too large. Raters'
    levels in a prompt are no noise of sigma: they are the same for all its candidates.
    """
    counts = panel.counts
    rows = counts >= 2
    fair, noise = gaussian_noise(panel)
    fair, noise, prompts = fair[rows], noise[rows], panel.prompts[rows]
    if not rows.any():
        return Reliability(math.nan, math.nan, math.nan, math.nan, math.nan, math.nan, 1)
    owner = np.unique(prompts, return_inverse=True)[1]
    size = np.bincount(owner)
    offset = fair - (np.bincount(owner, fair) / size)[owner]
    lost = noise * (1 - 1 / size[owner])
    sums = np.column_stack([np.bincount(owner, offset**2), np.bincount(owner, lost)])

    def value(drawn: Array) -> Array:
        seen, chance = (drawn @ sums).T
        return 1 - np.divide(chance, seen, out=np.full_like(seen, np.nan), where=seen > 0)

    low, high = _interval(value(_draws(size.size, resamples, np.random.default_rng([seed, 3]))))
    mean = float(value(np.ones((1, size.size)))[0])
    length = float(1 / np.mean(1 / (counts[rows] - 1)))
    return Reliability(mean, low, high, math.nan, math.nan, length, 1)


def gaussian_noise(panel: RaterPanel) -> tuple[Array, Array]:
    """Each candidate's sigma without its bias, and its variance under Gaussian noise, both (I,).

    With noise of variance e and raters' levels of variance d, the sampling variance of sigma goes
    from that of the chi distribution where d is 0 to e/(n - 1) where e is small against d.
    """
    counts = panel.counts
    chi = shrinkage_of_deviation(counts)
    sigma = deviations(panel.values)
    rest, levels = centred(panel)
    error = deviations(rest) ** 2
    if levels:
        size = np.bincount(panel.prompts)[panel.prompts]
        error = error * size / np.maximum(size - 1, 1)
    whole, all_error = np.nansum(sigma**2), np.nansum(error)
    part = min(float(all_error / whole), 1.0) if whole > 0 else 1.0
    bias = part * chi + (1 - part)
    noise = error * (part * (1 - chi**2) + (1 - part) / np.maximum(counts - 1, 1))
    return sigma / bias, noise / bias**2


def _reliability(
    halves: HalfSums, level: str, lost: int, resamples: int, generator: np.random.Generator
) -> Reliability:
    sums: Array = getattr(halves, level)
    ratio = halves.full / halves.half
    half = _correlation(np.ones((1, sums.shape[0])), sums)
    drawn = _correlation(_draws(sums.shape[0], resamples, generator), sums)
    low, high = _interval(_stepped(drawn, ratio))
    return Reliability(
        value=float(_stepped(half, ratio)[0]),
        low=low,
        high=high,
        half=float(half[0]),
        p_value=_flipped(sums[:, 2], resamples, generator) if level == "within" else math.nan,
        size=halves.full,
        lost=lost,
    )


def _correlation(weights: Array, sums: Array) -> Array:
    """Correlations of the halves, (draws,), each draw weighting the prompts; NaN if constant."""
    count, first, cross, square = (weights @ sums).T
    mean = first / count
    variance = square / count - mean**2
    varied = variance > _ROUNDING * square / count
    covariance = cross / count - mean**2
    return np.divide(covariance, variance, out=np.full_like(variance, np.nan), where=varied)


def _stepped(correlation: Array, ratio: float) -> Array:
    """Spearman-Brown for a panel `ratio` times as long; what is not positive stays as it is."""
    longer = ratio * correlation / np.maximum(1 + (ratio - 1) * correlation, 1e-300)
    return np.where(correlation > 0, longer, correlation)


def _draws(prompts: int, resamples: int, generator: np.random.Generator) -> Array:
    share = np.full(prompts, 1 / prompts)
    return generator.multinomial(prompts, share, size=resamples).astype(np.float64)


def _interval(values: Array) -> tuple[float, float]:
    """The middle 95 %, or NaN where the draws do not vary: with one prompt there is no interval."""
    values = values[~np.isnan(values)]
    if values.size < 2 or np.ptp(values) == 0:
        return math.nan, math.nan
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def _flipped(cross: Array, flips: int, generator: np.random.Generator) -> float:
    """How often random signs of the prompts' cross products give as large a sum."""
    if cross.size < 2 or not cross.any():
        return math.nan
    signs = generator.choice([-1.0, 1.0], size=(flips, cross.size))
    larger = int(np.sum(signs @ cross >= cross.sum() * (1 - 1e-12)))
    return (1 + larger) / (1 + flips)
