"""Two kinds of raters that nobody named: what pairs of raters share beyond the consensus.

Within prompts, raters' ratings of the same candidates correlate because some candidates are better.
A common factor (Thurstone's centroid) takes that off; the leading component of what remains between
pairs, never a rater with himself, divides the raters by its signs. Noise has a leading component
too, so it is compared with the same remainders under a random sign a prompt: that keeps how noisy
each rater and how disputed each prompt is, and only what returns over prompts stands out.
"""

import math
from dataclasses import dataclass

import numpy as np

from darc.evaluation.diagnosis.panel import Panel
from darc.typing import Array

FEWEST_RATERS = 4
FEWEST_PROMPTS = 10
FEWEST_SHARED = 20
MOST_RATERS = 60
MOST_CELLS = 20_000_000
_SWEEPS = 30


@dataclass(frozen=True)
class Latent:
    """Two latent groups, or why they were not looked for.

    `first` and `second` are the raters by the sign of the leading component, the smaller group
    first; `strength` is its eigenvalue in units of the raters' own variance, `chance` that under
    random signs, and `p_value` how often random signs give as large a one. A `reason` says why
    nothing was looked for.
    """

    first: tuple[str, ...] = ()
    second: tuple[str, ...] = ()
    strength: float = math.nan
    chance: float = math.nan
    p_value: float = math.nan
    reason: str = ""


def latent_groups(panel: Panel, *, permutations: int = 500, seed: int = 0) -> Latent:
    """The two groups into which the raters fall most, with how likely noise is to do so.

    O(prompts x raters^2) a permutation, (candidates x raters^2) once.
    """
    reason = _refusal(panel)
    if reason:
        return Latent(reason=reason)
    products, shared = _products(panel)
    varied = np.einsum("pjj->j", products) > 0
    names = [name for name, one in zip(panel.rater_names, varied, strict=True) if one]
    if len(names) < FEWEST_RATERS:
        return Latent(reason=f"fewer than {FEWEST_RATERS} raters tell candidates apart")
    products, shared = (each[:, varied][:, :, varied] for each in (products, shared))
    freedom = shared.sum(axis=0)
    pairs = freedom[np.triu_indices(freedom.shape[0], 1)]
    if np.mean(pairs >= FEWEST_SHARED) < 0.9:
        return Latent(
            reason=f"most pairs of raters share fewer than {FEWEST_SHARED} comparable candidates"
        )
    variance = np.diag(products.sum(axis=0)) / np.maximum(np.diag(freedom), 1)
    scale = np.sqrt(np.outer(variance, variance)) * np.maximum(freedom, 1)
    products = products / scale
    loading = _consensus(products.sum(axis=0))
    model = np.outer(loading, loading)
    left = products - shared / np.maximum(freedom, 1) * model
    strength, component = _leading(left.sum(axis=0))
    generator = np.random.default_rng([seed, 6])
    null = np.empty(permutations)
    rows = left.reshape(left.shape[0], -1)
    for i in range(permutations):
        signs = generator.integers(0, 2, rows.shape[0]) * 2.0 - 1.0
        drawn = model + (signs @ rows).reshape(model.shape)
        again = _consensus(drawn)
        null[i] = _leading(drawn - np.outer(again, again))[0]
    one = tuple(n for n, c in zip(names, component, strict=True) if c < 0)
    other = tuple(n for n, c in zip(names, component, strict=True) if c >= 0)
    first, second = (one, other) if len(one) <= len(other) else (other, one)
    p_value = (1 + int((null >= strength * (1 - 1e-12)).sum())) / (1 + permutations)
    return Latent(first, second, strength, float(null.mean()), p_value)


def _refusal(panel: Panel) -> str:
    """Why latent groups cannot be looked for, or nothing."""
    raters, prompts = len(panel.rater_names), len(panel.prompt_names)
    if not panel.named:
        return "the raters are not known by name"
    if raters < FEWEST_RATERS:
        return f"it takes {FEWEST_RATERS} raters, and there are {raters}"
    if prompts < FEWEST_PROMPTS:
        return f"it takes {FEWEST_PROMPTS} prompts, and there are {prompts}"
    if raters > MOST_RATERS or prompts * raters**2 > MOST_CELLS:
        return f"there are more than {MOST_RATERS} raters, or too many prompts for every pair"
    return ""


def _products(panel: Panel) -> tuple[Array, Array]:
    """Sums of products of each two raters about their means in a prompt, and degrees of freedom.

    Both (P, raters, raters); only candidates that both have rated count.
    """
    item, rater, value = panel.flat()
    raters = len(panel.rater_names)
    middle = value - np.mean(value)
    ends = np.append(panel.starts, panel.counts.size)
    sums = np.zeros((len(panel.prompt_names), raters, raters))
    freedom = np.zeros_like(sums)
    limits = np.searchsorted(item, ends)
    for p in range(sums.shape[0]):
        part = slice(limits[p], limits[p + 1])
        table = np.zeros((ends[p + 1] - ends[p], raters))
        known = np.zeros_like(table)
        table[item[part] - ends[p], rater[part]] = middle[part]
        known[item[part] - ends[p], rater[part]] = 1.0
        both = known.T @ known
        mine = table.T @ known
        sums[p] = table.T @ table - mine * mine.T / np.maximum(both, 1.0)
        freedom[p] = np.maximum(both - 1.0, 0.0)
    return sums, freedom


def _consensus(pairs: Array) -> Array:
    """Loadings of the common factor of a matrix whose diagonal is not looked at."""
    table = pairs.copy()
    own = np.zeros(table.shape[0])
    for _ in range(_SWEEPS):
        np.fill_diagonal(table, own)
        row = table.sum(axis=1)
        whole = float(row.sum())
        if whole <= 0:
            return np.zeros(own.size)
        own = np.minimum(row**2 / whole, 1.0)
    return row / math.sqrt(whole)


def _leading(pairs: Array) -> tuple[float, Array]:
    """Largest eigenvalue and its vector of a matrix whose diagonal counts as 0."""
    table = pairs.copy()
    np.fill_diagonal(table, 0.0)
    values, vectors = np.linalg.eigh(table)
    return float(values[-1]), vectors[:, -1]
