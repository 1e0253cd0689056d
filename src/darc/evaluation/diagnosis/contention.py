"""Which prompts are contentious, with chance taken off.

The most contentious of many prompts by raw sigma are mostly the luckiest ones. So a prompt's mean
sigma is drawn towards the mean of all prompts by its reliability, and a candidate's sigma towards
its prompt's by the reliability within prompts.
"""

import math
from dataclasses import dataclass

import numpy as np

from darc.evaluation.diagnosis.panel import Panel
from darc.evaluation.diagnosis.reliability import Reliability, gaussian_noise
from darc.typing import Array


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
    panel: Panel, between: Reliability | None, within: Reliability | None
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


def _gaussian(panel: Panel, prompts: int) -> float:
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
