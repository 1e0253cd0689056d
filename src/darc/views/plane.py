"""The sigma-value plane of one decision, as data."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.selection.decision import Decision


@dataclass(frozen=True)
class Point:
    """One candidate in the plane; `chosen_by` names the rules that chose it.

    A `bounded` one was ruled out early: its value lies lower, and its sigma higher, than shown.
    """

    name: str
    sigma: float
    value: float
    mean: float
    feasible: bool
    on_frontier: bool
    bounded: bool
    chosen_by: tuple[str, ...]


@dataclass(frozen=True)
class Plane:
    """Candidates by sigma and value, and what the deciding rule made of them.

    `frontier` holds the (sigma, value) of the candidates that no other beats in both, by rising
    sigma. `floor` is the value below which nothing was feasible, None where the rule has none.
    """

    title: str
    rule: str
    points: tuple[Point, ...]
    frontier: tuple[tuple[float, float], ...]
    floor: float | None


def plane(decision: Decision, others: Sequence[Decision] = (), title: str = "") -> Plane:
    """The plane of a decision, with the choices of other rules on the same pool marked too."""
    statistics = decision.statistics
    usable = ~np.isnan(statistics.sigma) & ~np.isnan(statistics.value)
    usable &= decision.pools.present[0]
    bounded = np.zeros_like(usable) if decision.bounded is None else decision.bounded
    best = _frontier(statistics.sigma, statistics.value, usable & ~bounded)
    chosen: dict[int, list[str]] = {}
    for each in (decision, *others):
        chosen.setdefault(each.index, []).append(each.rule.name)
    points = tuple(
        Point(
            decision.labels.candidate(k),
            float(statistics.sigma[k]),
            float(statistics.value[k]),
            float(statistics.mean[k]),
            bool(decision.feasible[k]),
            k in best,
            bool(bounded[k]),
            tuple(dict.fromkeys(chosen.get(k, ()))),
        )
        for k in np.flatnonzero(usable).tolist()
    )
    frontier = tuple((float(statistics.sigma[k]), float(statistics.value[k])) for k in best)
    return Plane(title, decision.rule.name, points, frontier, _floor(decision))


def _frontier(sigma: np.ndarray, value: np.ndarray, usable: np.ndarray) -> list[int]:
    """Candidates that no other beats in both, by rising sigma."""
    order = sorted(np.flatnonzero(usable), key=lambda k: (sigma[k], -value[k]))
    best: list[int] = []
    for k in order:
        if not best or value[k] > value[best[-1]]:
            best.append(int(k))
    return best


def _floor(decision: Decision) -> float | None:
    if decision.rule.name != "epsilon":
        return None
    eligible = decision.pools.eligible[0]
    top = float(np.nanmax(np.where(eligible, decision.statistics.value, np.nan)))
    return top - float(decision.rule.parameters["epsilon"])
