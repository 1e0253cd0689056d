"""Where the variance of ratings is, and whether candidates differ in disagreement at all."""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from darc.analysis.diagnose.panel import RaterPanel, centred, offsets
from darc.decide.statistics import risk
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
    """The components of the ratings' variance, in a fixed order, the residual last.

    By the moments of Henderson's first method: the sum of squares within each factor's levels is
    set equal to its expectation. Unbiased for any design; O(ratings) a pair of factors.
    """
    factors = _factors(panel)
    _, _, value = panel.flat()
    value = value - value.mean()
    total = float(value @ value)
    names = [*factors, "residual"]
    matrix = _expectations(list(factors.values()), value.size)
    between = [np.bincount(each, value) ** 2 / np.bincount(each) for each in factors.values()]
    sums = total - np.array([*(each.sum() for each in between), 0.0])
    kept = [len(factors)]
    for one in range(len(factors)):
        # Factors whose equations have no one good solution cannot be told apart.
        part = matrix[np.ix_([one, *kept], [one, *kept])]
        scale = np.linalg.norm(part, axis=0)
        if (scale > 0).all() and np.linalg.cond(part / scale) < _CONDITION:
            kept.append(one)
    estimates = np.full(len(names), np.nan)
    if total > 0:
        estimates[kept] = np.linalg.solve(matrix[np.ix_(kept, kept)], sums[kept])
    seen = np.maximum(estimates, 0.0)
    shares = seen / (np.nansum(seen) or np.nan)
    rows = zip(names, estimates.tolist(), shares.tolist(), strict=True)
    return [Component(name, MEANINGS[name], estimate, share) for name, estimate, share in rows]


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


def _expectations(levels: list[Integers], ratings: int) -> Array:
    """Expected sum of squares within each factor's levels, and in all, a unit of each component.

    Row f, column g is N - sum over levels l of f of (sum over levels m of g of n_lm^2) / n_l.
    """
    sizes = [np.bincount(level).astype(np.float64) for level in levels]
    matrix = np.zeros((len(levels) + 1, len(levels) + 1))
    matrix[:-1, -1] = [ratings - size.size for size in sizes]
    matrix[-1] = [*(ratings - float(size @ size) / ratings for size in sizes), ratings - 1.0]
    for f, g in combinations(range(len(levels)), 2):
        keys = levels[f] * sizes[g].size + levels[g]
        cells, count = np.unique(keys, return_counts=True)
        one, other = np.divmod(cells, sizes[g].size)
        matrix[f, g] = ratings - np.sum(count**2 / sizes[f][one])
        matrix[g, f] = ratings - np.sum(count**2 / sizes[g][other])
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

    What means and raters' levels leave of the ratings is dealt out anew among the candidates of a
    prompt, each rater's own among those that this rater saw. O(permutations x ratings log ratings).
    """
    present, prompts, counts = panel.present, panel.prompts, panel.counts
    flat = panel.values[present]
    low = max(float(flat.mean() - flat.std()), float(flat.min()))
    high = min(float(flat.mean() + flat.std()), float(flat.max()))
    shares = _divided(panel.values, low, high)
    divided = tuple(int(i) for i in np.lexsort((panel.lots, -shares)) if shares[i] >= DIVIDED)
    rest, cell = centred(panel)
    observed = _statistic(rest, prompts)
    if math.isnan(observed):
        return Spread(math.nan, divided, math.nan, low, high)
    cell = prompts[np.nonzero(present)[0]] if cell is None else cell
    # Residuals of n ratings are short of the noise by this much.
    left = (rest * np.sqrt(counts / np.maximum(counts - 1, 1))[:, None])[present]
    place = np.argsort(cell, kind="stable")
    means, generator = panel.means()[:, None], np.random.default_rng([seed, 4])
    larger = by_chance = 0
    dealt = np.full(rest.shape, np.nan)
    for _ in range(permutations):
        moved = np.empty_like(left)
        moved[place] = left[np.lexsort((generator.random(left.size), cell))]
        dealt[present] = moved
        larger += _statistic(dealt, prompts) >= observed * (1 - 1e-12)
        by_chance += int((_divided(means + dealt, low, high) >= DIVIDED).sum())
    judged = bool((counts >= LEAST).any()) and low < high
    expected = by_chance / permutations if judged else math.nan
    return Spread((1 + larger) / (1 + permutations), divided, expected, low, high)


def _statistic(rest: Array, prompts: Integers) -> float:
    """Variation of sigma within prompts against its size; NaN where there is none to compare."""
    sigma = risk.sigma(rest)
    known = ~np.isnan(sigma)
    sigma, owner = sigma[known], prompts[known]
    whole = float(np.sum(sigma**2))
    if np.bincount(owner, minlength=1).max() < 2 or whole <= 0:
        return math.nan
    return float(np.sum(offsets(sigma, owner) ** 2)) / whole


def _divided(values: Array, low: float, high: float) -> Array:
    """Share of each candidate's ratings in the emptier of the two tails, (I,); few count as 0."""
    count = (~np.isnan(values)).sum(axis=1)
    if not low < high:
        return np.zeros(count.size)
    below, above = (values <= low).sum(axis=1), (values >= high).sum(axis=1)
    share = np.minimum(below, above) / np.maximum(count, 1)
    return np.where(count >= LEAST, share, 0.0)
