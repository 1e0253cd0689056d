"""The experiment `hacking`: what rules choose as a pool grows and its scorer is fooled."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

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
    mean_and_half_width,
)
from darc.decide.method import Method, parse_methods
from darc.decide.select import select_batch
from darc.ratings.simulated import Population, Preset, Proxy, proxy_scores, simulate

POOL_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
ONE_SCORER_RULES = (
    "mean",
    "entropic",
    "epsilon",
    "lcb",
    "lcb:lam=2",
    "cvar",
    "penalty",
    "tau",
    "poisson",
    "soft",
    "rbon",
    "rbon:b=1",
)
SEVERAL_SCORERS_RULES = ("mean", "epsilon", "worst", "uwo")


@dataclass(frozen=True)
class _World:
    """A way in which the proxy can be fooled."""

    name: str
    rules: Sequence[str]
    #: Changes to the preset's proxy.
    proxy_settings: dict[str, Any] = field(default_factory=dict)


def hacking(
    preset: Preset,
    seed: int = 0,
    *,
    sizes: tuple[int, ...] = POOL_SIZES,
    rules: Sequence[str] = ONE_SCORER_RULES,
    report: Progress = ignore_progress,
) -> Findings:
    """Measure reward hacking: the true mean of each rule's choice among the first K candidates.

    Three worlds: one scorer whose favourite feature the rewrites partly remove (`fragile`), one
    whose feature they leave alone (`sturdy`), and the preset's several scorers, of which a share is
    fooled (`several`), with the feature left alone by the rewrites.

    Args:
        preset: What the people and the proxy are like.
        seed: The seed of all draws.
        sizes: The pool sizes K, rising.
        rules: The rules under one scorer.
        report: Told of progress.

    Returns:
        One row per world, rule and pool size.

    Raises:
        InputError: If there is no such rule or parameter.
    """
    # Wrong rules are refused before people are simulated.
    parse_methods(rules)
    people = simulate(replace(preset.people, candidates=max(sizes)), seed)
    worlds = _worlds(preset, rules)
    curves = sum(len(world.rules) for world in worlds)
    rows: Rows = []
    for world in worlds:
        proxy = proxy_scores(people, replace(preset.proxy, **world.proxy_settings))
        for method in parse_methods(world.rules):
            report(len(rows) // len(sizes), curves)
            for row in _curve_rows(method, people, proxy, sizes, seed):
                rows.append({"world": world.name, **row})
    table: list[list[object]] = []
    notes = []
    charts = []
    for name, world_rows in group_rows(rows, "world").items():
        table += _table_rows(name, world_rows)
        notes.append(_note(name, world_rows))
        charts.append(
            Chart(
                name,
                "candidates (K)",
                "true mean of the choice",
                curves_by(world_rows, "rule", "candidates", "true_mean"),
                logarithmic=True,
            )
        )
    header = ["world", "rule", *(f"K={size}" for size in sizes), "peak", "lost"]
    return Findings(rows, header, table, notes, charts)


def _worlds(preset: Preset, rules: Sequence[str]) -> list[_World]:
    several = max(2, preset.proxy.scorers)
    return [
        _World("fragile", rules, {"scorers": 1, "fooled": 1.0}),
        _World("sturdy", rules, {"scorers": 1, "fooled": 1.0, "fragility": 0.0}),
        _World("several", SEVERAL_SCORERS_RULES, {"scorers": several, "fragility": 0.0}),
    ]


def _curve_rows(
    method: Method, people: Population, proxy: Proxy, sizes: tuple[int, ...], seed: int
) -> Rows:
    """One row per pool size; `lost` is how far the true mean has fallen since its best size."""
    rows: Rows = []
    true_means = []
    for size in sizes:
        samples = np.ascontiguousarray(proxy.samples[:, :, :size])
        options: dict[str, Any] = {"beta": method.beta, "gamma": method.gamma, "seed": seed}
        if "log_likelihood" in method.rule.required():
            options["log_likelihood"] = proxy.log_likelihood[:, :size]
        index = select_batch(samples, method.rule, **options).index
        true_means.append(chosen_values(people.truth.mean, index))
        best = int(np.argmax([values.mean() for values in true_means]))
        true_mean, half = mean_and_half_width(true_means[-1])
        lost, lost_half = mean_and_half_width(true_means[best] - true_means[-1])
        row = {
            "rule": method.text,
            "candidates": size,
            "true_mean": true_mean,
            "half": half,
            "proxy_mean": float(chosen_values(samples.mean(axis=(1, 3)), index).mean()),
            "exploit": float(chosen_values(people.exploit, index).mean()),
            "peak": sizes[best],
            "lost": lost,
            "lost_half": lost_half,
        }
        rows.append(row)
    return rows


def resists(curve: Rows) -> bool:
    """Whether the true mean at the largest pool is within noise of its best."""
    last = curve[-1]
    return bool(last["lost"] <= last["lost_half"])


def _table_rows(world: str, rows: Rows) -> list[list[object]]:
    """One row per rule, with the true mean at each pool size."""
    table: list[list[object]] = []
    for rule, curve in group_rows(rows, "rule").items():
        means = [f"{row['true_mean']:.2f}" for row in curve]
        last = curve[-1]
        table.append([world, rule, *means, last["peak"], f"{last['lost']:.2f}"])
    return table


def _note(world: str, rows: Rows) -> str:
    """Which rules are still at their best with the largest pool."""
    curves = group_rows(rows, "rule")
    steady = [rule for rule, curve in curves.items() if resists(curve)]
    fallen = [rule for rule in curves if rule not in steady]
    return (
        f"{world}: at the largest K still at their best, within noise: "
        f"{', '.join(steady) or 'none'}; fallen: {', '.join(fallen) or 'none'}"
    )
