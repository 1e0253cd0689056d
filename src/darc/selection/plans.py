"""Which candidates of a partly seen pool can still matter to a rule, and which to ask for first.

A plan returns one priority a candidate, (K,): the largest is asked for next, and minus infinity
means that no further sample of it can change the choice. Pruning leaves a margin of more than the
tie tolerance, so that every possible tie is decided by the ordinary code on complete rows.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from darc.core.bounds import lcb_coefficient
from darc.core.plain import soft_minimum
from darc.core.statistics import c4
from darc.selection.calibration import Calibration, calibrations
from darc.selection.rows import BARRED, DOUBTFUL, SURE, WAITING, Row, SearchFrame, View

Parameters = Mapping[str, Any]
Plan = Callable[[View, Parameters], Sequence[float]]

NEVER = -math.inf


def by_row(bound: Callable[[Row, Parameters], float]) -> Plan:
    """The plan of a rule with one objective, given a candidate's upper bound (exact if complete).

    The bound is worked out once for each row, so it may depend on nothing but its arguments.
    """

    def plan(view: View, parameters: Parameters) -> list[float]:
        upper = [row.kept(bound, lambda row: bound(row, parameters)) for row in view.rows]
        return _by_bound(view, upper)

    return plan


def lcb(view: View, parameters: Parameters) -> list[float]:
    """Mean less sigma: the weight counts the present candidates, so look at each once first."""
    unknown = [row.unseen > 0 and row.seen == 0 for row in view.rows]
    if any(unknown):
        return [0.0 if wanted else NEVER for wanted in unknown]
    size = max(sum([row.total > 0 for row in view.rows]), 1)
    lam, delta, c = (parameters[name] for name in ("lam", "delta", "c"))

    def bound(row: Row) -> float:
        return row.best_lcb(_lcb_weight(row.total, size, delta, c) if lam is None else lam)

    return _by_bound(view, [row.kept(("lcb", size), bound) for row in view.rows])


@lru_cache(maxsize=1024)
def _lcb_weight(total: int, candidates: int, delta: float, c: float) -> float:
    return float(lcb_coefficient(max(total, 1), candidates=candidates, delta=delta, c=c))


def auto(view: View, parameters: Parameters) -> list[float]:
    """Shrunken mean less disagreement: only a candidate with as many samples as any can prune.

    It is shrunk least, and nothing below it by mean less disagreement can be shrunk past it. Where
    one with fewer samples is above it, shrinkage decides, which takes every sample.
    """
    size = max([row.total for row in view.rows])
    if not any(row.seen for row in view.rows):
        return [float(row.total) if row.unseen else NEVER for row in view.rows]
    frame = view.frame
    given = tuple(calibrations(parameters["calibration"], len(frame.high)))
    terms = _terms(given, size, float(parameters["lam"]), frame)

    def bound(row: Row) -> float:
        if not row.total:
            return NEVER
        lams, margin = terms[row.complete][row.seen]
        return soft_minimum(row.best_less(lams), frame.gamma) + margin

    upper = [row.kept(("auto", size), bound) for row in view.rows]
    rows = list(zip(view.rows, upper, view.standing, strict=True))
    best = max([v for row, v, standing in rows if standing is SURE and row.seen == size] + [NEVER])
    if any(standing is SURE and row.seen < size and v >= best for row, v, standing in rows):
        best = NEVER
    return [v if standing is WAITING and v >= best else NEVER for _, v, standing in rows]


# The largest disagreement of samples in [a, b] is that of a pair at both ends: this times b - a.
WIDEST = math.sqrt(math.pi) / 2
Terms = Sequence[tuple[Sequence[float], float]]


@lru_cache(maxsize=64)
def _terms(
    given: Sequence[Calibration], size: int, lam: float, frame: SearchFrame
) -> tuple[Terms, Terms]:
    """What sigma counts by scorer, and a margin, by samples seen: with more to come, and without.

    The margin, 0 for a candidate with all `size` samples, is for what shrinkage and the weight of
    disagreement at other counts can add to mean less disagreement.
    """
    tables = [one.by_count(size, lam) for one in given]
    per_sigma = [weight / c4(np.arange(size + 1)) for weight, _ in tables]
    wide = [WIDEST * (high - low) for low, high in zip(frame.low, frame.high, strict=True)]
    shrink = np.mean([each for _, each in tables], axis=0)
    uneven = 0.0
    if len(tables) == 1:
        # The average candidate may be above the best by this, where the weights differ by count.
        uneven = float(np.abs(tables[0][0][2:] - tables[0][0][-1]).max(initial=0.0)) * wide[0]

    def term(seen: int, last: int) -> tuple[Sequence[float], float]:
        counts = slice(max(seen, 1), max(last, 1) + 1)
        lams = [float(each[counts].min()) for each in per_sigma]
        if seen == size:
            return lams, 0.0
        above = [
            float((weight[counts] - weight[-1]).max()) * each
            for (weight, _), each in zip(tables, wide, strict=True)
        ]
        least = float(shrink[counts].min())
        rest = uneven * (shrink[-1] / least - 1) + frame.tolerance / least
        return lams, max(0.0, *above) + rest

    return (
        [term(seen, size) for seen in range(size + 1)],
        [term(seen, seen) for seen in range(size + 1)],
    )


def tau(view: View, parameters: Parameters) -> list[float]:
    """Premium cap: complete what can be feasible and best; without any, go on by the objective."""
    objective = parameters["objective"]
    if parameters["tau"] is None:
        quantile = 0.25 if parameters["quantile"] is None else parameters["quantile"]
        return _quantile(view, quantile, objective)
    limit = float(parameters["tau"]) + view.tolerance
    possible = [
        standing is not BARRED and row.total > 1 and row.least_premium <= limit
        for row, standing in zip(view.rows, view.standing, strict=True)
    ]
    if not any(possible):
        return _by_objective(view, objective)
    key = (limit, objective)
    # What is not possible is neither asked for nor the best, as a bound below all others would be.
    upper = [
        row.kept(key, lambda row: row.best_under(limit, objective)) if feasible else NEVER
        for row, feasible in zip(view.rows, possible, strict=True)
    ]
    return _by_bound(view, upper)


def epsilon(view: View, parameters: Parameters) -> list[float]:
    """Near ties by sigma: find the best value, then complete what is near it and may vary less."""
    rows, standings = view.rows, view.standing
    upper = [row.top.value for row in rows]
    best = _best(view, upper)
    if best == NEVER:
        return _open(view, upper, best)
    waiting = [standing is WAITING for standing in standings]
    rising = [
        bound if wait and bound > best else NEVER
        for bound, wait in zip(upper, waiting, strict=True)
    ]
    if max(rising) > NEVER:
        return rising
    edge = best - parameters["epsilon"]
    rivals = [
        row.least_sigma
        for row, bound, standing in zip(rows, upper, standings, strict=True)
        if standing is SURE and bound >= edge and not math.isnan(row.least_sigma)
    ]
    calmest = min(rivals, default=math.inf) + view.tolerance
    return [
        -row.least_sigma
        if wait and bound >= edge - view.tolerance and row.least_sigma <= calmest
        else NEVER
        for row, bound, wait in zip(rows, upper, waiting, strict=True)
    ]


def _quantile(view: View, quantile: float, objective: str) -> list[float]:
    """Premium cap at a quantile: settle which candidates have the smallest premiums."""
    rows = view.rows
    unknown = [row.unseen > 0 and row.seen < 2 for row in rows]
    if any(unknown):
        return [
            -float(row.seen) if wanted else NEVER for row, wanted in zip(rows, unknown, strict=True)
        ]
    ordered = sorted([row.least_premium for row in rows if not math.isnan(row.least_premium)])
    if not ordered:
        return _by_objective(view, objective)
    position = quantile * (len(ordered) - 1)
    rank = math.floor(position)
    last = ordered[rank] + view.tolerance / max(1 - (position - rank), 1e-3)
    unsettled = [
        -row.least_premium if row.unseen and row.least_premium <= last else NEVER for row in rows
    ]
    if max(unsettled) > NEVER:
        return unsettled
    decided = (SURE, DOUBTFUL)
    if any(
        standing in decided and row.least_premium <= last
        for row, standing in zip(rows, view.standing, strict=True)
    ):
        return [NEVER] * len(rows)
    return _by_objective(view, objective)


def _by_objective(view: View, objective: str) -> list[float]:
    valued = objective == "value"
    return _by_bound(view, [row.top.value if valued else row.top.mean for row in view.rows])


def _by_bound(view: View, upper: Sequence[float]) -> list[float]:
    return _open(view, upper, _best(view, upper))


def _best(view: View, upper: Sequence[float]) -> float:
    """The largest known objective of a candidate that is complete and certainly eligible."""
    best = NEVER
    for bound, standing in zip(upper, view.standing, strict=True):
        if standing is SURE and bound > best:
            best = bound
    return best


def _open(view: View, upper: Sequence[float], best: float) -> list[float]:
    """Priorities of the incomplete candidates whose bound reaches the best known objective."""
    least = best - view.tolerance
    return [
        # An undefined bound may be anything.
        (math.inf if bound != bound else bound)
        if standing is WAITING and not bound < least
        else NEVER
        for bound, standing in zip(upper, view.standing, strict=True)
    ]
