"""How far another panel of raters would find the same means and sigmas."""

import math
from dataclasses import dataclass, replace

import numpy as np

from darc.analysis.diagnose.panel import RaterPanel, centred, offsets
from darc.decide.statistics import risk
from darc.decide.statistics.summary import c4
from darc.typing import Array, Integers

LEVELS = ("within", "overall", "prompt")
TARGETS = (0.5, 0.7)
# A few candidates that can be split do not speak for the others.
MOSTLY = 0.5
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
        if math.isnan(self.value):
            return math.nan
        if self.value <= 0:
            return math.inf
        ratio = target * (1 - self.value) / (self.value * (1 - target))
        return max(1, math.ceil(self.size * ratio - 1e-9)) + self.lost

    def needed_span(self, target: float) -> str:
        """The interval of the raters needed, in words, "" where even its near end is unknown."""
        ends = (replace(self, value=end) for end in (self.high, self.low))
        least, most = (end.needed(target) for end in ends)
        if not math.isfinite(least):
            return ""
        return f"{least:.0f} to {most:.0f}" if math.isfinite(most) else f"{least:.0f} or more"


def reliabilities(
    panel: RaterPanel, *, splits: int = 200, resamples: int = 1000, seed: int = 0
) -> tuple[dict[str, Reliability], dict[str, Reliability]]:
    """Reliabilities of means and of sigmas, each by level: within, overall, prompt.

    Within ranks the candidates of a prompt; overall takes all candidates; prompt the prompts'
    averages. Raters are halved anew for each prompt and alike for its candidates; sums a prompt are
    kept, which a bootstrap reweights. Empty where most candidates have too few ratings to split.
    O(splits x ratings).
    """
    found: list[dict[str, Reliability]] = [{}, {}]
    for lost, by_level in enumerate(found):
        halves = _halves(panel, lost, splits, seed)
        if halves is None:
            continue
        by_prompt, short, full = halves
        draw = np.random.default_rng([seed, 2])
        for level, sums in zip(LEVELS, by_prompt, strict=True):
            half = _correlation(np.ones((1, len(sums))), sums)
            drawn = _correlation(_draws(len(sums), resamples, draw), sums)
            by_level[level] = Reliability(
                float(_stepped(half, full / short)[0]),
                *_interval(_stepped(drawn, full / short)),
                float(half[0]),
                _flipped(sums[:, 2], resamples, draw) if level == "within" else math.nan,
                full,
                lost,
            )
    return found[0], found[1]


def _halves(
    panel: RaterPanel, lost: int, splits: int, seed: int
) -> tuple[Array, float, float] | None:
    """Halves of the candidates' means (lost 0), or sigmas without their bias at small n (lost 1).

    Sums (3, P, 4) by level and prompt of both halves: count, first, cross product, square; and the
    sizes that the noise goes down with, raters for a mean and degrees of freedom for a sigma, in a
    half and in the panel. None where most have below two ratings, or four: a half of three has no
    two to compare.
    """
    counts = panel.counts
    rows = np.nonzero(counts >= 2 + 2 * lost)[0]
    if rows.size < MOSTLY * counts.size:
        return None
    values, count, prompts = panel.values[rows], counts[rows], panel.prompts[rows]
    _, starts, owner, size = np.unique(
        prompts, return_index=True, return_inverse=True, return_counts=True
    )
    # Without names the places of a candidate's ratings are all there is to split.
    who = np.maximum(panel.raters[rows], 0) if panel.named else np.arange(values.shape[1])
    number = len(panel.rater_names) if panel.named else values.shape[1]
    keys, cells = np.unique(prompts[:, None] * number + who, return_inverse=True)
    # Of one seed each, so that what means draw does not move the sigmas.
    generator = np.random.default_rng([seed, lost])
    sums, inverse = np.zeros((len(LEVELS), size.size, 4)), 0.0
    for _ in range(splits):
        key = generator.random(keys.size)[cells.reshape(values.shape)]
        key[np.isnan(values)] = np.inf
        rank = np.argsort(np.argsort(key, axis=1), axis=1)
        upper = count // 2 + (count % 2) * generator.integers(0, 2, size.size)[owner]
        first = rank < upper[:, None]
        pair = []
        for mine, held in ((first, upper), (~first, count - upper)):
            half = np.where(mine, values, np.nan)
            pair.append(risk.sigma(half) / c4(held) if lost else np.nansum(half, axis=1) / held)
            inverse += float(np.mean(1 / (held - lost))) / 2
        sums += _sums(pair[0], pair[1], starts, size)
    return sums / splits, splits / inverse, float(1 / np.mean(1 / (count - lost)))


def _sums(one: Array, other: Array, starts: Integers, size: Integers) -> Array:
    """One split's sums of both halves, (3, P, 4).

    Within are the candidates about their prompt's mean, overall as they are; prompt has the means.
    """
    first, second = np.add.reduceat(one, starts), np.add.reduceat(other, starts)
    cross = np.add.reduceat(one * other, starts)
    square = np.add.reduceat(one**2 + other**2, starts) / 2
    middle = (first + second) / 2
    product, power = first * second / size, (first**2 + second**2) / size / 2
    within = [size, np.zeros(size.size), cross - product, square - power]
    overall = [size, middle, cross, square]
    prompt = [np.ones(size.size), middle / size, product / size, power / size]
    return np.array([within, overall, prompt]).transpose(0, 2, 1)


def gaussian_reliability(panel: RaterPanel, *, resamples: int = 1000, seed: int = 0) -> Reliability:
    """Within-prompt reliability of sigma if ratings were Gaussian about each candidate's mean.

    What sigmas vary beyond the chi distribution's noise, as a share of how they vary. It needs two
    ratings a candidate, not four; heavier tails than the Gaussian's make it too large. Raters'
    levels in a prompt are no noise of sigma: they are the same for all its candidates.
    """
    rows = panel.counts >= 2
    if not rows.any():
        return Reliability(math.nan, math.nan, math.nan, math.nan, math.nan, math.nan, 1)
    fair, noise = (each[rows] for each in gaussian_noise(panel))
    _, owner, size = np.unique(panel.prompts[rows], return_inverse=True, return_counts=True)
    lost = noise * (1 - 1 / size[owner])
    sums = np.array([np.bincount(owner, each) for each in (offsets(fair, owner) ** 2, lost)]).T

    def value(drawn: Array) -> Array:
        seen, chance = (drawn @ sums).T
        return 1 - np.divide(chance, seen, out=np.full_like(seen, np.nan), where=seen > 0)

    low, high = _interval(value(_draws(size.size, resamples, np.random.default_rng([seed, 3]))))
    mean = float(value(np.ones((1, size.size)))[0])
    length = float(1 / np.mean(1 / (panel.counts[rows] - 1)))
    return Reliability(mean, low, high, math.nan, math.nan, length, 1)


def gaussian_noise(panel: RaterPanel) -> tuple[Array, Array]:
    """Each candidate's sigma without its bias, and its variance under Gaussian noise, both (I,).

    With noise of variance e and raters' levels of variance d, the sampling variance of sigma goes
    from that of the chi distribution where d is 0 to e/(n - 1) where e is small against d.
    """
    counts, sigma = panel.counts, panel.sigmas()
    chi = c4(counts)
    rest, cell = centred(panel)
    error = risk.sigma(rest) ** 2
    if cell is not None:
        size = np.bincount(panel.prompts)[panel.prompts]
        error = error * size / np.maximum(size - 1, 1)
    whole = np.nansum(sigma**2)
    part = min(float(np.nansum(error) / whole), 1.0) if whole > 0 else 1.0
    bias = part * chi + (1 - part)
    noise = error * (part * (1 - chi**2) + (1 - part) / np.maximum(counts - 1, 1))
    return sigma / bias, noise / bias**2


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
