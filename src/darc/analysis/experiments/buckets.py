"""The experiment `buckets`: true gains over Best-of-K by disagreement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from darc.decide.method import Method
from darc.decide.select import select_batch
from darc.decide.statistics import risk
from darc.ratings.simulated import Population, Preset, proxy_scores, simulate
from darc.typing import Array

BUCKETS = 5
# The weight of sigma in the tradeoff, mean - 2 sigma.
SIGMA_WEIGHT = 2.0
# Titles of charts, by the outcome in which a rule gains.
OUTCOMES = {"tradeoff": "mean - 2 sigma", "cvar": "CVaR of people, 10 %"}
# True sigmas of the choices that differ by less than this share of their mean are the same.
SAME_SIGMA = 0.01
HEADER = ["by", "", "prompts", "sigma", "changed", "mean", "tradeoff", "+-", "CVaR", "+-", "seen"]
COLUMNS = (
    "prompts",
    "sigma",
    "changed",
    "mean",
    "tradeoff",
    "tradeoff_half",
    "cvar",
    "cvar_half",
    "seen",
)


@dataclass(frozen=True, eq=False)
class _Choices:
    """The candidates that Best-of-K and the rule choose, both (P,)."""

    best_of_k: NDArray[np.int64]
    rule: NDArray[np.int64]

    def gain(self, values: Array) -> Array:
        """By how much the rule's choice exceeds that of Best-of-K in values (P, K), (P,)."""
        return chosen_values(values, self.rule) - chosen_values(values, self.best_of_k)


def buckets(
    preset: Preset,
    seed: int = 0,
    *,
    rule: str = "epsilon",
    report: Progress = ignore_progress,
) -> Findings:
    """Measure gains over Best-of-K in fifths of the prompts by the baseline's disagreement.

    Both choose by the same ratings; gains are in true mean, true tradeoff (mean - 2 sigma) and true
    CVaR_10 (the least pleased tenth of the people). `seen` is the tradeoff's gain measured on the
    very ratings that chose, as it looks if nothing is held out. Prompts are put into buckets by the
    sigma of the baseline's choice: in these ratings, in truth (left out if it is the same for
    all), and by the proxy.

    Args:
        preset: What the people and the proxy are like.
        seed: The seed of all draws.
        rule: The rule that is compared with Best-of-K.
        report: Told of progress.

    Returns:
        One row per measure of disagreement and bucket.
    """
    method = Method.parse(rule)
    people = simulate(preset.people, seed)
    proxy = proxy_scores(people, preset.proxy).samples[:, 0]
    report(1, 3)
    choices = _choose(people, method, seed)
    report(2, 3)
    gains = {name: choices.gain(values) for name, values in _outcomes(people).items()}
    disagreement = _disagreement(people, proxy, choices.best_of_k)
    changed = (choices.best_of_k != choices.rule).astype(np.float64)
    rows: Rows = []
    for by, sigma in disagreement.items():
        rows += _bucket_rows(by, sigma, changed, gains)
    report(3, 3)
    notes = []
    for by, by_rows in group_rows(rows, "by").items():
        notes += [_note(rule, by, by_rows, outcome) for outcome in OUTCOMES]
    if "truth" not in disagreement:
        notes.append("the true sigma is the same for all choices, so no buckets are made by it")
    charts = [_chart(rows, outcome) for outcome in OUTCOMES]
    table = [[row["by"], f"Q{row['bucket']}", *(row[name] for name in COLUMNS)] for row in rows]
    return Findings(rows, HEADER, table, notes, charts)


def _choose(people: Population, method: Method, seed: int) -> _Choices:
    samples = people.ratings[:, None]
    options: dict[str, Any] = {"beta": method.beta, "gamma": method.gamma, "seed": seed}
    return _Choices(
        best_of_k=select_batch(samples, "mean").index,
        rule=select_batch(samples, method.rule, **options).index,
    )


def _outcomes(people: Population) -> dict[str, Array]:
    """What each candidate is worth (P, K), by outcome."""
    truth = people.truth
    seen_sigma = np.nan_to_num(risk.sigma(people.ratings))
    return {
        "mean": truth.mean,
        "tradeoff": truth.mean - SIGMA_WEIGHT * truth.sigma,
        "cvar": truth.cvar(0.1),
        "seen": risk.mean(people.ratings) - SIGMA_WEIGHT * seen_sigma,
    }


def _disagreement(
    people: Population, proxy: Array, best_of_k: NDArray[np.int64]
) -> dict[str, Array]:
    """The sigma of Best-of-K's choice (P,), by who measures it."""
    true_sigma = chosen_values(people.truth.sigma, best_of_k)
    by_ratings = chosen_values(np.nan_to_num(risk.sigma(people.ratings)), best_of_k)
    by_proxy = np.nan_to_num(chosen_values(risk.sigma(proxy), best_of_k))
    if float(np.ptp(true_sigma)) < SAME_SIGMA * float(true_sigma.mean()):
        return {"ratings": by_ratings, "proxy": by_proxy}
    return {"ratings": by_ratings, "truth": true_sigma, "proxy": by_proxy}


def _bucket_rows(by: str, sigma: Array, changed: Array, gains: Mapping[str, Array]) -> Rows:
    """One row per bucket, from the least to the most disagreement."""
    place = np.argsort(np.argsort(sigma, kind="stable"), kind="stable")
    rows: Rows = []
    for bucket in range(BUCKETS):
        inside = place * BUCKETS // len(place) == bucket
        row: dict[str, Any] = {"by": by, "bucket": bucket + 1, "prompts": int(inside.sum())}
        row["sigma"], _ = mean_and_half_width(sigma[inside])
        row["changed"], _ = mean_and_half_width(changed[inside])
        for name, gain in gains.items():
            row[name], row[f"{name}_half"] = mean_and_half_width(gain[inside])
        rows.append(row)
    return rows


def _note(rule: str, by: str, rows: Rows, outcome: str) -> str:
    """How the rule's gain changes from the first to the last bucket."""
    means = [row[outcome] for row in rows]
    half_widths = [row[f"{outcome}_half"] for row in rows]
    difference = means[-1] - means[0]
    half_width = np.hypot(half_widths[-1], half_widths[0])
    return (
        f"by {by}: {rule}'s true gain in {outcome} {trend(means, half_widths)}; "
        f"Q5 - Q1 = {difference:+.3f} +- {half_width:.3f}"
    )


def trend(means: Sequence[float], half_widths: Sequence[float]) -> str:
    """Say what gains do from the first to the last bucket.

    Args:
        means: The gains.
        half_widths: The half-widths of their intervals.

    Returns:
        A phrase such as "rises at every step".
    """
    steps = np.diff(means)
    noise = np.hypot(half_widths[1:], half_widths[:-1])
    if (steps > 0).all():
        return "rises at every step"
    if means[-1] - means[0] <= np.hypot(half_widths[0], half_widths[-1]):
        return "does not rise"
    if (steps >= -noise).all():
        return "rises, falling nowhere beyond noise"
    return "rises over all but falls on the way"


def _chart(rows: Rows, outcome: str) -> Chart:
    """The gain in an outcome by bucket."""
    curves = curves_by(rows, "by", "bucket", outcome, f"{outcome}_half", "true gain, by {}")
    if outcome == "tradeoff":
        by_ratings = group_rows(rows, "by")["ratings"]
        curves |= curves_by(by_ratings, "by", "bucket", "seen", name="seen gain, by {}")
    return Chart(
        OUTCOMES[outcome], "bucket of disagreement", "gain over Best-of-K", curves, level=0
    )
