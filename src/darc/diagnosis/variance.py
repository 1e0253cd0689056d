"""Where the variance of ratings is, and whether candidates differ in disagreement at all.

A rating is a sum of independent random effects. For each factor the sum of squares within its
levels is set equal to its expectation, which for any design, balanced or not, is a linear function
of the components with coefficients that only count ratings (the moments of Henderson's first
method). So the estimates are unbiased without an assumption on shapes, and cost O(ratings) a pair
of factors. A negative estimate says that nothing of the kind is seen, and counts as 0.

The test of equal sigmas deals out anew, among the candidates of a prompt (each rater's own among
those that this rater saw), what candidates' means and raters' levels leave of the ratings.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from darc.diagnosis.panel import RaterPanel, centred, deviations, rater_cells
from darc.typing import Array, Integers

# A set of factors whose equations are worse conditioned than this cannot be told apart.
_CONDITION = 1e5
MEANINGS = {
    "prompt": "between prompts",
    "candidate": "between candidates of a prompt",
    "name": "between names, over all prompts",
    "rater": "between raters (severity)",
    "prompt x rater": "a rater's own level in a prompt",
    "name x rater": "a rater's liking for one system",
    "residual": "one rater on one candidate, and noise",
}


@dataclass(frozen=True)
class Component:
    """One source of variance: its estimate (raw, may be negative) and its share of all, in [0, 1].

    A component that the design cannot tell from another has NaN for both.
    """

    name: str
    meaning: str
    variance: float
    share: float


def variance_components(panel: RaterPanel) -> list[Component]:
    """The components of the ratings' variance, in a fixed order, the residual last."""
    factors = _factors(panel)
    _, _, value = panel.flat()
    value = value - value.mean()
    total = float(value @ value)
    names = list(factors)
    matrix = _expectations(list(factors.values()), value.size)
    sums = np.array([total - _between(level, value) for level in factors.values()] + [total])
    kept: list[int] = []
    for one in range(len(names)):
        if _sound(matrix, [*kept, one]):
            kept.append(one)
    estimates = dict.fromkeys([*names, "residual"], float("nan"))
    if total > 0:
        rows = [*kept, len(names)]
        found = np.linalg.solve(matrix[np.ix_(rows, rows)], sums[rows])
        estimates.update(zip([*(names[one] for one in kept), "residual"], found, strict=True))
    positive = sum(max(one, 0.0) for one in estimates.values() if one == one)
    return [
        Component(
            name,
            MEANINGS[name],
            float(estimate),
            max(estimate, 0.0) / positive if positive > 0 and estimate == estimate else np.nan,
        )
        for name, estimate in estimates.items()
    ]


def _factors(panel: RaterPanel) -> dict[str, Integers]:
    """The level of each rating, by factor; factors that cannot matter are left out."""
    item, rater, _ = panel.flat()
    prompt = panel.prompts[item]
    factors = {"prompt": prompt, "candidate": item}
    called = np.asarray(panel.systems or panel.candidate_names, dtype=np.str_)
    names, code = np.unique(called, return_inverse=True)
    recurring = names.size <= len(panel.candidate_names) / 2
    if recurring:
        factors["name"] = code[item]
    if panel.named:
        raters = len(panel.rater_names)
        factors["rater"] = rater
        factors["prompt x rater"] = prompt * raters + rater
        if recurring:
            factors["name x rater"] = code[item] * raters + rater
    return {name: np.unique(level, return_inverse=True)[1] for name, level in factors.items()}


def _between(level: Integers, value: Array) -> float:
    """Sum of squares of the levels' means, each as often as it has ratings."""
    return float(np.sum(np.bincount(level, value) ** 2 / np.bincount(level)))


def _sound(matrix: Array, kept: list[int]) -> bool:
    """Whether the equations of these factors and the residual have one good solution."""
    rows = [*kept, matrix.shape[0] - 1]
    part = matrix[np.ix_(rows, rows)]
    scale = np.linalg.norm(part, axis=0)
    return bool((scale > 0).all() and np.linalg.cond(part / scale) < _CONDITION)


def _expectations(levels: list[Integers], ratings: int) -> Array:
    """Expected sum of squares within each factor's levels, and in all, a unit of each component.

    Row f, column g is N - sum over levels l of f of (sum over levels m of g of n_lm^2) / n_l.
    """
    everyone = np.zeros(ratings, dtype=np.int64)
    rows = [*levels, everyone]
    columns = [*levels, np.arange(ratings)]
    matrix = np.empty((len(rows), len(columns)))
    for f, row in enumerate(rows):
        size = np.bincount(row)
        for g, column in enumerate(columns):
            keys = row * (int(column.max()) + 1) + column
            cells, count = np.unique(keys, return_counts=True)
            group = cells // (int(column.max()) + 1)
            matrix[f, g] = ratings - np.sum(count.astype(np.float64) ** 2 / size[group])
    return matrix


# A candidate divides the raters when at least this share of its ratings is in each of two tails,
# which begin a standard deviation of all ratings away from their mean, or at the ends of the scale.
DIVIDED = 0.3
LEAST = 5


@dataclass(frozen=True)
class Spread:
    """Do sigmas differ within prompts beyond chance; which candidates are in both tails.

    `p_value` is the permutation's; tails heavier than the Gaussian's make it too small at few
    ratings a candidate. `polarising` are the candidates with enough in both tails, the most divided
    first; `expected` is how many of them the same noise for all would make, NaN with too few
    ratings; `low` and `high` are where the tails begin.
    """

    p_value: float
    polarising: tuple[int, ...]
    expected: float
    low: float
    high: float


def equal_sigmas(panel: RaterPanel, *, permutations: int = 500, seed: int = 0) -> Spread:
    """The test of equal sigmas, and the candidates that divide the raters.

    O(permutations x ratings log ratings).
    """
    flat = panel.values[panel.present]
    low = max(float(flat.mean() - flat.std()), float(flat.min()))
    high = min(float(flat.mean() + flat.std()), float(flat.max()))
    shares = _divided(panel.values, low, high)
    polarising = [int(i) for i in np.lexsort((panel.lots, -shares)) if shares[i] >= DIVIDED]
    counts = panel.counts
    rest, _ = centred(panel)
    observed = _statistic(deviations(rest), panel.prompts)
    if math.isnan(observed):
        return Spread(math.nan, tuple(polarising), math.nan, low, high)
    means = panel.means()[:, None]
    # Residuals of n ratings are short of the noise by this much.
    wide = np.sqrt(counts / np.maximum(counts - 1, 1))[:, None]
    larger, divided, made = 0, 0, 0
    for dealt in _dealt(panel, rest * wide, permutations, np.random.default_rng([seed, 4])):
        made += 1
        larger += _statistic(deviations(dealt), panel.prompts) >= observed * (1 - 1e-12)
        divided += int((_divided(means + dealt, low, high) >= DIVIDED).sum())
    judged = bool((counts >= LEAST).any()) and low < high
    expected = divided / made if judged else math.nan
    return Spread((1 + larger) / (1 + made), tuple(polarising), expected, low, high)


def _dealt(
    panel: RaterPanel, rest: Array, permutations: int, generator: np.random.Generator
) -> Iterator[Array]:
    """The residuals dealt out anew, (I, n), once a permutation."""
    item, _, _ = panel.flat()
    cell = _cells(panel, item)
    flat = rest[panel.present]
    place = np.argsort(cell, kind="stable")
    for _ in range(permutations):
        order = np.lexsort((generator.random(flat.size), cell))
        dealt = np.full(rest.shape, np.nan)
        moved = np.empty_like(flat)
        moved[place] = flat[order]
        dealt[panel.present] = moved
        yield dealt


def _cells(panel: RaterPanel, item: Integers) -> Integers:
    cell = rater_cells(panel)
    if cell is None or (np.bincount(cell) < 2).any():
        return panel.prompts[item]
    return cell


def _statistic(sigma: Array, prompts: Integers) -> float:
    """Variation of sigma within prompts against its size; NaN where there is none to compare."""
    known = ~np.isnan(sigma)
    sigma, owner = sigma[known], np.unique(prompts[known], return_inverse=True)[1]
    size = np.bincount(owner)
    whole = float(np.sum(sigma**2))
    if not known.any() or size.max() < 2 or whole <= 0:
        return math.nan
    offset = sigma - (np.bincount(owner, sigma) / size)[owner]
    return float(np.sum(offset**2)) / whole


def _divided(values: Array, low: float, high: float) -> Array:
    """Share of each candidate's ratings in the emptier of the two tails, (I,); few count as 0."""
    count = (~np.isnan(values)).sum(axis=1)
    if not low < high:
        return np.zeros(count.size)
    below, above = (values <= low).sum(axis=1), (values >= high).sum(axis=1)
    share = np.minimum(below, above) / np.maximum(count, 1)
    return np.where(count >= LEAST, share, 0.0)
