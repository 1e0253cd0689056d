"""What raters have in common across candidates: severity, and noise that candidates share.

A rating is named by its cell (a candidate of a prompt) and its rater, both numbered from 0 on; a
rater of -1 is not known.
"""

from dataclasses import dataclass

import numpy as np

from darc.typing import Array, Integers

# How often cells and raters are fitted in turn.
ROUNDS = 5
# How often the means of cells and of (prompt, rater) are removed in turn.
SHARED_ROUNDS = 6
# Fewer degrees of freedom, or ratings, are not enough to estimate anything.
FEWEST_DF = 10
FEWEST_RATINGS = 30
# The least share of noise that blurs comparisons.
LEAST_SHARED = 0.02


@dataclass(frozen=True, eq=False)
class Severity:
    """How far above the others each rater rates."""

    #: The offset of each rater, (R,).
    offset: Array
    #: Its standard error, (R,).
    error: Array


def severity(ratings: Array, cell: Integers, rater: Integers, raters: int) -> Severity:
    """Estimate the raters' severity by backfitting, shrunk by how much it varies.

    A rating is its cell plus its rater's offset plus noise.

    Args:
        ratings: The ratings, (N,).
        cell: The cell of each rating, (N,).
        rater: The rater of each rating, (N,); -1 if not known.
        raters: The number of raters.

    Returns:
        The severity, zero where the raters have fewer than `FEWEST_DF` degrees of freedom.
    """
    size = np.bincount(cell)
    has_rater = rater >= 0
    # In a cell of n ratings a rater shows 1 - 1/n of a rating's worth, being part of its mean.
    shown_share = np.where((size[cell] > 1) & has_rater, 1 - 1 / np.maximum(size[cell], 2), 0.0)
    used = shown_share > 0
    code = np.maximum(rater, 0)
    evidence = np.bincount(code, shown_share, raters)
    offset = np.zeros(raters)
    error = np.zeros(raters)
    df = used.sum() - np.unique(cell[used]).size - raters
    if df < FEWEST_DF:
        return Severity(offset, error)
    weights = np.maximum(evidence, 1e-9)
    used_count = np.maximum(np.bincount(code, used, raters), 1)
    for _ in range(ROUNDS):
        rating_offset = np.where(has_rater, offset[code], 0.0)
        level = (np.bincount(cell, ratings - rating_offset) / np.maximum(size, 1))[cell]
        above = np.where(used, ratings - level, 0.0)
        raw_offset = np.bincount(code, above, raters) / used_count
        noise = (np.where(used, above - rating_offset, 0.0) ** 2).sum() / df
        chance = noise * (evidence > 0).sum() / max(evidence.sum(), 1e-9)
        variance = max(0.0, float(np.average(raw_offset**2, weights=evidence + 1e-12)) - chance)
        shrinkage = np.zeros(raters)
        if variance > 0:
            shrinkage = variance / (variance + noise / weights)
        offset = raw_offset * shrinkage
        offset -= np.average(offset, weights=np.bincount(code[has_rater], minlength=raters))
        error = np.sqrt(variance * (1 - shrinkage))
    return Severity(offset, error)


def shared_noise(ratings: Array, cell: Integers, prompt: Integers, rater: Integers) -> float:
    """Estimate the share of a rating's noise that blurs comparisons within a prompt.

    Raters who judge several candidates of a prompt move them all alike. The share is the variance
    left after cells and (prompt, rater) means, over that left after cells alone.

    Args:
        ratings: The ratings, (N,).
        cell: The cell of each rating, (N,).
        prompt: The prompt of each rating, (N,).
        rater: The rater of each rating, (N,); -1 if not known.

    Returns:
        From `LEAST_SHARED` to 1; 1 where raters are not shared within prompts.
    """
    pair = np.unique(prompt * (rater.max(initial=0) + 2) + rater + 1, return_inverse=True)[1]
    # Of those who rate twice in a prompt, what shares a cell with another such rating.
    usable = (rater >= 0) & (np.bincount(pair)[pair] > 1)
    usable[usable] = np.bincount(cell[usable])[cell[usable]] > 1
    if usable.sum() < FEWEST_RATINGS:
        return 1.0
    cells = np.unique(cell[usable], return_inverse=True)[1]
    pairs = np.unique(pair[usable], return_inverse=True)[1]
    residuals = _centred(ratings[usable], cells)
    size = residuals.size
    cell_variance = (residuals**2).sum() / max(size - cells.max() - 1, 1)
    for _ in range(SHARED_ROUNDS):
        residuals = _centred(_centred(residuals, pairs), cells)
    df = size - (cells.max() + 1) - (pairs.max() + 1) + np.unique(prompt[usable]).size
    if df < FEWEST_DF or cell_variance <= 0:
        return 1.0
    return float(np.clip((residuals**2).sum() / df / cell_variance, LEAST_SHARED, 1.0))


def inflation(
    residuals: Array, rater: Integers, system: Integers, systems: int, variance: Array
) -> float:
    """Estimate how much noisier systems' means are than their cells say, by shared raters.

    Args:
        residuals: Ratings less their prompt and system, (N,).
        rater: The rater of each rating, (N,).
        system: The system of each rating, (N,).
        systems: The number of systems.
        variance: That of a system's mean if cells were independent, (systems,), NaN where a system
            has no cells.

    Returns:
        A factor of at least 1.
    """
    raters = int(rater.max(initial=0)) + 1
    ratings_of_rater = np.bincount(rater, minlength=raters)
    # What a rater adds to every system alike does not matter.
    offset = np.bincount(rater, residuals, raters) / np.maximum(ratings_of_rater, 1)
    key = system * raters + rater
    shape = (systems, raters)
    total = np.bincount(key, residuals - offset[rater], systems * raters).reshape(shape)
    count = np.bincount(key, minlength=systems * raters).reshape(shape)
    clusters = (count > 0).sum(axis=1)
    usable = (clusters > 1) & ~np.isnan(variance)
    if not usable.any():
        return 1.0
    clustered = (total**2).sum(axis=1)[usable] / count.sum(axis=1)[usable] ** 2
    clustered *= clusters[usable] / (clusters[usable] - 1)
    return float(max(1.0, clustered.mean() / variance[usable].mean()))


def _centred(values: Array, group: Integers) -> Array:
    """Values less the mean of their group."""
    means = np.bincount(group, values) / np.bincount(group)
    return np.asarray(values - means[group])
