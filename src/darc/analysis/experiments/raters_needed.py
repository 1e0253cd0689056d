"""The experiment `raters`: true gains over Best-of-K by the number of raters."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.analysis.experiments.findings import (
    Chart,
    Findings,
    Progress,
    Rows,
    chosen_values,
    curves_by,
    group_rows,
    ignore_progress,
    mean_and_half_width,
)
from darc.decide.select import select_batch
from darc.ratings.simulated import Population, Preset, Truth, simulate
from darc.typing import Array

RATERS = (2, 3, 4, 5, 8, 16, 32, 64)
BASELINE = "mean"
RULES = (BASELINE, "auto", "entropic", "epsilon", "tau", "penalty")
# The outcomes in which rules are compared with Best-of-K, in words.
GAINS = {"value": "entropic value", "cvar": "CVaR of people, 10 %", "tradeoff": "mean - 2 sigma"}
SIGMA_WEIGHT = 2.0
# Parameters of the rules `epsilon` and `tau`.
EPSILON = 0.25
QUANTILE = 0.25
HEADER = [
    "n",
    "rule",
    "mean",
    "sigma",
    "value gain",
    "+-",
    "CVaR gain",
    "+-",
    "mean - 2 sigma gain",
    "+-",
]


def raters_needed(preset: Preset, seed: int = 0, *, report: Progress = ignore_progress) -> Findings:
    """Measure true outcomes of rules that choose from n raters, and from the truth itself.

    Outcomes are means over prompts of the choice's true mean, sigma, entropic value (beta = 1),
    CVaR_10 over people and mean - 2 sigma, and the last three less Best-of-K's from the same
    raters, with 95 % half-widths. `auto` learns from the ratings of all prompts.

    Args:
        preset: What the people are like.
        seed: The seed of all draws.
        report: Told of progress.

    Returns:
        One row per number of raters (None for the truth) and rule.
    """
    most = max(RATERS)
    crowd = 0
    if preset.people.crowd:
        crowd = max(preset.people.crowd, most)
    people = simulate(replace(preset.people, raters=most, crowd=crowd), seed)
    outcomes = _outcomes(people.truth)
    rows: Rows = []
    for step, raters in enumerate(RATERS):
        report(step, len(RATERS))
        rows += _outcome_rows(raters, _choices(people, raters), outcomes)
    report(len(RATERS), len(RATERS))
    rows += _outcome_rows(None, choices_by_truth(people.truth), outcomes)
    compared = [row for row in rows if row["n"] and row["rule"] != BASELINE]
    notes = [_note(rule, rule_rows) for rule, rule_rows in group_rows(compared, "rule").items()]
    charts = [_chart(compared, outcome) for outcome in GAINS]
    return Findings(rows, HEADER, [_table_row(row) for row in rows], notes, charts)


def _outcomes(truth: Truth) -> dict[str, Array]:
    """What each candidate is truly worth (P, K), by outcome."""
    return {
        "mean": truth.mean,
        "sigma": truth.sigma,
        "value": truth.value(1.0),
        "cvar": truth.cvar(0.1),
        "tradeoff": truth.mean - SIGMA_WEIGHT * truth.sigma,
    }


def _choices(people: Population, raters: int) -> dict[str, NDArray[np.int64]]:
    """What the rules choose from the first raters, (P,) by rule."""
    samples = np.ascontiguousarray(people.ratings[:, None, :, :raters])
    return {rule: select_batch(samples, rule).index for rule in RULES}


def choices_by_truth(truth: Truth) -> dict[str, NDArray[np.int64]]:
    """What the rules would choose if they knew the truth.

    Args:
        truth: What all people think of the candidates.

    Returns:
        The choices (P,) by rule.
    """
    value = truth.value(1.0)
    near_best = value >= value.max(axis=1, keepdims=True) - EPSILON
    premium = truth.mean - value
    cap = np.quantile(premium, QUANTILE, axis=1, keepdims=True)
    return {
        "mean": truth.mean.argmax(axis=1),
        "auto": (truth.mean - SIGMA_WEIGHT * truth.sigma).argmax(axis=1),
        "entropic": value.argmax(axis=1),
        "epsilon": np.where(near_best, truth.sigma, np.inf).argmin(axis=1),
        "tau": np.where(premium <= cap, value, -np.inf).argmax(axis=1),
        "penalty": (value - premium).argmax(axis=1),
    }


def _outcome_rows(
    raters: int | None,
    choices: Mapping[str, NDArray[np.int64]],
    outcomes: Mapping[str, Array],
) -> Rows:
    """One row per rule."""
    rows: Rows = []
    for rule, index in choices.items():
        row: dict[str, Any] = {"n": raters, "rule": rule}
        for name, values in outcomes.items():
            row[name] = float(chosen_values(values, index).mean())
        for name in GAINS:
            baseline = chosen_values(outcomes[name], choices[BASELINE])
            gain = chosen_values(outcomes[name], index) - baseline
            row[f"{name}_gain"], row[f"{name}_half"] = mean_and_half_width(gain)
        rows.append(row)
    return rows


def _table_row(row: Mapping[str, Any]) -> list[object]:
    cells = [row["n"] or "truth", row["rule"], row["mean"], row["sigma"]]
    for name in GAINS:
        cells += [row[f"{name}_gain"], row[f"{name}_half"]]
    return cells


def _note(rule: str, rows: Rows) -> str:
    """With how many raters a rule is better or worse than Best-of-K beyond noise."""
    parts = []
    for name, words in GAINS.items():
        better = [str(row["n"]) for row in rows if row[f"{name}_gain"] > row[f"{name}_half"]]
        worse = [str(row["n"]) for row in rows if -row[f"{name}_gain"] > row[f"{name}_half"]]
        parts.append(
            f"{words}: better with {', '.join(better) or 'none'}, "
            f"worse with {', '.join(worse) or 'none'}"
        )
    return f"{rule} against Best-of-K (mean) beyond noise, raters: {'; '.join(parts)}"


def _chart(rows: Rows, outcome: str) -> Chart:
    """The gain in an outcome by the number of raters."""
    return Chart(
        GAINS[outcome],
        "raters per candidate",
        "true gain over Best-of-K",
        curves_by(rows, "rule", "n", f"{outcome}_gain", f"{outcome}_half"),
        logarithmic=True,
        level=0,
    )
