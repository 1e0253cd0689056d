"""Sums over random halves of the raters, from which every split-half correlation follows.

Raters are split anew for each prompt, the same way for all its candidates, so what a rater does in
one half is never seen in the other. A statistic (mean, sigma) is computed in both halves; only its
sums a prompt, averaged over the splits, are kept, so that a bootstrap over prompts reweights them.
"""

from dataclasses import dataclass

import numpy as np

from darc.evaluation.diagnosis.panel import Panel, deviations, shrinkage_of_deviation
from darc.typing import Array, Integers

LEVELS = ("within", "overall", "prompt")
# A few candidates that can be split do not speak for the others.
MOSTLY = 0.5


@dataclass(frozen=True, eq=False)
class Halves:
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


def mean_halves(panel: Panel, splits: int, generator: np.random.Generator) -> Halves | None:
    """Halves of the candidates' means; None where most have one rating."""
    return _halves(panel, 2, 0, splits, generator)


def sigma_halves(panel: Panel, splits: int, generator: np.random.Generator) -> Halves | None:
    """Halves of the candidates' sigmas, freed of their bias at small n.

    None where most have below four ratings: a half of three has no two to compare.
    """
    return _halves(panel, 4, 1, splits, generator)


def _halves(
    panel: Panel, least: int, lost: int, splits: int, generator: np.random.Generator
) -> Halves | None:
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
    return Halves(
        sums["within"],
        sums["overall"],
        sums["prompt"],
        half=splits / inverse,
        full=float(1 / np.mean(1 / (count - lost))),
    )


def _cells(panel: Panel, rows: Integers) -> tuple[Integers, int]:
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
