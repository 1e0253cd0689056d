"""What raters have in common across candidates: severity, and noise that candidates share.

A rating is named by its cell (a candidate of a prompt) and its rater, both numbered from 0 on; a
rater of -1 is not known.
"""

from dataclasses import dataclass

import numpy as np

from darc.typing import Array, Integers

ROUNDS = 5
SHARED_ROUNDS = 6
FEWEST_DF = 10
FEWEST_RATINGS = 30
LEAST_SHARED = 0.02


@dataclass(frozen=True, eq=False)
class Severity:
    """How far above the others each rater rates, (R,), and the standard error of that."""

    offset: Array
    error: Array


def severity(ratings: Array, cell: Integers, rater: Integers, raters: int) -> Severity:
    """The raters' `Severity` from ratings (N,) that share cells, shrunk by how much it varies.

    Backfitting: a rating is its cell plus its rater's offset plus noise. Zero where the raters have
    fewer than 10 degrees of freedom between them.
    """
    size = np.bincount(cell)
    known = rater >= 0
    # In a cell of n ratings a rater shows 1 - 1/n of a rating's worth: he is part of its mean.
    shown = np.where((size[cell] > 1) & known, 1 - 1 / np.maximum(size[cell], 2), 0.0)
    used, who = shown > 0, np.maximum(rater, 0)
    evidence = np.bincount(who, shown, raters)
    offset, error = np.zeros(raters), np.zeros(raters)
    df = used.sum() - np.unique(cell[used]).size - raters
    if df < FEWEST_DF:
        return Severity(offset, error)
    weights = np.maximum(evidence, 1e-9)
    times = np.maximum(np.bincount(who, used, raters), 1)
    for _ in range(ROUNDS):
        own = np.where(known, offset[who], 0.0)
        level = (np.bincount(cell, ratings - own) / np.maximum(size, 1))[cell]
        above = np.where(used, ratings - level, 0.0)
        raw = np.bincount(who, above, raters) / times
        noise = (np.where(used, above - own, 0.0) ** 2).sum() / df
        chance = noise * (evidence > 0).sum() / max(evidence.sum(), 1e-9)
        variance = max(0.0, float(np.average(raw**2, weights=evidence + 1e-12)) - chance)
        shrink = variance / (variance + noise / weights) if variance > 0 else np.zeros(raters)
        offset = raw * shrink
        offset -= np.average(offset, weights=np.bincount(who[known], minlength=raters))
        error = np.sqrt(variance * (1 - shrink))
    return Severity(offset, error)


def shared_noise(ratings: Array, cell: Integers, prompt: Integers, rater: Integers) -> float:
    """The share of a rating's noise that blurs comparisons within a prompt, from 0.02 to 1.

    Raters who judge several candidates of a prompt move them all alike. It is the variance left
    after cells and (prompt, rater) means, over that left after cells alone; 1 where raters are not
    shared within prompts.
    """
    pair = np.unique(prompt * (rater.max(initial=0) + 2) + rater + 1, return_inverse=True)[1]
    # Of those who rate twice in a prompt, what shares a cell with another such rating.
    kept = (rater >= 0) & (np.bincount(pair)[pair] > 1)
    kept[kept] = np.bincount(cell[kept])[cell[kept]] > 1
    if kept.sum() < FEWEST_RATINGS:
        return 1.0
    cells = np.unique(cell[kept], return_inverse=True)[1]
    pairs = np.unique(pair[kept], return_inverse=True)[1]
    left = _centred(ratings[kept], cells)
    plain = (left**2).sum() / max(left.size - cells.max() - 1, 1)
    for _ in range(SHARED_ROUNDS):
        left = _centred(_centred(left, pairs), cells)
    df = left.size - (cells.max() + 1) - (pairs.max() + 1) + np.unique(prompt[kept]).size
    if df < FEWEST_DF or plain <= 0:
        return 1.0
    return float(np.clip((left**2).sum() / df / plain, LEAST_SHARED, 1.0))


def inflation(
    left: Array, rater: Integers, system: Integers, systems: int, variance: Array
) -> float:
    """How much noisier a system's mean is than its cells say, as the same raters gave them; >= 1.

    `left` (N,) are ratings less their prompt and system; `variance` (systems,) is that of a
    system's mean if cells were independent, NaN where it has none.
    """
    raters = int(rater.max(initial=0)) + 1
    # What a rater adds to every system alike does not matter.
    own = np.bincount(rater, left, raters) / np.maximum(np.bincount(rater, minlength=raters), 1)
    key = system * raters + rater
    total = np.bincount(key, left - own[rater], systems * raters).reshape(systems, raters)
    times = np.bincount(key, minlength=systems * raters).reshape(systems, raters)
    clusters = (times > 0).sum(axis=1)
    good = (clusters > 1) & ~np.isnan(variance)
    if not good.any():
        return 1.0
    clustered = (total**2).sum(1)[good] / times.sum(1)[good] ** 2
    clustered *= clusters[good] / (clusters[good] - 1)
    return float(max(1.0, clustered.mean() / variance[good].mean()))


def _centred(values: Array, group: Integers) -> Array:
    """Values less the mean of their group."""
    return np.asarray(values - (np.bincount(group, values) / np.bincount(group))[group])
