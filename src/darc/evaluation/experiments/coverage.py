"""How often a lower bound on the choice's mean lies below its true mean."""

from dataclasses import replace
from typing import Any

import numpy as np

from darc.api import select_batch
from darc.core.bounds import lcb_coefficient, lower_confidence_bound
from darc.evaluation.experiments.result import Line, Panel, Report, Result, of, silent
from darc.selection.decision import Decisions
from darc.simulate import Population, Preset, proxy_scores, simulate
from darc.typing import Array

SIZES = (5, 16, 64, 256, 1024)
DELTA = 0.05
BOUNDS = (("certificate", "mean"), ("certificate", "epsilon"), ("lcb score", "lcb"))


def coverage(
    preset: Preset,
    seed: int = 0,
    *,
    sizes: tuple[int, ...] = SIZES,
    delta: float = DELTA,
    report: Report = silent,
) -> Result:
    """Nominal and actual coverage, for independent raters and for rewrites under one scorer.

    The bound is the certificate's (of the choices of `mean` and `epsilon`) or the score that `lcb`
    maximises (of its own choice); the truth is the candidate's mean over all people. Of the raters
    or rewrites of one draw the first n are used, so the sizes are compared on the same prompts.
    """
    most = max(sizes)
    crowd = max(preset.people.crowd, most) if preset.people.crowd else 0
    people = simulate(replace(preset.people, raters=most, crowd=crowd), seed)
    report(1, 2 + 2 * len(sizes))
    scale = preset.people.low, preset.people.high
    proxy = proxy_scores(people, replace(preset.proxy, scorers=1, rewrites=most - 1))
    report(2, 2 + 2 * len(sizes))
    samples = {"raters": people.ratings, "rewrites": np.clip(proxy.samples[:, 0], *scale)}
    rows: list[dict[str, Any]] = []
    for kind, given in samples.items():
        for size in sizes:
            rows += _held(kind, np.ascontiguousarray(given[..., :size]), people, delta)
            report(2 + len(rows) // len(BOUNDS), 2 + 2 * len(sizes))
    table = [list(row.values()) for row in rows]
    header = ["samples", "n", "bound", "chosen by", "nominal", "actual", "slack", "empty"]
    return Result(
        "coverage", rows, header, table, _notes(rows, 1 - delta), _panels(rows, 1 - delta)
    )


def _held(kind: str, samples: Array, people: Population, delta: float) -> list[dict[str, Any]]:
    """One row a bound."""
    rows: list[dict[str, Any]] = []
    for bound, rule in BOUNDS:
        decided = select_batch(samples[:, None], rule)
        limit = lower_bounds(decided, bound, (people.recipe.low, people.recipe.high), delta)
        true = of(people.truth.mean, decided.index)
        rows.append(
            {
                "samples": kind,
                "n": samples.shape[-1],
                "bound": bound,
                "rule": rule,
                "nominal": 1 - delta,
                "actual": float(np.mean(limit <= true)),
                "slack": float(np.mean(true - limit)),
                "empty": float(np.mean(limit <= people.recipe.low)),
            }
        )
    return rows


def lower_bounds(decided: Decisions, bound: str, scale: tuple[float, float], delta: float) -> Array:
    """The bound on each prompt's choice, (P,): the certificate's, or the score of `lcb`."""
    statistics, index = decided.statistics, decided.index
    mean, sigma, count = (
        of(np.asarray(array), index)
        for array in (statistics.mean, statistics.sigma, statistics.count)
    )
    present = decided.pools.present.sum(axis=1)
    if bound == "lcb score":
        factor = lcb_coefficient(np.maximum(count, 1), candidates=present, delta=delta)
        return np.asarray(mean - factor * np.nan_to_num(sigma))
    return lower_confidence_bound(
        mean, np.nan_to_num(sigma), count, candidates=present, bounds=scale, delta=delta
    )


def _notes(rows: list[dict[str, Any]], nominal: float) -> list[str]:
    notes = []
    for kind in ("raters", "rewrites"):
        for bound in ("certificate", "lcb score"):
            mine = [row for row in rows if row["samples"] == kind and row["bound"] == bound]
            worst = min(mine, key=lambda row: row["actual"])
            verdict = "holds" if worst["actual"] >= nominal else "does not hold"
            notes.append(
                f"{kind}, {bound}: {verdict}; at the least {worst['actual']:.1%} "
                f"of the choices (n = {worst['n']}) against {nominal:.0%}"
            )
    return notes


def _panels(rows: list[dict[str, Any]], nominal: float) -> list[Panel]:
    panels = []
    for kind, title in (("raters", "independent raters"), ("rewrites", "rewrites, one scorer")):
        lines = []
        for bound, rule in BOUNDS:
            mine = [r for r in rows if (r["samples"], r["bound"], r["rule"]) == (kind, bound, rule)]
            sizes, actual = [r["n"] for r in mine], [r["actual"] for r in mine]
            lines.append(Line(f"{bound} of {rule}", sizes, actual))
        panels.append(Panel(title, "samples a candidate", "coverage", lines, True, nominal))
    return panels
