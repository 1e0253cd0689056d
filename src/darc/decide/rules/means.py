"""Rules that compare means, of all samples or the lowest, less what they vary by."""

import numpy as np

from darc.decide.choice import Choice, largest
from darc.decide.pools import Pools
from darc.decide.registry import rule
from darc.decide.search import plans
from darc.decide.statistics import risk
from darc.decide.statistics.arrays import check_share, check_weight
from darc.decide.statistics.bounds import lcb_coefficient
from darc.decide.tuning_grid import Scale, Variants, knob
from darc.typing import Inside, Level, Tail


@rule(
    "mean",
    explanation="the largest mean",
    plan=plans.by_row(lambda row, _: row.top.mean),
)
def mean(pools: Pools) -> Choice:
    """Largest mean of the samples (Best-of-K)."""
    return largest(pools, pools.statistics.mean)


def _cvar_grid(scale: Scale, size: str) -> Variants:
    count = {"coarse": 8, "fine": 16}[size]
    shares = {round((i + 1) / count, 4) for i in range(count)} | {0.1}
    return [{"alpha": share} for share in sorted(shares, reverse=True)]


@rule(
    "cvar",
    explanation="the largest mean over its lowest samples, a share of {alpha:g}",
    plan=plans.by_row(lambda row, p: row.best_cvar(p["alpha"])),
    grid=_cvar_grid,
)
def cvar(pools: Pools, *, alpha: Tail = 0.1) -> Choice:
    """Largest mean of the lowest ceil(alpha n) samples; over scorers, the mean of theirs. Sorts."""
    return largest(pools, pools.cvar(check_share("alpha", alpha)))


def _lcb_grid(scale: Scale, size: str) -> Variants:
    return knob("c", 0.05, 5.0)(scale, size) + knob("lam", 0.05, 5.0)(scale, size)[1:]


@rule(
    "lcb",
    explanation="the largest mean less its multiple of sigma",
    instead={"no_sigma": "the largest mean"},
    plan=plans.lcb,
    grid=_lcb_grid,
)
def lcb(
    pools: Pools,
    *,
    lam: Level | None = None,
    delta: Inside = 0.05,
    c: Level = 1.0,
) -> Choice:
    """Largest mean - lam sigma, lam = c sqrt(log(K/delta)/n) unless given: a heuristic, no bound.

    K counts the pool's present candidates and n is each candidate's own sample count.
    """
    statistics = pools.statistics
    if lam is None:
        size = pools.present.sum(axis=1, keepdims=True)
        weight = lcb_coefficient(
            np.maximum(statistics.count, 1), candidates=size, delta=delta, c=check_weight("c", c)
        )
    else:
        weight = np.asarray(check_weight("lam", lam))
    return largest(pools, statistics.mean - weight * statistics.sigma, fallback=statistics.mean)


@rule(
    "mc_dropout",
    needs=("dropout",),
    explanation="the largest mean less {lam:g} sigma over its passes",
    instead={"no_sigma": "the largest mean over its passes"},
    grid=knob("lam", 0.05, 5.0),
)
def mc_dropout(pools: Pools, *, lam: Level = 1.0) -> Choice:
    """Largest mean - lam sigma over T stochastic passes of one scorer: `dropout` (K, T)."""
    weight = check_weight("lam", lam)
    passes = pools.side_input("dropout")
    average = risk.mean(passes)
    return largest(pools, average - weight * risk.sigma(passes), fallback=average)


@rule("worst", explanation="the largest mean under its worst scorer")
def worst(pools: Pools) -> Choice:
    """Largest minimum over scorers of the normalised means (worst-case optimisation)."""
    return largest(pools, np.fmin.reduce(pools.by_scorer.mean, axis=1))


@rule(
    "uwo",
    explanation="the largest mean less {lam:g} times the variance over scorers",
    grid=knob("lam", 0.05, 10.0, power=-1),
    min_scorers=2,
)
def uwo(pools: Pools, *, lam: Level = 1.0) -> Choice:
    """Largest mean over scorers - lam * their variance (ddof = 0)."""
    gap = pools.by_scorer.mean - pools.statistics.mean[:, None, :]
    scorers = np.maximum((~np.isnan(gap)).sum(axis=1), 1)
    variance = np.nansum(gap * gap, axis=1) / scorers
    return largest(pools, pools.statistics.mean - check_weight("lam", lam) * variance)
