"""Reward hacking: the choice's true worth as the pool grows under a biased proxy."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from darc.api import select_batch
from darc.engine.deciding import RuleSpec, parse_rules
from darc.experiments.result import Findings, Plot, Report, Rows, average, groups, lines, of, silent
from darc.simulate import Population, Preset, Proxy, proxy_scores, simulate

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
RULES = (
    *("mean", "entropic", "epsilon", "lcb", "lcb:lam=2", "cvar", "penalty", "tau"),
    *("poisson", "soft", "rbon", "rbon:b=1"),
)
SEVERAL = ("mean", "epsilon", "worst", "uwo")


def hacking(
    preset: Preset,
    seed: int = 0,
    *,
    sizes: tuple[int, ...] = SIZES,
    rules: Sequence[str] = RULES,
    report: Report = silent,
) -> Findings:
    """True mean of each rule's choice among the first K candidates, K growing.

    Three worlds: one scorer whose favourite feature the rewrites partly remove (`fragile`), one
    whose feature they leave alone (`sturdy`), and the preset's several scorers, of which a share is
    fooled (`several`), with the feature left alone by the rewrites.
    """
    parse_rules(rules, {})
    people = simulate(replace(preset.people, candidates=max(sizes)), seed)
    one: dict[str, Any] = {"scorers": 1, "fooled": 1.0}
    worlds: dict[str, tuple[Sequence[str], dict[str, Any]]] = {
        "fragile": (rules, one),
        "sturdy": (rules, {**one, "fragility": 0.0}),
        "several": (SEVERAL, {"scorers": max(2, preset.proxy.scorers), "fragility": 0.0}),
    }
    steps, rows = sum(len(tried) for tried, _ in worlds.values()) + 1, list[dict[str, Any]]()
    report(1, steps)
    for world, (tried, settings) in worlds.items():
        proxy = proxy_scores(people, replace(preset.proxy, **settings))
        for spec in parse_rules(tried, {}):
            rows += [{"world": world, **row} for row in _curve(spec, people, proxy, sizes, seed)]
            report(1 + len(rows) // len(sizes), steps)
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
    return Findings("hacking", rows, header, table, notes, panels)


def _curve(
    spec: RuleSpec, people: Population, proxy: Proxy, sizes: tuple[int, ...], seed: int
) -> Rows:
    """One row a pool size; `lost` is how far the true mean has fallen since its best size."""
    side = {"log_likelihood": proxy.log_likelihood}
    wanted = [name for name in spec.rule.required() if name in side]
    rows: Rows = []
    outcomes = []
    for size in sizes:
        samples = np.ascontiguousarray(proxy.samples[:, :, :size])
        given: dict[str, Any] = {name: side[name][:, :size] for name in wanted}
        given |= {"beta": spec.beta, "gamma": spec.gamma, "seed": seed}
        index = select_batch(samples, spec.rule, **given).index
        outcomes.append(of(people.truth.mean, index))
        true, half = average(outcomes[-1])
        best = int(np.argmax([outcome.mean() for outcome in outcomes]))
        lost, lost_half = average(outcomes[best] - outcomes[-1])
        rows.append(
            {
                "rule": spec.label,
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
