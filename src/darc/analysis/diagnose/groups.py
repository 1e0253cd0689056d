"""Given groups of raters compared, and kinds of raters that nobody named."""

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from darc.analysis.diagnose.panel import RaterPanel, additive
from darc.typing import Array, Integers

FEWEST_RATERS = 4
FEWEST_PROMPTS = 10
FEWEST_SHARED = 20
MOST_RATERS = 60
MOST_CELLS = 20_000_000
_SWEEPS = 30


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
    panel: RaterPanel, *, top: int = 5, permutations: int = 1000, seed: int = 0
) -> Groups | None:
    """The given groups compared, or None where there are not two of them.

    Raters keep their ratings and exchange their group labels, so what makes a rater one of a kind
    is in the null hypothesis. Raters without a group are left out. O(permutations x ratings).
    """
    labels = [panel.groups.get(name, "") for name in panel.rater_names if panel.named]
    names = sorted({*labels} - {""})
    if len(names) < 2:
        return None
    code = np.array([names.index(label) if label else -1 for label in labels])
    members = np.nonzero(code >= 0)[0]
    group = code[members]
    item, rater, value = panel.flat()
    kept = code[rater] >= 0
    rows, item = np.unique(item[kept], return_inverse=True)
    rater, value = np.searchsorted(members, rater[kept]), value[kept]
    level, rest = additive(item, rater, value)

    def between(group: Integers) -> tuple[float, float]:
        """Squares between groups: of residuals on each candidate, and of raters' levels."""
        return _squares(item * len(names) + group[rater], rest), _squares(group, level)

    generator = np.random.default_rng([seed, 5])
    null = np.array([between(generator.permutation(group)) for _ in range(permutations)])
    seen = np.array(between(group))
    taste_p, severity_p = (1 + (null >= seen * (1 - 1e-9)).sum(axis=0)) / (1 + permutations)
    sizes, squares = np.bincount(group).tolist(), float(rest @ rest) or math.nan
    # Groups of one size are interchangeable.
    alike = math.prod(math.factorial(n) for n in (*sizes, *Counter(sizes).values()))
    return Groups(
        sizes=dict(zip(names, sizes, strict=True)),
        severity_p=float(severity_p),
        taste_p=float(taste_p),
        smallest_p=max(alike / math.factorial(len(members)), 1 / (1 + permutations)),
        share=float(seen[0]) / squares,
        chance=float(null[:, 0].mean()) / squares,
        contrasts=_contrasts(panel, names, rows, (item, group[rater], value - level[rater]), top),
    )


def _squares(owner: Integers, values: Array) -> float:
    """Sum of squares of the owners' mean values, each as often as it has values."""
    return float(np.sum(np.bincount(owner, values) ** 2 / np.maximum(np.bincount(owner), 1)))


def _contrasts(
    panel: RaterPanel,
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
    for one, other in combinations(range(width), 2):
        both = known[:, one] & known[:, other]
        error = noise * np.sqrt(1 / count[both, one] + 1 / count[both, other])
        gap = np.abs(means[both, one] - means[both, other])
        scaled = np.divide(gap, error, out=np.zeros_like(gap), where=error > 0)
        gaps[both] = np.maximum(gaps[both], scaled)
    order = np.lexsort((panel.lots[rows], -gaps))
    # The first place of a prompt in this order is its widest gap.
    first = np.unique(panel.prompts[rows[order]], return_index=True)[1]
    return tuple(
        Contrast(
            panel.prompt_names[panel.prompts[rows[i]]],
            panel.candidate_names[rows[i]],
            {names[g]: float(means[i, g]) for g in range(width) if known[i, g]},
            float(gaps[i]),
        )
        for i in order[np.sort(first)][:top]
        if gaps[i] > 0
    )


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


def latent_groups(panel: RaterPanel, *, permutations: int = 500, seed: int = 0) -> Latent:
    """The two groups into which the raters fall most, with how likely noise is to do so.

    What two raters share within prompts beyond a common factor (Thurstone's centroid) has a leading
    component, whose signs divide them. Noise has one too: that of the same remainders under a
    random sign a prompt, which keeps how noisy each rater and how disputed each prompt is.
    O(prompts x raters^2) a permutation, (candidates x raters^2) once.
    """
    raters, prompts = len(panel.rater_names), len(panel.prompt_names)
    refusals = {
        "the raters are not known by name": not panel.named,
        f"it takes {FEWEST_RATERS} raters, and there are {raters}": raters < FEWEST_RATERS,
        f"it takes {FEWEST_PROMPTS} prompts, and there are {prompts}": prompts < FEWEST_PROMPTS,
        f"there are more than {MOST_RATERS} raters, or too many prompts for every pair": (
            raters > MOST_RATERS or prompts * raters**2 > MOST_CELLS
        ),
    }
    for reason in (reason for reason, holds in refusals.items() if holds):
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
    model = _outer(_consensus(products.sum(axis=0)))
    left = products - shared / np.maximum(freedom, 1) * model
    strength, component = _leading(left.sum(axis=0))
    generator = np.random.default_rng([seed, 6])
    signs = generator.integers(0, 2, (permutations, len(left))) * 2.0 - 1.0
    drawn = model + np.tensordot(signs, left, 1)
    null, _ = _leading(drawn - _outer(_consensus(drawn)))
    kinds = [
        tuple(name for name, c in zip(names, component, strict=True) if (c < 0) == below)
        for below in (True, False)
    ]
    first, second = sorted(kinds, key=len)
    p_value = (1 + int((null >= strength * (1 - 1e-12)).sum())) / (1 + permutations)
    return Latent(first, second, float(strength), float(null.mean()), p_value)


def _products(panel: RaterPanel) -> tuple[Array, Array]:
    """Sums of products of each two raters about their means in a prompt, and degrees of freedom.

    Both (P, raters, raters); only candidates that both have rated count.
    """
    item, rater, value = panel.flat()
    value, raters = value - value.mean(), len(panel.rater_names)
    ends = np.searchsorted(panel.prompts, np.arange(len(panel.prompt_names) + 1))
    limits = np.searchsorted(item, ends)
    sums, freedom = np.zeros((2, len(panel.prompt_names), raters, raters))
    for p, (start, stop) in enumerate(pairwise(limits)):
        place = item[start:stop] - ends[p], rater[start:stop]
        table, known = np.zeros((2, ends[p + 1] - ends[p], raters))
        table[place], known[place] = value[start:stop], 1.0
        both, mine = known.T @ known, table.T @ known
        sums[p] = table.T @ table - mine * mine.T / np.maximum(both, 1.0)
        freedom[p] = np.maximum(both - 1.0, 0.0)
    return sums, freedom


def _consensus(pairs: Array) -> Array:
    """Loadings (..., J) of the common factor of matrices whose diagonals are not looked at."""
    between = pairs * (1 - np.eye(pairs.shape[-1]))
    own, some = np.zeros(pairs.shape[:-1]), np.ones((*pairs.shape[:-2], 1), dtype=bool)
    for _ in range(_SWEEPS):
        row = between.sum(axis=-1) + own
        whole = row.sum(axis=-1, keepdims=True)
        some &= whole > 0
        whole = np.where(some, whole, 1.0)
        own = np.minimum(row**2 / whole, 1.0)
    return np.where(some, row / np.sqrt(whole), 0.0)


def _outer(loading: Array) -> Array:
    return loading[..., :, None] * loading[..., None, :]


def _leading(pairs: Array) -> tuple[Array, Array]:
    """Largest eigenvalues and their vectors of matrices whose diagonals count as 0."""
    values, vectors = np.linalg.eigh(pairs * (1 - np.eye(pairs.shape[-1])))
    return values[..., -1], vectors[..., -1]
