"""Everything that ratings say about their own disagreement, put together."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from darc.analysis.diagnose.groups import Groups, Latent, compare_groups, latent_groups
from darc.analysis.diagnose.panel import RaterPanel, offsets, panel_of
from darc.analysis.diagnose.raters import RaterReport, rate_raters
from darc.analysis.diagnose.reliability import (
    Reliability,
    gaussian_noise,
    gaussian_reliability,
    reliabilities,
)
from darc.analysis.diagnose.variance import Component, Spread, equal_sigmas, variance_components
from darc.analysis.ranks import correlation
from darc.decide.statistics.agreement import alpha_interval, krippendorff_alpha
from darc.ratings.ratings import Ratings
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

    The most contentious by raw sigma are mostly the luckiest, so a prompt's mean sigma is drawn
    towards that of all by its reliability `between` prompts, and a candidate's towards its prompt's
    by that `within` prompts. Where the former is unknown, Gaussian noise stands in.
    """
    sigma = panel.sigmas()
    known = np.flatnonzero(~np.isnan(sigma))
    items = np.full(sigma.size, math.nan)
    if not known.size:
        return [], items
    kept, owner, size = np.unique(panel.prompts[known], return_inverse=True, return_counts=True)
    seen = np.bincount(owner, sigma[known]) / size
    if between is None:
        fair, noise = (each[known] for each in gaussian_noise(panel))
        variance = _variance(np.bincount(owner, fair) / size)
        chance = float(np.mean(np.bincount(owner, noise) / size**2))
        trust = 1 - chance / variance if variance > 0 else 0.0
    else:
        trust = between.value
    trust = 0.0 if math.isnan(trust) else min(max(trust, 0.0), 1.0)
    middle = float(np.mean(seen))
    shrunk = middle + trust * (seen - middle)
    error = 1.96 * math.sqrt(trust * (1 - trust) * _variance(seen)) if trust > 0 else math.nan
    inner = 0.0 if within is None or math.isnan(within.value) else max(within.value, 0.0)
    items[known] = shrunk[owner] + inner * offsets(sigma[known], owner)
    # Where shrinkage makes all alike, the raw sigma says which one is named.
    order = np.lexsort((panel.lots[known], -sigma[known], -items[known], owner))
    widest = known[order[np.cumsum(size) - size]]
    prompts, candidates = (
        np.array(names, dtype=object) for names in (panel.prompt_names, panel.candidate_names)
    )
    ends = np.maximum(shrunk - error, 0.0), shrunk + error
    columns = (prompts[kept], size, seen, shrunk, *ends, candidates[widest], items[widest])
    order = np.lexsort((-seen, -shrunk))
    rows = zip(*(each[order].tolist() for each in columns), strict=True)
    return [Contention(*row) for row in rows], items


def _variance(values: Array) -> float:
    return float(np.var(values, ddof=1)) if values.size > 1 else 0.0


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

    @property
    def sigma_within(self) -> Reliability:
        """Reliability of sigma within prompts, from halves where there are any."""
        return self.sigmas.get("within", self.gaussian)


def diagnose(
    source: Ratings,
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
    known = panel.counts > 1
    sides = [offsets(each[known], panel.prompts[known]) for each in (panel.sigmas(), panel.means())]
    means, sigmas = reliabilities(panel, splits=splits, resamples=2 * draws, seed=seed)
    tick()
    gaussian = gaussian_reliability(panel, resamples=2 * draws, seed=seed)
    prompts, items = contention(panel, sigmas.get("prompt"), sigmas.get("within", gaussian))
    ends = math.nan, math.nan
    if len(panel.prompt_names) > 1:
        ends = alpha_interval(panel.values, resamples=2 * draws, seed=seed)
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
        alpha=(krippendorff_alpha(panel.values), *ends),
        spread=spread,
        follows=float(correlation(*sides)) if known.sum() > 2 else math.nan,
        raters=rate_raters(panel),
        groups=groups,
        latent=latent,
        prompts=prompts,
        items=items,
    )
