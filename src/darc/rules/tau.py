"""DARC with a cap on the risk premium."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from darc.core.arrays import check_level
from darc.errors import InputError
from darc.registry import rule
from darc.selection import plans
from darc.selection.pools import Pools
from darc.selection.rule import Choice, Scale, Variants, largest, steps
from darc.typing import Level, Share

DEFAULT_QUANTILE = 0.25


def _grid(scale: Scale, size: str) -> Variants:
    count = {"coarse": 10, "fine": 25}[size]
    by_share: Variants = [
        {"quantile": round(1 - i / count, 4), "objective": objective}
        for objective in ("value", "mean")
        for i in range(count + 1)
    ]
    return by_share + [{"tau": cap} for cap in steps(0.01, 2.0, count, scale.unit)[:0:-1]]


@rule(
    "tau",
    because="the largest {objective} of {near} whose risk premium is at most {threshold:.4g}",
    alone="the only one whose risk premium is at most {threshold:.4g}",
    instead={"infeasible": "the largest {objective}"},
    by_value=True,
    plan=plans.tau,
    exclusive=("tau", "quantile"),
    grid=_grid,
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
    return largest(
        pools,
        statistics.value if objective == "value" else statistics.mean,
        feasible,
        flags={"infeasible": infeasible},
        facts={"threshold": threshold, "near": feasible.sum(axis=1)},
    )


def _quantile(premium: NDArray[np.float64], share: float) -> NDArray[np.float64]:
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
