"""The experiment `coverage`: how often lower bounds on people's mean hold."""

from dataclasses import replace
from itertools import product

import numpy as np

from darc.analysis.experiments.findings import (
    Chart,
    Findings,
    Progress,
    Rows,
    chosen_values,
    curves_by,
    group_rows,
    ignore_progress,
)
from darc.decide.decision import Decisions
from darc.decide.select import select_batch
from darc.decide.statistics.betting import betting_bound
from darc.decide.statistics.bounds import lcb_coefficient
from darc.ratings.simulated import Preset, proxy_scores, simulate
from darc.typing import Array

SIZES = (5, 16, 64, 256, 1024)
DELTA = 0.05
# Bounds, each with the rule whose choice it is of.
BOUNDS = (("certificate", "mean"), ("certificate", "epsilon"), ("lcb score", "lcb"))
TITLES = {"raters": "independent raters", "rewrites": "rewrites, one scorer"}


def coverage(
    preset: Preset,
    seed: int = 0,
    *,
    sizes: tuple[int, ...] = SIZES,
    report: Progress = ignore_progress,
) -> Findings:
    """Compare nominal and actual coverage, for independent raters and for rewrites.

    The bound is the certificate's (of the choices of `mean` and `epsilon`) or the score that `lcb`
    maximises (of its own choice); the truth is the candidate's mean over all people. Of the raters
    or rewrites of one draw the first n are used, so the sizes are compared on the same prompts.

    Args:
        preset: What the people and the proxy are like.
        seed: The seed of all draws.
        sizes: The numbers of samples per candidate.
        report: Told of progress.

    Returns:
        One row per kind of sample, size and bound.
    """
    largest = max(sizes)
    crowd = 0
    if preset.people.crowd:
        crowd = max(preset.people.crowd, largest)
    people = simulate(replace(preset.people, raters=largest, crowd=crowd), seed)
    scale = (preset.people.low, preset.people.high)
    proxy = proxy_scores(people, replace(preset.proxy, scorers=1, rewrites=largest - 1))
    samples = {"raters": people.ratings, "rewrites": np.clip(proxy.samples[:, 0], *scale)}
    rows: Rows = []
    for (kind, values), size in product(samples.items(), sizes):
        report(len(rows) // len(BOUNDS), 2 * len(sizes))
        for bound, rule in BOUNDS:
            decisions = select_batch(np.ascontiguousarray(values[:, None, :, :size]), rule)
            limit = lower_bounds(decisions, bound, scale)
            truth = chosen_values(people.truth.mean, decisions.index)
            row = {
                "samples": kind,
                "n": size,
                "bound": bound,
                "rule": rule,
                "nominal": 1 - DELTA,
                "actual": float(np.mean(limit <= truth)),
                "slack": float(np.mean(truth - limit)),
                "empty": float(np.mean(limit <= scale[0])),
            }
            rows.append(row)
    by_kind = group_rows(rows, "samples")
    notes = []
    for kind, kind_rows in by_kind.items():
        for bound, bound_rows in group_rows(kind_rows, "bound").items():
            notes.append(_note(kind, bound, bound_rows))
    charts = [_chart(kind, kind_rows) for kind, kind_rows in by_kind.items()]
    header = ["samples", "n", "bound", "chosen by", "nominal", "actual", "slack", "empty"]
    table = [list(row.values()) for row in rows]
    return Findings(rows, header, table, notes, charts)


def lower_bounds(decisions: Decisions, bound: str, scale: tuple[float, float]) -> Array:
    """The bound on each prompt's choice.

    Args:
        decisions: The decisions of P prompts.
        bound: "certificate", or "lcb score" for the score that the rule `lcb` maximises.
        scale: The ends of the scale.

    Returns:
        The bounds (P,).
    """
    candidates = decisions.pools.present.sum(axis=1)
    if bound == "certificate":
        samples = decisions.pools.samples[np.arange(len(decisions.index)), 0, decisions.index]
        return betting_bound(samples, candidates=candidates, bounds=scale, delta=DELTA)
    statistics = decisions.statistics
    mean = chosen_values(np.asarray(statistics.mean), decisions.index)
    sigma = np.nan_to_num(chosen_values(np.asarray(statistics.sigma), decisions.index))
    count = chosen_values(np.asarray(statistics.count), decisions.index)
    factor = lcb_coefficient(np.maximum(count, 1), candidates=candidates, delta=DELTA)
    return np.asarray(mean - factor * sigma)


def _note(kind: str, bound: str, rows: Rows) -> str:
    """Whether a bound holds for every number of samples."""
    worst = min(rows, key=lambda row: row["actual"])
    verdict = "holds" if worst["actual"] >= 1 - DELTA else "does not hold"
    return (
        f"{kind}, {bound}: {verdict}; at the least {worst['actual']:.1%} "
        f"of the choices (n = {worst['n']}) against {1 - DELTA:.0%}"
    )


def _chart(kind: str, rows: Rows) -> Chart:
    """The actual coverage of each bound by the number of samples."""
    by_rule = curves_by(rows, "rule", "n", "actual")
    curves = {f"{bound} of {rule}": by_rule[rule] for bound, rule in BOUNDS}
    return Chart(
        TITLES[kind],
        "samples per candidate",
        "coverage",
        curves,
        logarithmic=True,
        level=1 - DELTA,
    )
