"""Gains over Best-of-K by disagreement, and by the number of raters."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.api import select_batch
from darc.core import risk
from darc.engine.deciding import parse_rules
from darc.experiments.result import Findings, Plot, Report, Rows, average, groups, line, of, silent
from darc.simulate import Preset, Truth, proxy_scores, simulate
from darc.typing import Array

COUNT = 5
WEIGHT = 2.0


def buckets(
    preset: Preset, seed: int = 0, *, rule: str = "epsilon", report: Report = silent
) -> Findings:
    """Gains over Best-of-K in quintiles of the baseline's disagreement.

    Both choose by the same ratings; gains are in true mean, true tradeoff (mean - 2 sigma) and true
    CVaR_10 (the least pleased tenth of the people). Prompts are put into buckets by the sigma of
    the baseline's choice: in these ratings, in truth (left out where it is the same for all, within
    1 %), and by the proxy. `seen` is the tradeoff's
    gain measured on the very ratings that chose, as it looks where nothing is held out.
    """
    spec = parse_rules([rule], {})[0]
    people = simulate(preset.people, seed)
    true = people.truth
    proxy = proxy_scores(people, preset.proxy).samples[:, 0]
    report(1, 3)
    base = select_batch(people.ratings[:, None], "mean").index
    other = select_batch(
        people.ratings[:, None], spec.rule, beta=spec.beta, gamma=spec.gamma, seed=seed
    ).index
    report(2, 3)
    sigma = np.nan_to_num(risk.sigma(people.ratings))
    gains = {
        "mean": _gain(true.mean, base, other),
        "tradeoff": _gain(true.mean - WEIGHT * true.sigma, base, other),
        "cvar": _gain(true.cvar(0.1), base, other),
        "seen": _gain(risk.mean(people.ratings) - WEIGHT * sigma, base, other),
    }
    orders = {
        "ratings": of(sigma, base),
        "truth": of(true.sigma, base),
        "proxy": np.nan_to_num(of(risk.sigma(proxy), base)),
    }
    rows: Rows = []
    same = float(np.ptp(orders["truth"])) < 0.01 * float(orders["truth"].mean())
    for by, height in orders.items():
        if by == "truth" and same:
            continue
        place = np.argsort(np.argsort(height, kind="stable"), kind="stable")
        bucket = place * COUNT // len(place)
        for number in range(COUNT):
            inside = bucket == number
            row: dict[str, Any] = {"by": by, "bucket": number + 1, "prompts": int(inside.sum())}
            row |= {"sigma": float(height[inside].mean()) if inside.any() else float("nan")}
            row |= {"changed": float(np.mean((base != other)[inside])) if inside.any() else 0.0}
            for name, gain in gains.items():
                row[name], row[f"{name}_half"] = average(gain[inside])
            rows.append(row)
    report(3, 3)
    notes = _notes(rows, rule)
    if same:
        notes.append("the true sigma is the same for all choices, so no buckets are made by it")
    return Findings("buckets", rows, HEADER, _table(rows), notes, _panels(rows))


HEADER = ["by", "", "prompts", "sigma", "changed", "mean", "tradeoff", "+-", "CVaR", "+-", "seen"]
TITLES = {"tradeoff": "mean - 2 sigma", "cvar": "CVaR of people, 10 %"}


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


def _gain(outcome: Array, base: NDArray[np.int64], other: NDArray[np.int64]) -> Array:
    return of(outcome, other) - of(outcome, base)


def _table(rows: Rows) -> list[list[object]]:
    names = ("sigma", "changed", "mean", "tradeoff", "tradeoff_half", "cvar", "cvar_half", "seen")
    return [
        [row["by"], f"Q{row['bucket']}", row["prompts"], *(row[name] for name in names)]
        for row in rows
    ]


def _notes(rows: Rows, rule: str) -> list[str]:
    notes = []
    for by, mine in groups(rows, "by").items():
        for name in TITLES:
            gain, half = ([row[key] for row in mine] for key in (name, f"{name}_half"))
            notes.append(
                f"by {by}: {rule}'s true gain in {name} {trend(gain, half)}; "
                f"Q5 - Q1 = {gain[-1] - gain[0]:+.3f} +- {np.hypot(half[-1], half[0]):.3f}"
            )
    return notes


def _panels(rows: Rows) -> list[Plot]:
    panels = []
    for name, title in TITLES.items():
        lines = [
            line(f"true gain, by {by}", mine, "bucket", name, f"{name}_half")
            for by, mine in groups(rows, "by").items()
        ]
        if name == "tradeoff":
            seen = groups(rows, "by")["ratings"]
            lines.append(line("seen gain, by ratings", seen, "bucket", "seen"))
        panels.append(Plot(title, "bucket of disagreement", "gain over Best-of-K", lines, level=0))
    return panels


SIZES = (2, 3, 4, 5, 8, 16, 32, 64)
RULES = ("mean", "auto", "entropic", "epsilon", "tau", "penalty")
EPSILON, QUANTILE = 0.25, 0.25
GAINS = {"value": "entropic value", "cvar": "CVaR of people, 10 %", "tradeoff": "mean - 2 sigma"}


def raters_needed(
    preset: Preset,
    seed: int = 0,
    *,
    sizes: tuple[int, ...] = SIZES,
    report: Report = silent,
) -> Findings:
    """True outcomes of rules that choose from n raters, and from the truth itself (n is None).

    Means over prompts of the choice's true mean, sigma, entropic value (beta = 1), CVaR_10 over
    people and mean - 2 sigma, and the last three less Best-of-K's from the same raters, with 95 %
    half-widths. `auto` learns from the ratings of all prompts.
    """
    most = max(sizes)
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
    steps = len(sizes) + 1
    report(1, steps)
    rows: Rows = []
    for place, size in enumerate((*sizes, 0)):
        if size:
            samples = np.ascontiguousarray(people.ratings[:, None, :, :size])
            chosen = {rule: select_batch(samples, rule).index for rule in RULES}
        else:
            chosen = known(true)
        for rule, index in chosen.items():
            row: dict[str, Any] = {"n": size or None, "rule": rule}
            row |= {name: float(of(outcomes[name], index).mean()) for name in outcomes}
            for name in GAINS:
                gain = of(outcomes[name], index) - of(outcomes[name], chosen["mean"])
                row[f"{name}_gain"], row[f"{name}_half"] = average(gain)
            rows.append(row)
        report(place + 1, steps)
    names = [f"{name}_{part}" for name in GAINS for part in ("gain", "half")]
    columns = ("rule", "mean", "sigma", *names)
    table = [[row["n"] or "truth", *(row[name] for name in columns)] for row in rows]
    header = ["n", "rule", "mean", "sigma"]
    header += ["value gain", "+-", "CVaR gain", "+-", "mean - 2 sigma gain", "+-"]
    return Findings("raters", rows, header, table, _raters_notes(rows), _raters_panels(rows))


def known(true: Truth) -> dict[str, NDArray[np.int64]]:
    """What the rules would choose if they knew the truth."""
    value = true.value(1.0)
    near = value >= value.max(axis=1, keepdims=True) - EPSILON
    calm = np.where(near, true.sigma, np.inf)
    premium = true.mean - value
    cap = np.quantile(premium, QUANTILE, axis=1, keepdims=True)
    return {
        "mean": true.mean.argmax(axis=1),
        "auto": (true.mean - WEIGHT * true.sigma).argmax(axis=1),
        "entropic": value.argmax(axis=1),
        "epsilon": calm.argmin(axis=1),
        "tau": np.where(premium <= cap, value, -np.inf).argmax(axis=1),
        "penalty": (value - premium).argmax(axis=1),
    }


def _raters_notes(rows: Rows) -> list[str]:
    notes = []
    for rule, mine in _seen(rows).items():
        parts = []
        for name, words in GAINS.items():
            sides = []
            for sign in (1, -1):
                sure = [
                    str(row["n"])
                    for row in mine
                    if sign * row[f"{name}_gain"] > row[f"{name}_half"]
                ]
                sides.append(", ".join(sure) or "none")
            parts.append(f"{words}: better with {sides[0]}, worse with {sides[1]}")
        notes.append(f"{rule} against Best-of-K (mean) beyond noise, raters: {'; '.join(parts)}")
    return notes


def _raters_panels(rows: Rows) -> list[Plot]:
    panels = []
    for name, title in GAINS.items():
        lines = [
            line(rule, mine, "n", f"{name}_gain", f"{name}_half")
            for rule, mine in _seen(rows).items()
        ]
        panels.append(Plot(title, "raters a candidate", "true gain over Best-of-K", lines, True, 0))
    return panels


def _seen(rows: Rows) -> dict[str, Rows]:
    """The rows of raters, not of the truth, by rules other than Best-of-K."""
    return groups([row for row in rows if row["n"] and row["rule"] != RULES[0]], "rule")
