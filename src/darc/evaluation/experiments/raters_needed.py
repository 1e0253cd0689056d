"""What more raters do for the choice."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.api import select_batch
from darc.evaluation.experiments.result import Line, Panel, Report, Result, average, of, silent
from darc.simulate import Preset, Truth, simulate

SIZES = (2, 3, 4, 5, 8, 16, 32, 64)
RULES = ("mean", "entropic", "epsilon")
EPSILON = 0.25
OUTCOMES = ("mean", "sigma", "value", "cvar")


def raters_needed(
    preset: Preset,
    seed: int = 0,
    *,
    sizes: tuple[int, ...] = SIZES,
    report: Report = silent,
) -> Result:
    """True outcomes of rules that choose from n raters, and from the truth itself (n is None).

    Means over prompts of the choice's true mean, sigma, entropic value (beta = 1) and CVaR_10 over
    people, and the last two less Best-of-K's from the same raters, with 95 % half-widths.
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
            for name in ("value", "cvar"):
                gain = of(outcomes[name], index) - of(outcomes[name], chosen["mean"])
                row[f"{name}_gain"], row[f"{name}_half"] = average(gain)
            rows.append(row)
        report(place + 1, steps)
    names = ("value_gain", "value_half", "cvar_gain", "cvar_half")
    columns = ("rule", *OUTCOMES, *names)
    table = [[row["n"] or "truth", *(row[name] for name in columns)] for row in rows]
    header = ["n", "rule", "mean", "sigma", "value", "CVaR", "value gain", "+-", "CVaR gain", "+-"]
    return Result("raters", rows, header, table, _notes(rows), _panels(rows))


def known(true: Truth) -> dict[str, NDArray[np.int64]]:
    """What the rules would choose if they knew the truth."""
    value = true.value(1.0)
    near = value >= value.max(axis=1, keepdims=True) - EPSILON
    calm = np.where(near, true.sigma, np.inf)
    return {
        "mean": true.mean.argmax(axis=1),
        "entropic": value.argmax(axis=1),
        "epsilon": calm.argmin(axis=1),
    }


def _notes(rows: list[dict[str, Any]]) -> list[str]:
    notes = []
    for rule in RULES[1:]:
        for name in ("value", "cvar"):
            mine = [row for row in rows if row["rule"] == rule and row["n"]]
            better = [row["n"] for row in mine if row[f"{name}_gain"] > row[f"{name}_half"]]
            worse = [row["n"] for row in mine if row[f"{name}_gain"] < -row[f"{name}_half"]]
            notes.append(
                f"{rule} against mean in true {name}, raters: better beyond noise with "
                f"{_list(better)}; worse with {_list(worse)}"
            )
    return notes


def _list(sizes: list[int]) -> str:
    return ", ".join(map(str, sizes)) or "none"


def _panels(rows: list[dict[str, Any]]) -> list[Panel]:
    panels = []
    for name, title in (("value", "entropic value"), ("cvar", "CVaR of people, 10 %")):
        lines = []
        for rule in RULES:
            mine = [row for row in rows if row["rule"] == rule and row["n"]]
            lines.append(Line(rule, [row["n"] for row in mine], [row[name] for row in mine]))
        panels.append(Panel(title, "raters a candidate", "true outcome of the choice", lines, True))
    return panels
