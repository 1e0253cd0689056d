"""Whether candidates differ in disagreement at all, and which of them divide the raters.

The null hypothesis is that all candidates of a prompt have the same noise. What is left of the
ratings without candidates' means and raters' levels is dealt out anew among the candidates of the
prompt (each rater's own among the candidates that this rater saw, where raters are known).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from darc.evaluation.diagnosis.panel import Panel, centred, deviations, rater_cells
from darc.typing import Array, Integers

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


def spread(panel: Panel, *, permutations: int = 500, seed: int = 0) -> Spread:
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
    panel: Panel, rest: Array, permutations: int, generator: np.random.Generator
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


def _cells(panel: Panel, item: Integers) -> Integers:
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
