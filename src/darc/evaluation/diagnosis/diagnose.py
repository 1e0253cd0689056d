"""Everything that ratings say about their own disagreement, put together."""

import math
from dataclasses import dataclass

import numpy as np

from darc.core.agreement import alpha_interval, krippendorff_alpha
from darc.evaluation.diagnosis.contention import Contention, contention
from darc.evaluation.diagnosis.groups import Groups, compare_groups
from darc.evaluation.diagnosis.latent import Latent, latent_groups
from darc.evaluation.diagnosis.panel import Panel, panel_of
from darc.evaluation.diagnosis.raters import Rater, rate_raters
from darc.evaluation.diagnosis.reliability import (
    Reliability,
    gaussian_reliability,
    reliabilities,
)
from darc.evaluation.diagnosis.spread import Spread, spread
from darc.evaluation.diagnosis.variance import Component, variance_components
from darc.evaluation.ranks import correlation
from darc.evaluation.source import Source
from darc.typing import Array


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What one scorer's ratings say of their disagreement.

    `means` and `sigmas` are reliabilities by level (within, overall, prompt), empty where nothing
    can be split; `gaussian` is sigma's if ratings were Gaussian. `alpha` is Krippendorff's, with
    its interval. `follows` is the correlation of sigma with the mean within prompts. `items` (I,)
    are the candidates' shrunk sigmas; `prompts` are sorted, the most contentious first.
    """

    name: str
    panel: Panel
    components: list[Component]
    means: dict[str, Reliability]
    sigmas: dict[str, Reliability]
    gaussian: Reliability
    alpha: tuple[float, float, float]
    spread: Spread
    follows: float
    raters: list[Rater]
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
) -> Diagnosis:
    """The diagnosis of one scorer of a source.

    `splits` are random halves, `draws` permutations of each test (bootstraps take twice as many),
    `top` how many contrasts between groups are kept. O((splits + draws) x ratings).
    """
    panel = panel_of(source, scorer, seed)
    means, sigmas = reliabilities(panel, splits=splits, resamples=2 * draws, seed=seed)
    gaussian = gaussian_reliability(panel, resamples=2 * draws, seed=seed)
    prompts, items = contention(panel, sigmas.get("prompt"), sigmas.get("within", gaussian))
    low, high = math.nan, math.nan
    if len(panel.prompt_names) > 1:
        low, high = alpha_interval(panel.values, resamples=2 * draws, seed=seed)
    return Diagnosis(
        name=source.name,
        panel=panel,
        components=variance_components(panel),
        means=means,
        sigmas=sigmas,
        gaussian=gaussian,
        alpha=(krippendorff_alpha(panel.values), low, high),
        spread=spread(panel, permutations=draws, seed=seed),
        follows=_follows(panel),
        raters=rate_raters(panel),
        groups=compare_groups(panel, top=top, permutations=2 * draws, seed=seed),
        latent=latent_groups(panel, permutations=draws, seed=seed),
        prompts=prompts,
        items=items,
    )


def _follows(panel: Panel) -> float:
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
