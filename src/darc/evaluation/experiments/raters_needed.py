"""What more raters do for the choice."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.api import select_batch
from darc.evaluation.experiments.result import Line, Panel, Report, Result, average, of, silent
from darc.simulate import Preset, Truth, simulate

SIZES = (2, 3, 4, 5, 8, 16, 32, 64)
RULES = ("mean", "auto", "entropic", "epsilon", "tau", "penalty")
EPSILON, QUANTILE, WEIGHT = 0.25, 0.25, 2.0
OUTCOMES = ("mean", "sigma", "value", "cvar", "tradeoff")
GAINS = {"value": "entropic value", "cvar": "CVaR of people, 10 %", "tradeoff": "mean - 2 sigma"}


def raters_needed(
    preset: Preset,
    seed: int = 0,
    *,
    sizes: tuple[int, ...] = SIZES,
    report: Report = silent,
) -> Result:
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
    rows: list[dict[str, Any]] = []
    for place, size in enumerate((*sizes, 0)):
        if size:
            samples = np.ascontiguousarray(people.ratings[:, None, :, :size])
            chosen = {rule: select_batch(samples, rule).index for rule in RULES}
        else:
            chosen = known(true)
        for rule, index in chosen.items():
            row: dict[str, Any] = {"n": size or None, "rule": rule}
            row |= {name: float(of(outcomes[name], index).mean()) for name in OUTCOMES}
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
    return Result("raters", rows, header, table, _notes(rows), _panels(rows))


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


def _notes(rows: list[dict[str, Any]]) -> list[str]:
    notes = []
    for rule in RULES[1:]:
        mine = [row for row in rows if row["rule"] == rule and row["n"]]
        parts = []
        for name, words in GAINS.items():
            better = [row["n"] for row in mine if row[f"{name}_gain"] > row[f"{name}_half"]]
            worse = [row["n"] for row in mine if row[f"{name}_gain"] < -row[f"{name}_half"]]
            parts.append(f"{words}: better with {_list(better)}, worse with {_list(worse)}")
        notes.append(f"{rule} against Best-of-K (mean) beyond noise, raters: {'; '.join(parts)}")
    return notes


def _list(sizes: list[int]) -> str:
    return ", ".join(map(str, sizes)) or "none"


def _panels(rows: list[dict[str, Any]]) -> list[Panel]:
    panels = []
    for name, title in GAINS.items():
        lines = []
        for rule in RULES[1:]:
            mine = [row for row in rows if row["rule"] == rule and row["n"]]
            gains = [[row[f"{name}_{part}"] for row in mine] for part in ("gain", "half")]
            lines.append(Line(rule, [row["n"] for row in mine], *gains))
        panels.append(
            Panel(title, "raters a candidate", "true gain over Best-of-K", lines, True, 0)
        )
    return panels
