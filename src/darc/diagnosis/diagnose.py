"""Everything that ratings say about their own disagreement, put together.

The most contentious of many prompts by raw sigma are mostly the luckiest ones. So a prompt's mean
sigma is drawn towards the mean of all prompts by its reliability, and a candidate's sigma towards
its prompt's by the reliability within prompts.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from darc.core.agreement import alpha_interval, krippendorff_alpha
from darc.diagnosis.groups import Groups, Latent, compare_groups, latent_groups
from darc.diagnosis.panel import RaterPanel, panel_of
from darc.diagnosis.raters import RaterReport, rate_raters
from darc.diagnosis.reliability import (
    Reliability,
    gaussian_noise,
    gaussian_reliability,
    reliabilities,
)
from darc.diagnosis.variance import Component, Spread, equal_sigmas, variance_components
from darc.evaluation.ranks import correlation
from darc.evaluation.source import Source
from darc.typing import Array

PARTS = 5


@dataclass(frozen=True)
class Contention:
    """One prompt: the mean sigma of its candidates as seen, and `shrunk` with a 95 % interval.

    `widest` is the candidate with the largest shrunk sigma, `widest_sigma`.
    """

    prompt: str
    candidates: int
    sigma: float
    shrunk: float
    low: float
    high: float
    widest: str
    widest_sigma: float


def contention(
    panel: RaterPanel, between: Reliability | None, within: Reliability | None
) -> tuple[list[Contention], Array]:
    """The prompts, the most contentious first, and the shrunk sigma of every candidate (I,).

    `between` and `within` are sigma's reliabilities over prompts and within them. Where the former
    is unknown because nothing could be split, Gaussian noise stands in.
    """
    sigma = panel.sigmas()
    known = ~np.isnan(sigma)
    if not known.any():
        return [], sigma
    prompts = len(panel.prompt_names)
    size = np.bincount(panel.prompts[known], minlength=prompts)
    rated = size > 0
    seen = np.full(prompts, math.nan)
    sums = np.bincount(panel.prompts[known], sigma[known], prompts)
    seen[rated] = sums[rated] / size[rated]
    trust = _gaussian(panel, prompts) if between is None else between.value
    trust = 0.0 if math.isnan(trust) else min(max(trust, 0.0), 1.0)
    middle = float(np.mean(seen[rated]))
    shrunk = middle + trust * (seen - middle)
    variance = float(np.var(seen[rated], ddof=1)) if rated.sum() > 1 else 0.0
    error = 1.96 * math.sqrt(trust * (1 - trust) * variance)
    inner = 0.0 if within is None or math.isnan(within.value) else max(within.value, 0.0)
    items = shrunk[panel.prompts] + inner * (sigma - seen[panel.prompts])
    rows = []
    for p in np.lexsort((-seen, -shrunk)):
        if not rated[p]:
            continue
        mine = np.nonzero((panel.prompts == p) & known)[0]
        # Where shrinkage makes all alike, the raw sigma says which one is named.
        widest = mine[np.lexsort((panel.lots[mine], -sigma[mine], -items[mine]))[0]]
        spread = error if trust > 0 else math.nan
        rows.append(
            Contention(
                panel.prompt_names[p],
                int(size[p]),
                float(seen[p]),
                float(shrunk[p]),
                float(max(shrunk[p] - spread, 0.0)) if spread == spread else math.nan,
                float(shrunk[p] + spread),
                panel.candidate_names[widest],
                float(items[widest]),
            )
        )
    return rows, items


def _gaussian(panel: RaterPanel, prompts: int) -> float:
    """Share of the variance of prompts' mean sigmas that Gaussian noise does not make."""
    fair, noise = gaussian_noise(panel)
    rows = panel.counts >= 2
    owner = panel.prompts[rows]
    size = np.bincount(owner, minlength=prompts)
    rated = size > 0
    if rated.sum() < 2:
        return 0.0
    means = np.bincount(owner, fair[rows], prompts)[rated] / size[rated]
    each = np.bincount(owner, noise[rows], prompts)[rated] / size[rated] ** 2
    variance = float(np.var(means, ddof=1))
    return 1 - float(np.mean(each)) / variance if variance > 0 else 0.0


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What one scorer's ratings say of their disagreement.

    `means` and `sigmas` are reliabilities by level (within, overall, prompt), empty where nothing
    can be split; `gaussian` is sigma's if ratings were Gaussian. `alpha` is Krippendorff's, with
    its interval. `follows` is the correlation of sigma with the mean within prompts. `items` (I,)
    are the candidates' shrunk sigmas; `prompts` are sorted, the most contentious first.
    """

    name: str
    panel: RaterPanel
    components: list[Component]
    means: dict[str, Reliability]
    sigmas: dict[str, Reliability]
    gaussian: Reliability
    alpha: tuple[float, float, float]
    spread: Spread
    follows: float
    raters: list[RaterReport]
    groups: Groups | None
    latent: Latent
    prompts: list[Contention]
    items: Array

    @property
    def each(self) -> int:
        """Ratings that a candidate typically has."""
        return round(float(np.median(self.panel.counts)))


def diagnose(
    source: Source,
    scorer: int = 0,
    *,
    splits: int = 200,
    draws: int = 500,
    top: int = 5,
    seed: int = 0,
    tick: Callable[[], None] = lambda: None,
) -> Diagnosis:
    """The diagnosis of one scorer of a source; `tick` is called `PARTS` times on the way.

    `splits` are random halves, `draws` permutations of each test (bootstraps take twice as many),
    `top` how many contrasts between groups are kept. O((splits + draws) x ratings).
    """
    panel = panel_of(source, scorer, seed)
    means, sigmas = reliabilities(panel, splits=splits, resamples=2 * draws, seed=seed)
    tick()
    gaussian = gaussian_reliability(panel, resamples=2 * draws, seed=seed)
    prompts, items = contention(panel, sigmas.get("prompt"), sigmas.get("within", gaussian))
    low, high = math.nan, math.nan
    if len(panel.prompt_names) > 1:
        low, high = alpha_interval(panel.values, resamples=2 * draws, seed=seed)
    tick()
    spread = equal_sigmas(panel, permutations=draws, seed=seed)
    tick()
    groups = compare_groups(panel, top=top, permutations=2 * draws, seed=seed)
    tick()
    latent = latent_groups(panel, permutations=draws, seed=seed)
    tick()
    return Diagnosis(
        name=source.name,
        panel=panel,
        components=variance_components(panel),
        means=means,
        sigmas=sigmas,
        gaussian=gaussian,
        alpha=(krippendorff_alpha(panel.values), low, high),
        spread=spread,
        follows=_follows(panel),
        raters=rate_raters(panel),
        groups=groups,
        latent=latent,
        prompts=prompts,
        items=items,
    )


def _follows(panel: RaterPanel) -> float:
    """Correlation of sigma and mean over the candidates, both about their prompt's average."""
    sigma = panel.sigmas()
    known = ~np.isnan(sigma)
    if known.sum() < 3:
        return math.nan
    owner = np.unique(panel.prompts[known], return_inverse=True)[1]
    size = np.bincount(owner)
    sides = [
        values - (np.bincount(owner, values) / size)[owner]
        for values in (sigma[known], panel.means()[known])
    ]
    return float(correlation(*sides))
