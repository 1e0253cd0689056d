"""Which candidates of a partly seen pool can still matter to a rule.

A plan returns one priority per candidate, (K,): the largest is asked for next, and minus infinity
means that no further sample of it can change the choice. Pruning leaves a margin of more than the
tie tolerance, so that every possible tie is decided by the ordinary code on complete rows.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from darc.decide.caution import parse_caution
from darc.decide.model.calibration import Calibration, calibrations
from darc.decide.model.spread import MIN_RATINGS_TO_RULE_OUT
from darc.decide.search.row_statistics import soft_minimum
from darc.decide.search.rows import BARRED, DOUBTFUL, SURE, WAITING, Row, SearchFrame, View
from darc.decide.statistics.bounds import lcb_coefficient
from darc.decide.statistics.summary import c4

Parameters = Mapping[str, Any]
#: A function of what a search knows and of the rule's parameters, which returns the priorities.
Plan = Callable[[View, Parameters], Sequence[float]]

#: The priority of a candidate of which no further sample matters.
NEVER = -math.inf
# The quantile of the premiums that the rule tau takes by default.
DEFAULT_QUANTILE = 0.25
# More than the share of its gains by which a candidate must exceed the allowed losses.
RULE_OUT_MARGIN = 1e-6


def by_row(bound: Callable[[Row, Parameters], float]) -> Plan:
    """The plan of a rule with one objective, given a candidate's upper bound (exact if complete).

    The bound is worked out once for each row, so it may depend on nothing but its arguments.
    """

    def plan(view: View, parameters: Parameters) -> list[float]:
        upper = [row.remember(bound, lambda row: bound(row, parameters)) for row in view.rows]
        return _by_bound(view, upper)

    return plan


def lcb(view: View, parameters: Parameters) -> list[float]:
    """Mean less sigma: the weight counts the present candidates, so look at each once first."""
    untouched = [row.unseen > 0 and row.seen == 0 for row in view.rows]
    if any(untouched):
        return [0.0 if is_untouched else NEVER for is_untouched in untouched]
    size = max(sum([row.total > 0 for row in view.rows]), 1)

    def bound(row: Row) -> float:
        lam = parameters["lam"]
        if lam is None:
            lam = _lcb_weight(row.total, size, parameters["delta"], parameters["c"])
        return row.best_lcb(lam)

    return _by_bound(view, [row.remember(("lcb", size), bound) for row in view.rows])


@lru_cache(maxsize=1024)
def _lcb_weight(total: int, candidates: int, delta: float, c: float) -> float:
    return float(lcb_coefficient(max(total, 1), candidates=candidates, delta=delta, c=c))


def auto(view: View, parameters: Parameters) -> list[float]:
    """The plan of the default rule, which takes scores of rewrites differently from ratings."""
    if view.frame.sample == "rewrite":
        return _auto_by_wording(view, parameters)
    return _auto_by_ratings(view, parameters)


def _auto_by_ratings(view: View, parameters: Parameters) -> list[float]:
    """Every spread counts, so only what a complete candidate rules out need not be completed.

    That is certain where all candidates end with the same number of ratings. Where an answer said
    that there is no such rating, and with several scorers, everything is asked for.
    """
    frame = view.frame
    one_scorer = len(frame.high) == 1
    if not one_scorer or any(row.total < frame.n_samples for row in view.rows):
        return [float(row.unseen) if row.unseen else NEVER for row in view.rows]
    if frame.n_samples < MIN_RATINGS_TO_RULE_OUT:
        return [row.best_mean if row.unseen else NEVER for row in view.rows]
    (calibration,) = calibrations(parameters["calibration"], 1)
    caution = parse_caution(parameters["caution"])
    relation = _RuleOut(
        loss_factor=(1 + caution) ** 2,
        shrinkage=_shrinkage(calibration, frame.n_samples),
        tolerance=frame.tolerance,
    )
    # The largest mean can rule out most.
    complete = [row for row in view.rows if row.complete]
    complete.sort(key=lambda row: -row.best_mean)
    priorities = []
    for row in view.rows:
        if row.complete or relation.is_out(row, complete):
            priorities.append(NEVER)
        else:
            priorities.append(row.best_mean)
    return priorities


@dataclass(frozen=True)
class _RuleOut:
    """When a candidate is ruled out, as `model.spread.ruled_out` has it, with a margin."""

    #: How many times its losses another candidate must gain.
    loss_factor: float
    #: How much of a difference between means is left after shrinking them.
    shrinkage: float
    #: More than rounding can change.
    tolerance: float

    def is_out(self, row: Row, leaders: Sequence[Row]) -> bool:
        """Whether one of some complete rows rules out a row however it is completed."""
        for leader in leaders:
            if leader.best_mean <= row.best_mean:
                return False
            if row.remember((leader, self), lambda row: self._rules_out(leader, row)):  # noqa: B023
                return True
        return False

    def _rules_out(self, leader: Row, row: Row) -> bool:
        """Whether a complete row rules out the best completion of another one."""
        if self.shrinkage * (leader.best_mean - row.best_mean) <= self.tolerance:
            return False
        gains = 0.0
        losses = 0.0
        for rating, other in zip(leader.best_ranks, row.best_ranks, strict=True):
            if rating > other:
                gains += rating - other
            else:
                losses += other - rating
        allowed = self.loss_factor * (losses + self.tolerance)
        return gains * (1 - RULE_OUT_MARGIN) > allowed


@lru_cache(maxsize=64)
def _shrinkage(calibration: Calibration, count: int) -> float:
    """How much of a difference between means is left with this many ratings."""
    _, by_count = calibration.by_count(count)
    return float(by_count[count])


def _auto_by_wording(view: View, parameters: Parameters) -> list[float]:
    """Shrunken mean less disagreement: only a candidate with as many samples as any can prune.

    It is shrunk least, and nothing below it by mean less disagreement can be shrunk past it. Where
    one with fewer samples is above it, shrinkage decides, which takes every sample.
    """
    frame = view.frame
    rows = view.rows
    if not any(row.seen for row in rows):
        return [float(row.total) if row.unseen else NEVER for row in rows]
    most = max([row.total for row in rows])
    by_scorer = tuple(calibrations(parameters["calibration"], len(frame.high)))
    factor = min(parse_caution(parameters["caution"]), 1.0)
    with_more, without_more = _terms(by_scorer, most, factor, frame)

    def bound(row: Row) -> float:
        if not row.total:
            return NEVER
        terms = without_more if row.complete else with_more
        lams, margin = terms[row.seen]
        return soft_minimum(row.best_less(lams), frame.gamma) + margin

    upper = [row.remember(("auto", most), bound) for row in rows]
    best = NEVER
    best_of_fewer = NEVER
    for row, value, standing in zip(rows, upper, view.standing, strict=True):
        if standing is SURE and row.seen == most:
            best = max(best, value)
        elif standing is SURE:
            best_of_fewer = max(best_of_fewer, value)
    if best_of_fewer >= best:
        best = NEVER
    priorities = []
    for value, standing in zip(upper, view.standing, strict=True):
        may_win = standing is WAITING and value >= best
        priorities.append(value if may_win else NEVER)
    return priorities


# The largest disagreement of samples in [a, b] is that of a pair at both ends: this times b - a.
WIDEST = math.sqrt(math.pi) / 2
# What sigma counts, by scorer, and a margin, for each number of samples seen.
Terms = Sequence[tuple[Sequence[float], float]]


@lru_cache(maxsize=64)
def _terms(
    by_scorer: Sequence[Calibration], most: int, factor: float, frame: SearchFrame
) -> tuple[Terms, Terms]:
    """What sigma counts and a margin, for candidates with more samples to come, and without.

    The margin, 0 for a candidate with all `most` samples, is for what shrinkage and the weight of
    disagreement at other counts can add to mean less disagreement.
    """
    tables = [calibration.by_count(most) for calibration in by_scorer]
    weights = [factor * weight for weight, _ in tables]
    shrinkage = np.mean([shrink for _, shrink in tables], axis=0)
    per_sigma = [weight / c4(np.arange(most + 1)) for weight in weights]
    widest = [WIDEST * (high - low) for low, high in zip(frame.low, frame.high, strict=True)]
    uneven = 0.0
    if len(weights) == 1:
        # The average candidate may be above the best by this, where the weights differ by count.
        difference = np.abs(weights[0][2:] - weights[0][-1])
        uneven = float(difference.max(initial=0.0)) * widest[0]

    def term(seen: int, last: int) -> tuple[Sequence[float], float]:
        """For a candidate that has `seen` samples and will have between those and `last`."""
        counts = slice(max(seen, 1), max(last, 1) + 1)
        lams = [float(weight[counts].min()) for weight in per_sigma]
        if seen == most:
            return lams, 0.0
        heavier = [
            float((weight[counts] - weight[-1]).max()) * width
            for weight, width in zip(weights, widest, strict=True)
        ]
        least = float(shrinkage[counts].min())
        by_shrinkage = uneven * (shrinkage[-1] / least - 1) + frame.tolerance / least
        return lams, max(0.0, *heavier) + by_shrinkage

    with_more = [term(seen, most) for seen in range(most + 1)]
    without_more = [term(seen, seen) for seen in range(most + 1)]
    return with_more, without_more


def tau(view: View, parameters: Parameters) -> list[float]:
    """Premium cap: complete what can be feasible and best; without any, go on by the objective."""
    objective = parameters["objective"]
    if parameters["tau"] is None:
        quantile = parameters["quantile"]
        if quantile is None:
            quantile = DEFAULT_QUANTILE
        return _quantile(view, quantile, objective)
    limit = float(parameters["tau"]) + view.tolerance
    possible = [
        standing is not BARRED and row.total > 1 and row.least_premium <= limit
        for row, standing in zip(view.rows, view.standing, strict=True)
    ]
    if not any(possible):
        return _by_objective(view, objective)

    def bound(row: Row) -> float:
        return row.best_under(limit, objective)

    upper = []
    for row, feasible in zip(view.rows, possible, strict=True):
        if feasible:
            upper.append(row.remember((limit, objective), bound))
        else:
            # It is neither asked for nor the best, as a bound below all others would be.
            upper.append(NEVER)
    return _by_bound(view, upper)


def epsilon(view: View, parameters: Parameters) -> list[float]:
    """Near ties by sigma: find the best value, then complete what is near it and may vary less."""
    upper = [row.top.value for row in view.rows]
    best = _best(view, upper)
    if best == NEVER:
        return _open(view, upper, best)
    rising = [NEVER] * len(upper)
    for place, standing in enumerate(view.standing):
        if standing is WAITING and upper[place] > best:
            rising[place] = upper[place]
    if max(rising) > NEVER:
        return rising
    edge = best - parameters["epsilon"]
    calmest = math.inf
    for row, bound, standing in zip(view.rows, upper, view.standing, strict=True):
        if standing is SURE and bound >= edge and row.least_sigma < calmest:
            calmest = row.least_sigma
    calmest += view.tolerance
    priorities = []
    for row, bound, standing in zip(view.rows, upper, view.standing, strict=True):
        is_near = bound >= edge - view.tolerance
        if standing is WAITING and is_near and row.least_sigma <= calmest:
            priorities.append(-row.least_sigma)
        else:
            priorities.append(NEVER)
    return priorities


def _quantile(view: View, quantile: float, objective: str) -> list[float]:
    """Premium cap at a quantile: settle which candidates have the smallest premiums."""
    rows = view.rows
    undefined = [row.unseen > 0 and row.seen < 2 for row in rows]
    if any(undefined):
        pairs = zip(rows, undefined, strict=True)
        return [-float(row.seen) if is_undefined else NEVER for row, is_undefined in pairs]
    ordered = sorted([row.least_premium for row in rows if not math.isnan(row.least_premium)])
    if not ordered:
        return _by_objective(view, objective)
    position = quantile * (len(ordered) - 1)
    rank = math.floor(position)
    last = ordered[rank] + view.tolerance / max(1 - (position - rank), 1e-3)
    unsettled = [NEVER] * len(rows)
    for place, row in enumerate(rows):
        if row.unseen and row.least_premium <= last:
            unsettled[place] = -row.least_premium
    if max(unsettled) > NEVER:
        return unsettled
    for row, standing in zip(rows, view.standing, strict=True):
        if standing in (SURE, DOUBTFUL) and row.least_premium <= last:
            return [NEVER] * len(rows)
    return _by_objective(view, objective)


def _by_objective(view: View, objective: str) -> list[float]:
    """Priorities by the value or the mean."""
    if objective == "value":
        return _by_bound(view, [row.top.value for row in view.rows])
    return _by_bound(view, [row.top.mean for row in view.rows])


def _by_bound(view: View, upper: Sequence[float]) -> list[float]:
    """Priorities by upper bounds of the objective, exact for complete candidates."""
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
    priorities = []
    for bound, standing in zip(upper, view.standing, strict=True):
        if standing is not WAITING or bound < least:
            priorities.append(NEVER)
        elif math.isnan(bound):
            # An undefined bound may be anything.
            priorities.append(math.inf)
        else:
            priorities.append(bound)
    return priorities
