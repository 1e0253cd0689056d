"""DARC's rules: by the entropic value, and by what it falls short of the mean."""

from typing import Literal

import numpy as np

from darc.decide.choice import Choice, largest, pick
from darc.decide.pools import Pools
from darc.decide.registry import rule
from darc.decide.search import plans
from darc.decide.statistics.arrays import check_level, check_weight
from darc.decide.tuning_grid import Scale, Variants, knob, no_knobs, steps
from darc.errors import InputError
from darc.typing import Array, Level, Share


@rule(
    "entropic",
    explanation="the largest entropic value",
    by_value=True,
    plan=plans.by_row(lambda row, _: row.top.value),
    grid=no_knobs,
)
def entropic(pools: Pools) -> Choice:
    """Largest entropic value, soft-min over scorers (DARC)."""
    return largest(pools, pools.statistics.value)


@rule(
    "penalty",
    explanation="the largest value less {lam:g} times its risk premium",
    instead={"no_sigma": "the largest value"},
    by_value=True,
    plan=plans.by_row(lambda row, p: row.best_penalty(p["lam"])),
    grid=knob("lam", 0.05, 10.0),
)
def penalty(pools: Pools, *, lam: Level = 1.0) -> Choice:
    """Largest value minus lam times the risk premium (the Lagrangian form of `tau`)."""
    statistics = pools.statistics
    objective = statistics.value - check_weight("lam", lam) * statistics.risk_premium
    return largest(pools, objective, fallback=statistics.value)


DEFAULT_QUANTILE = 0.25


def _tau_grid(scale: Scale, size: str) -> Variants:
    count = {"coarse": 10, "fine": 25}[size]
    by_share: Variants = [
        {"quantile": round(1 - i / count, 4), "objective": objective}
        for objective in ("value", "mean")
        for i in range(count + 1)
    ]
    return by_share + [{"tau": cap} for cap in steps(0.01, 2.0, count, scale.unit)[:0:-1]]


@rule(
    "tau",
    explanation="the largest {objective} of {near} whose risk premium is at most {threshold:.4g}",
    alone="the only one whose risk premium is at most {threshold:.4g}",
    instead={"infeasible": "the largest {objective}"},
    by_value=True,
    plan=plans.tau,
    exclusive=("tau", "quantile"),
    grid=_tau_grid,
)
def tau(
    pools: Pools,
    *,
    tau: Level | None = None,
    quantile: Share | None = None,
    objective: Literal["value", "mean"] = "value",
) -> Choice:
    """Largest value (or mean) with a risk premium of at most tau, or its own quantile (DARC-tau).

    With neither given, the cap is the 0.25 quantile of the prompt's premiums. Where no candidate is
    feasible all are, and the flag `infeasible` is set.
    """
    statistics = pools.statistics
    if objective not in ("value", "mean"):
        raise InputError(f"objective must be 'value' or 'mean', not {objective!r}")
    if tau is not None and quantile is not None:
        raise InputError("tau and quantile are both given", "give one of the two")
    if tau is None:
        share = DEFAULT_QUANTILE if quantile is None else quantile
        threshold = _quantile(statistics.risk_premium, share)
    else:
        threshold = np.full(len(pools.eligible), check_level("tau", tau))
    with np.errstate(invalid="ignore"):
        capped = statistics.risk_premium <= threshold[:, None] + pools.tolerance
    feasible = pools.eligible & capped
    infeasible = ~np.any(feasible, axis=1)
    feasible = np.where(infeasible[:, None], pools.eligible, feasible)
    compared = statistics.value if objective == "value" else statistics.mean
    return largest(
        pools,
        compared,
        feasible,
        flags={"infeasible": infeasible},
        facts={"threshold": threshold, "near": feasible.sum(axis=1)},
    )


def _quantile(premium: Array, share: float) -> Array:
    """The quantile of each prompt's defined premiums (P,), by linear interpolation."""
    if not 0 <= check_level("quantile", share) <= 1:
        raise InputError(f"quantile must lie between 0 and 1, not {share}", "0.25 is usual")
    ordered = np.sort(premium, axis=1)
    position = share * np.maximum((~np.isnan(premium)).sum(axis=1) - 1, 0)
    lower = np.floor(position).astype(np.int64)
    rows = np.arange(len(ordered))
    below = ordered[rows, lower]
    above = ordered[rows, np.minimum(lower + 1, ordered.shape[1] - 1)]
    rise = np.where(position > lower, above - below, 0.0)
    return np.asarray(below + (position - lower) * rise)


@rule(
    "epsilon",
    explanation="the lowest sigma of {near} within {epsilon:g} of the best value",
    alone="the only one within {epsilon:g} of the best value",
    instead={"no_sigma": "the largest value"},
    by_value=True,
    weakness="sigma",
    plan=plans.epsilon,
    grid=knob("epsilon", 0.02, 4.0, power=1),
)
def epsilon(pools: Pools, *, epsilon: Level = 0.25) -> Choice:
    """Lowest sigma among values within epsilon of the best (DARC-epsilon); ties to mean, value."""
    statistics = pools.statistics
    eligible = pools.eligible
    band = check_level("epsilon", epsilon)
    value = np.where(eligible & ~np.isnan(statistics.value), statistics.value, -np.inf)
    top = value.argmax(axis=1)[:, None]
    slack = np.maximum(pools.tolerance, np.take_along_axis(pools.tolerance, top, axis=1))
    near = eligible & (value >= np.take_along_axis(value, top, axis=1) - band - slack)
    calm = -statistics.sigma
    undefined = ~np.any(near & ~np.isnan(calm), axis=1)
    objective = np.where(undefined[:, None], statistics.value, calm)
    index = pick([objective, statistics.mean, statistics.value], near, pools.tolerance)
    return Choice(
        index,
        np.where(near, objective, np.nan),
        near,
        flags={"no_sigma": undefined},
        facts={"near": near.sum(axis=1)},
    )
