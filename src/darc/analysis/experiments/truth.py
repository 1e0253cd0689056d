"""What simulated people are like, and how often bounds on their mean hold."""

from dataclasses import replace
from itertools import product

import numpy as np

from darc.analysis.experiments.result import (
    Findings,
    Plot,
    Report,
    Rows,
    average,
    groups,
    lines,
    of,
)
from darc.analysis.ranks import jaccard, spearman
from darc.decide.decision import Decisions
from darc.decide.select import select_batch
from darc.decide.statistics import risk
from darc.decide.statistics.bounds import lcb_coefficient, lower_confidence_bound
from darc.errors import InputError
from darc.ratings.simulated import Preset, proxy_scores, simulate
from darc.typing import Array

PAPER = {
    "mean of the largest variance": (0.65, 0.74),
    "its 80 % quantile": (0.84, 0.98),
    "its 90 % quantile": (1.32, 1.65),
    "Spearman of proxy and human sigma": (0.65, 0.65),
    "Jaccard of the top 20 %": (0.47, 0.47),
    "human sigma of Best-of-K": (0.67, 0.67),
    "human mean of Best-of-K": (7.56, 7.56),
}


def disagreement(
    preset: Preset, seed: int = 0, *, report: Report = lambda done, total: None
) -> Findings:
    """Raw-pool disagreement and proxy validity of a preset.

    The largest variance (ddof = 1) over a prompt's candidates, one with a single rating counting as
    0; and, as the paper measures it, the proxy's sigma against people's sigma on the candidate that
    Best-of-K takes by the proxy. One prompt is one point; no truth is used but in the last two
    rows, so sigma's sampling noise is in all others.
    """
    if preset.people.raters < 2 or preset.proxy.rewrites < 1:
        raise InputError(
            "there is no sigma to measure", "give at least two raters and proxy.rewrites=1"
        )
    people = simulate(preset.people, seed)
    proxy = proxy_scores(people, preset.proxy)
    report(1, 2)
    sigma = np.round(risk.sigma(people.ratings), 9)  # equal ones must tie
    largest = np.nan_to_num(sigma).max(axis=1) ** 2
    base = select_batch(proxy.samples, "mean").index
    guess = of(risk.sigma(proxy.samples[:, 0]), base)
    human, known = of(sigma, base), ~np.isnan(of(sigma, base)) & ~np.isnan(guess)
    found = {
        "mean of the largest variance": float(largest.mean()),
        "its 80 % quantile": float(np.quantile(largest, 0.8)),
        "its 90 % quantile": float(np.quantile(largest, 0.9)),
        "Spearman of proxy and human sigma": float(spearman(guess[known], human[known])),
        "Jaccard of the top 20 %": jaccard(guess[known], human[known]),
        "human sigma of Best-of-K": average(human[known])[0],
        "human mean of Best-of-K": float(np.mean(of(risk.mean(people.ratings), base))),
        "true sigma of all candidates": float(np.mean(people.truth.sigma)),
        "Spearman of human and true sigma": float(
            spearman(human[known], of(people.truth.sigma, base)[known])
        ),
    }
    report(2, 2)
    rows, table = [], []
    for name, value in found.items():
        low, high = PAPER.get(name, (None, None))
        rows.append({"measure": name, "value": value, "paper_low": low, "paper_high": high})
        paper = "" if low is None else f"{low:g}" if low == high else f"{low:g} to {high:g}"
        table.append([name, value, paper])
    shares = [round(0.1 * tenth, 1) for tenth in range(1, 10)]
    ranges = [PAPER["its 80 % quantile"], PAPER["its 90 % quantile"]]
    middle, half = ([(high + sign * low) / 2 for low, high in ranges] for sign in (1, -1))
    drawn = {
        "here": (shares, np.quantile(largest, shares).tolist(), None),
        "paper": ([0.8, 0.9], middle, half),
    }
    across, up = "share of prompts below", "largest variance over candidates"
    panels = [Plot("how much people disagree", across, up, drawn)]
    parts = np.array_split(human[known][np.argsort(guess[known], kind="stable")], 10)
    means, halves = zip(*(average(part) for part in parts if len(part)), strict=True)
    tenths = {"Best-of-K's choice": (range(1, len(means) + 1), means, halves)}
    across = "tenth of prompts by the proxy's sigma"
    panels.append(Plot("does the proxy tell?", across, "people's sigma", tenths))
    return Findings(rows, ["", "here", "paper"], table, (), panels)


SIZES = (5, 16, 64, 256, 1024)
DELTA = 0.05
BOUNDS = (("certificate", "mean"), ("certificate", "epsilon"), ("lcb score", "lcb"))


def coverage(
    preset: Preset,
    seed: int = 0,
    *,
    sizes: tuple[int, ...] = SIZES,
    report: Report = lambda done, total: None,
) -> Findings:
    """Nominal and actual coverage, for independent raters and for rewrites under one scorer.

    The bound is the certificate's (of the choices of `mean` and `epsilon`) or the score that `lcb`
    maximises (of its own choice); the truth is the candidate's mean over all people. Of the raters
    or rewrites of one draw the first n are used, so the sizes are compared on the same prompts.
    """
    most = max(sizes)
    crowd = max(preset.people.crowd, most) if preset.people.crowd else 0
    people = simulate(replace(preset.people, raters=most, crowd=crowd), seed)
    scale = preset.people.low, preset.people.high
    proxy = proxy_scores(people, replace(preset.proxy, scorers=1, rewrites=most - 1))
    samples = {"raters": people.ratings, "rewrites": np.clip(proxy.samples[:, 0], *scale)}
    rows: Rows = []
    for (kind, given), size in product(samples.items(), sizes):
        report(len(rows) // len(BOUNDS), 2 * len(sizes))
        for bound, rule in BOUNDS:
            decided = select_batch(np.ascontiguousarray(given[:, None, :, :size]), rule)
            limit = lower_bounds(decided, bound, scale)
            true = of(people.truth.mean, decided.index)
            rows.append(
                {
                    "samples": kind,
                    "n": size,
                    "bound": bound,
                    "rule": rule,
                    "nominal": 1 - DELTA,
                    "actual": float(np.mean(limit <= true)),
                    "slack": float(np.mean(true - limit)),
                    "empty": float(np.mean(limit <= scale[0])),
                }
            )
    notes, panels = [], []
    titles = {"raters": "independent raters", "rewrites": "rewrites, one scorer"}
    for kind, own in groups(rows, "samples").items():
        for bound, mine in groups(own, "bound").items():
            worst = min(mine, key=lambda row: row["actual"])
            verdict = "holds" if worst["actual"] >= 1 - DELTA else "does not hold"
            notes.append(
                f"{kind}, {bound}: {verdict}; at the least {worst['actual']:.1%} "
                f"of the choices (n = {worst['n']}) against {1 - DELTA:.0%}"
            )
        found = zip(BOUNDS, lines(own, "rule", "n", "actual").values(), strict=True)
        drawn = {f"{bound} of {rule}": line for (bound, rule), line in found}
        panels.append(Plot(titles[kind], "samples a candidate", "coverage", drawn, True, 1 - DELTA))
    header = ["samples", "n", "bound", "chosen by", "nominal", "actual", "slack", "empty"]
    table = [list(row.values()) for row in rows]
    return Findings(rows, header, table, notes, panels)


def lower_bounds(decided: Decisions, bound: str, scale: tuple[float, float]) -> Array:
    """The bound on each prompt's choice, (P,): the certificate's, or the score of `lcb`."""
    statistics, index = decided.statistics, decided.index
    mean, sigma, count = (
        of(np.asarray(array), index)
        for array in (statistics.mean, statistics.sigma, statistics.count)
    )
    present = decided.pools.present.sum(axis=1)
    if bound == "lcb score":
        factor = lcb_coefficient(np.maximum(count, 1), candidates=present, delta=DELTA)
        return np.asarray(mean - factor * np.nan_to_num(sigma))
    return lower_confidence_bound(
        mean, np.nan_to_num(sigma), count, candidates=present, bounds=scale, delta=DELTA
    )
