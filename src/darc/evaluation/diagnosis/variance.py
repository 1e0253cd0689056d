"""How much of the variance of ratings is between prompts, candidates and raters.

A rating is a sum of independent random effects. For each factor the sum of squares within its
levels is set equal to its expectation, which for any design, balanced or not, is a linear function
of the components with coefficients that only count ratings (the moments of Henderson's first
method). So the estimates are unbiased without an assumption on shapes, and cost O(ratings) a pair
of factors. A negative estimate says that nothing of the kind is seen, and counts as 0.
"""

from dataclasses import dataclass

import numpy as np

from darc.evaluation.diagnosis.panel import Panel
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


def variance_components(panel: Panel) -> list[Component]:
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


def _factors(panel: Panel) -> dict[str, Integers]:
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
