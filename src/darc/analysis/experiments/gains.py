"""Gains over Best-of-K by disagreement, by the number of raters, and as the pool grows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from darc.decide.method import Method, parse_methods
from darc.decide.select import select_batch
from darc.decide.statistics import risk
from darc.ratings.simulated import Population, Preset, Proxy, Truth, proxy_scores, simulate

COUNT = 5
WEIGHT = 2.0
HEADER = ["by", "", "prompts", "sigma", "changed", "mean", "tradeoff", "+-", "CVaR", "+-", "seen"]
SHOWN = (
    *("prompts", "sigma", "changed", "mean", "tradeoff", "tradeoff_half"),
    *("cvar", "cvar_half", "seen"),
)
GAINS = {"value": "entropic value", "cvar": "CVaR of people, 10 %", "tradeoff": "mean - 2 sigma"}


def buckets(
    preset: Preset,
    seed: int = 0,
    *,
    rule: str = "epsilon",
    report: Report = lambda done, total: None,
) -> Findings:
    """Gains over Best-of-K in quintiles of the baseline's disagreement.

    Both choose by the same ratings; gains are in true mean, true tradeoff (mean - 2 sigma) and true
    CVaR_10 (the least pleased tenth of the people). Prompts are put into buckets by the sigma of
    the baseline's choice: in these ratings, in truth (left out where it is the same for all, within
    1 %), and by the proxy. `seen` is the tradeoff's gain measured on the very ratings that chose,
    as it looks where nothing is held out.
    """
    method = Method.parse(rule)
    people = simulate(preset.people, seed)
    true, ratings = people.truth, people.ratings
    proxy = proxy_scores(people, preset.proxy).samples[:, 0]
    report(1, 3)
    base = select_batch(ratings[:, None], "mean").index
    shared: dict[str, Any] = {"beta": method.beta, "gamma": method.gamma, "seed": seed}
    other = select_batch(ratings[:, None], method.rule, **shared).index
    report(2, 3)
    sigma = np.nan_to_num(risk.sigma(ratings))
    outcomes = {
        "mean": true.mean,
        "tradeoff": true.mean - WEIGHT * true.sigma,
        "cvar": true.cvar(0.1),
        "seen": risk.mean(ratings) - WEIGHT * sigma,
    }
    gains = {name: of(each, other) - of(each, base) for name, each in outcomes.items()}
    orders = {
        "ratings": of(sigma, base),
        "truth": of(true.sigma, base),
        "proxy": np.nan_to_num(of(risk.sigma(proxy), base)),
    }
    same = float(np.ptp(orders["truth"])) < 0.01 * float(orders["truth"].mean())
    if same:
        del orders["truth"]
    rows: Rows = []
    for by, height in orders.items():
        place = np.argsort(np.argsort(height, kind="stable"), kind="stable")
        for number in range(COUNT):
            inside = place * COUNT // len(place) == number
            row: dict[str, Any] = {"by": by, "bucket": number + 1, "prompts": int(inside.sum())}
            row["sigma"], _ = average(height[inside])
            row["changed"], _ = average((base != other)[inside].astype(np.float64))
            for name, gain in gains.items():
                row[name], row[f"{name}_half"] = average(gain[inside])
            rows.append(row)
    report(3, 3)
    notes, panels = [], []
    for by, mine in groups(rows, "by").items():
        for name in ("tradeoff", "cvar"):
            means, halves = ([row[key] for row in mine] for key in (name, f"{name}_half"))
            notes.append(
                f"by {by}: {rule}'s true gain in {name} {trend(means, halves)}; "
                f"Q5 - Q1 = {means[-1] - means[0]:+.3f} +- {np.hypot(halves[-1], halves[0]):.3f}"
            )
    if same:
        notes.append("the true sigma is the same for all choices, so no buckets are made by it")
    for name in ("tradeoff", "cvar"):
        drawn = lines(rows, "by", "bucket", name, f"{name}_half", "true gain, by {}")
        if name == "tradeoff":
            seen = groups(rows, "by")["ratings"]
            drawn |= lines(seen, "by", "bucket", "seen", name="seen gain, by {}")
        across, up = "bucket of disagreement", "gain over Best-of-K"
        panels.append(Plot(GAINS[name], across, up, drawn, level=0))
    table = [[row["by"], f"Q{row['bucket']}", *(row[name] for name in SHOWN)] for row in rows]
    return Findings(rows, HEADER, table, notes, panels)


def trend(numbers: list[float], halves: list[float]) -> str:
    """What a row of gains with their half-widths does from its first to its last bucket."""
    steps = np.diff(numbers)
    noise = np.hypot(halves[1:], halves[:-1])
    if (steps > 0).all():
        return "rises at every step"
    if numbers[-1] - numbers[0] <= np.hypot(halves[0], halves[-1]):
        return "does not rise"
    if (steps >= -noise).all():
        return "rises, falling nowhere beyond noise"
    return "rises over all but falls on the way"


RATERS = (2, 3, 4, 5, 8, 16, 32, 64)
RULES = ("mean", "auto", "entropic", "epsilon", "tau", "penalty")
EPSILON, QUANTILE = 0.25, 0.25


def raters_needed(
    preset: Preset, seed: int = 0, *, report: Report = lambda done, total: None
) -> Findings:
    """True outcomes of rules that choose from n raters, and from the truth itself (n is None).

    Means over prompts of the choice's true mean, sigma, entropic value (beta = 1), CVaR_10 over
    people and mean - 2 sigma, and the last three less Best-of-K's from the same raters, with 95 %
    half-widths. `auto` learns from the ratings of all prompts.
    """
    most = max(RATERS)
    crowd = max(preset.people.crowd, most) if preset.people.crowd else 0
    people = simulate(replace(preset.people, raters=most, crowd=crowd), seed)
    true = people.truth
    outcomes = {
        "mean": true.mean,
        "sigma": true.sigma,
        "value": true.value(1.0),
        "cvar": true.cvar(0.1),
        "tradeoff": true.mean - WEIGHT * true.sigma,
    }
    rows: Rows = []
    for place, size in enumerate((*RATERS, None)):
        report(place, len(RATERS))
        samples = np.ascontiguousarray(people.ratings[:, None, :, :size])
        chosen = (
            {rule: select_batch(samples, rule).index for rule in RULES} if size else known(true)
        )
        for rule, index in chosen.items():
            row: dict[str, Any] = {"n": size, "rule": rule}
            row |= {name: float(of(outcomes[name], index).mean()) for name in outcomes}
            for name in GAINS:
                gain = of(outcomes[name], index) - of(outcomes[name], chosen["mean"])
                row[f"{name}_gain"], row[f"{name}_half"] = average(gain)
            rows.append(row)
    names = [f"{name}_{part}" for name in GAINS for part in ("gain", "half")]
    columns = ("rule", "mean", "sigma", *names)
    table = [[row["n"] or "truth", *(row[name] for name in columns)] for row in rows]
    header = ["n", "rule", "mean", "sigma"]
    header += ["value gain", "+-", "CVaR gain", "+-", "mean - 2 sigma gain", "+-"]
    seen = [row for row in rows if row["n"] and row["rule"] != RULES[0]]
    notes, up = [], "true gain over Best-of-K"
    for rule, mine in groups(seen, "rule").items():
        parts = []
        for name, words in GAINS.items():
            better, worse = (
                [str(r["n"]) for r in mine if sign * r[f"{name}_gain"] > r[f"{name}_half"]]
                for sign in (1, -1)
            )
            sides = ", ".join(better) or "none", ", ".join(worse) or "none"
            parts.append(f"{words}: better with {sides[0]}, worse with {sides[1]}")
        notes.append(f"{rule} against Best-of-K (mean) beyond noise, raters: {'; '.join(parts)}")
    panels = []
    for name, title in GAINS.items():
        drawn = lines(seen, "rule", "n", f"{name}_gain", f"{name}_half")
        panels.append(Plot(title, "raters a candidate", up, drawn, True, 0))
    return Findings(rows, header, table, notes, panels)


def known(true: Truth) -> dict[str, NDArray[np.int64]]:
    """What the rules would choose if they knew the truth."""
    value = true.value(1.0)
    near = value >= value.max(axis=1, keepdims=True) - EPSILON
    premium = true.mean - value
    cap = np.quantile(premium, QUANTILE, axis=1, keepdims=True)
    return {
        "mean": true.mean.argmax(axis=1),
        "auto": (true.mean - WEIGHT * true.sigma).argmax(axis=1),
        "entropic": value.argmax(axis=1),
        "epsilon": np.where(near, true.sigma, np.inf).argmin(axis=1),
        "tau": np.where(premium <= cap, value, -np.inf).argmax(axis=1),
        "penalty": (value - premium).argmax(axis=1),
    }


POOLS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
ONE_SCORER = (
    *("mean", "entropic", "epsilon", "lcb", "lcb:lam=2", "cvar", "penalty", "tau"),
    *("poisson", "soft", "rbon", "rbon:b=1"),
)
SEVERAL = ("mean", "epsilon", "worst", "uwo")


def hacking(
    preset: Preset,
    seed: int = 0,
    *,
    sizes: tuple[int, ...] = POOLS,
    rules: Sequence[str] = ONE_SCORER,
    report: Report = lambda done, total: None,
) -> Findings:
    """Reward hacking: true mean of each rule's choice among the first K candidates, K growing.

    Three worlds: one scorer whose favourite feature the rewrites partly remove (`fragile`), one
    whose feature they leave alone (`sturdy`), and the preset's several scorers, of which a share is
    fooled (`several`), with the feature left alone by the rewrites.
    """
    parse_methods(rules)
    people = simulate(replace(preset.people, candidates=max(sizes)), seed)
    one: dict[str, Any] = {"scorers": 1, "fooled": 1.0}
    worlds: dict[str, tuple[Sequence[str], dict[str, Any]]] = {
        "fragile": (rules, one),
        "sturdy": (rules, {**one, "fragility": 0.0}),
        "several": (SEVERAL, {"scorers": max(2, preset.proxy.scorers), "fragility": 0.0}),
    }
    rows: Rows = []
    for world, (tried, settings) in worlds.items():
        proxy = proxy_scores(people, replace(preset.proxy, **settings))
        for method in parse_methods(tried):
            report(len(rows) // len(sizes), 2 * len(rules) + len(SEVERAL))
            rows += [{"world": world, **row} for row in _curve(method, people, proxy, sizes, seed)]
    table, notes, panels = [], [], []
    for world, own in groups(rows, "world").items():
        curves = groups(own, "rule")
        for rule, curve in curves.items():
            means, last = [f"{row['true_mean']:.2f}" for row in curve], curve[-1]
            table.append([world, rule, *means, last["peak"], f"{last['lost']:.2f}"])
        steady = [rule for rule, curve in curves.items() if resists(curve)]
        fallen = [rule for rule in curves if rule not in steady]
        notes.append(
            f"{world}: at the largest K still at their best, within noise: "
            f"{', '.join(steady) or 'none'}; fallen: {', '.join(fallen) or 'none'}"
        )
        drawn = lines(own, "rule", "candidates", "true_mean")
        panels.append(Plot(world, "candidates (K)", "true mean of the choice", drawn, True))
    header = ["world", "rule", *(f"K={size}" for size in sizes), "peak", "lost"]
    return Findings(rows, header, table, notes, panels)


def _curve(
    method: Method, people: Population, proxy: Proxy, sizes: tuple[int, ...], seed: int
) -> Rows:
    """One row a pool size; `lost` is how far the true mean has fallen since its best size."""
    rows: Rows = []
    outcomes = []
    for size in sizes:
        samples = np.ascontiguousarray(proxy.samples[:, :, :size])
        given: dict[str, Any] = {"beta": method.beta, "gamma": method.gamma, "seed": seed}
        if "log_likelihood" in method.rule.required():
            given["log_likelihood"] = proxy.log_likelihood[:, :size]
        index = select_batch(samples, method.rule, **given).index
        outcomes.append(of(people.truth.mean, index))
        true, half = average(outcomes[-1])
        best = int(np.argmax([outcome.mean() for outcome in outcomes]))
        lost, lost_half = average(outcomes[best] - outcomes[-1])
        rows.append(
            {
                "rule": method.text,
                "candidates": size,
                "true_mean": true,
                "half": half,
                "proxy_mean": float(of(samples.mean(axis=(1, 3)), index).mean()),
                "exploit": float(of(people.exploit, index).mean()),
                "peak": sizes[best],
                "lost": lost,
                "lost_half": lost_half,
            }
        )
    return rows


def resists(curve: Rows) -> bool:
    """Whether the true mean at the largest pool is within noise of its best."""
    return bool(curve[-1]["lost"] <= curve[-1]["lost_half"])
