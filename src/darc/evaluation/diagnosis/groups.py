"""Given groups of raters: do they like different candidates, and where most.

Raters keep their ratings and exchange their group labels, so that what makes a rater one of a kind
(severity, noise, taste) is in the null hypothesis, and only what a group has in common is not.
"""

import math
from dataclasses import dataclass

import numpy as np

from darc.evaluation.diagnosis.panel import Panel
from darc.evaluation.diagnosis.raters import additive
from darc.typing import Array, Integers

UNKNOWN = ""


@dataclass(frozen=True)
class Contrast:
    """A candidate on which groups differ: their mean ratings, each rater's own level taken off."""

    prompt: str
    candidate: str
    means: dict[str, float]
    gap: float


@dataclass(frozen=True)
class Groups:
    """Groups of raters with the number of raters in each.

    `severity_p` is for groups that differ in their level, `taste_p` for groups that differ in which
    candidates they prefer; neither can be below `smallest_p`, since so few raters can be labelled
    in so few ways. `share` is how much of the residual variation the groups' tastes take, and
    `chance` how much random groups of these sizes take. `contrasts` are the widest gaps, one a
    prompt, in units of the gap's standard error under equal tastes.
    """

    sizes: dict[str, int]
    severity_p: float
    taste_p: float
    smallest_p: float
    share: float
    chance: float
    contrasts: tuple[Contrast, ...]


def compare_groups(
    panel: Panel, *, top: int = 5, permutations: int = 1000, seed: int = 0
) -> Groups | None:
    """The given groups compared, or None where there are not two of them.

    Raters without a group are left out. O(permutations x ratings).
    """
    if not panel.named:
        return None
    labels = [panel.groups.get(name, UNKNOWN) for name in panel.rater_names]
    names = sorted({label for label in labels if label != UNKNOWN})
    if len(names) < 2:
        return None
    code = np.array([names.index(one) if one != UNKNOWN else -1 for one in labels])
    item, rater, value = panel.flat()
    kept = code[rater] >= 0
    item, rater, value = item[kept], rater[kept], value[kept]
    members = np.nonzero(code >= 0)[0]
    rater, group = np.searchsorted(members, rater), code[members]
    item = np.unique(item, return_inverse=True)[1]
    rows = np.unique(np.nonzero(panel.present)[0][kept])
    level, rest = additive(item, rater, value)
    squares = float(rest @ rest)
    taste, severity = _between(item, rater, rest, group), _levels(level, group)
    generator = np.random.default_rng([seed, 5])
    seen: list[tuple[float, float]] = []
    for _ in range(permutations):
        mixed = generator.permutation(group)
        seen.append((_between(item, rater, rest, mixed), _levels(level, mixed)))
    null = np.array(seen)
    near = 1 - 1e-9
    sizes = np.bincount(group)
    return Groups(
        sizes={name: int(n) for name, n in zip(names, sizes, strict=True)},
        severity_p=float((1 + (null[:, 1] >= severity * near).sum()) / (1 + permutations)),
        taste_p=float((1 + (null[:, 0] >= taste * near).sum()) / (1 + permutations)),
        smallest_p=max(1 / _ways(sizes), 1 / (1 + permutations)),
        share=taste / squares if squares > 0 else math.nan,
        chance=float(null[:, 0].mean()) / squares if squares > 0 else math.nan,
        contrasts=_contrasts(panel, names, rows, (item, group[rater], value - level[rater]), top),
    )


def _between(item: Integers, rater: Integers, rest: Array, group: Integers) -> float:
    """Sum of squares of the groups' mean residuals on each candidate."""
    key = item * (int(group.max()) + 1) + group[rater]
    count = np.bincount(key)
    sums = np.bincount(key, rest)
    return float(np.sum(sums[count > 0] ** 2 / count[count > 0]))


def _levels(level: Array, group: Integers) -> float:
    """Sum of squares of the groups' mean levels, each as often as it has raters."""
    sums, count = np.bincount(group, level), np.bincount(group)
    return float(np.sum(sums[count > 0] ** 2 / count[count > 0]))


def _ways(sizes: Integers) -> float:
    """How many ways there are to give out the labels; groups of one size are interchangeable."""
    ways = math.lgamma(int(sizes.sum()) + 1) - sum(math.lgamma(int(n) + 1) for n in sizes)
    _, same = np.unique(sizes, return_counts=True)
    ways -= sum(math.lgamma(int(n) + 1) for n in same)
    return math.exp(min(ways, 600.0))


def _contrasts(
    panel: Panel,
    names: list[str],
    rows: Integers,
    ratings: tuple[Integers, Integers, Array],
    top: int,
) -> tuple[Contrast, ...]:
    """The candidate with the widest gap between two groups in each prompt, the widest first."""
    item, group, value = ratings
    width = len(names)
    key = item * width + group
    count = np.bincount(key, minlength=rows.size * width).reshape(-1, width)
    sums = np.bincount(key, value, rows.size * width).reshape(-1, width)
    known = count > 0
    means = np.divide(sums, count, out=np.full(sums.shape, np.nan), where=known)
    within = value - means.ravel()[key]
    freedom = max(value.size - int(known.sum()), 1)
    noise = math.sqrt(float(within @ within) / freedom)
    gaps = np.zeros(rows.size)
    for one in range(width):
        for other in range(one):
            both = known[:, one] & known[:, other]
            error = noise * np.sqrt(1 / count[both, one] + 1 / count[both, other])
            gap = np.abs(means[both, one] - means[both, other])
            scaled = np.divide(gap, error, out=np.zeros_like(gap), where=error > 0)
            gaps[both] = np.maximum(gaps[both], scaled)
    found: list[Contrast] = []
    taken: set[int] = set()
    for i in np.lexsort((panel.lots[rows], -gaps)):
        prompt = int(panel.prompts[rows[i]])
        if gaps[i] <= 0 or len(found) == top:
            break
        if prompt in taken:
            continue
        taken.add(prompt)
        averages = {names[g]: float(means[i, g]) for g in range(width) if known[i, g]}
        found.append(
            Contrast(
                panel.prompt_names[prompt],
                panel.candidate_names[rows[i]],
                averages,
                float(gaps[i]),
            )
        )
    return tuple(found)
