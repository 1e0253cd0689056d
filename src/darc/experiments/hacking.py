"""Reward hacking: the choice's true worth as the pool grows under a biased proxy."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.api import select_batch
from darc.engine.deciding import RuleSpec, parse_rules
from darc.experiments.result import Findings, Plot, Report, Rows, average, groups, line, of, silent
from darc.simulate import Population, Preset, proxy_scores, simulate

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
RULES = (
    *("mean", "entropic", "epsilon", "lcb", "lcb:lam=2", "cvar", "penalty", "tau"),
    *("poisson", "soft", "rbon", "rbon:b=1"),
)
SEVERAL = ("mean", "epsilon", "worst", "uwo")


@dataclass(frozen=True)
class World:
    """A way in which the proxy can be hacked, the rules tried on it, and its number of scorers."""

    name: str
    rules: Sequence[str]
    scorers: int
    fragility: float


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
    several = max(2, preset.proxy.scorers)
    worlds = [
        World("fragile", rules, 1, preset.proxy.fragility),
        World("sturdy", rules, 1, 0.0),
        World("several", SEVERAL, several, 0.0),
    ]
    steps, rows = sum(len(world.rules) for world in worlds) + 1, []
    report(1, steps)
    for world in worlds:
        fooled = preset.proxy.fooled if world.scorers > 1 else 1.0
        settings = replace(
            preset.proxy, scorers=world.scorers, fragility=world.fragility, fooled=fooled
        )
        proxy = proxy_scores(people, settings)
        side = {"log_likelihood": proxy.log_likelihood}
        for spec in parse_rules(world.rules, {}):
            rows += _curve(world, spec, people, proxy.samples, side, sizes, seed)
            report(1 + len(rows) // len(sizes), steps)
    return Findings(
        "hacking",
        rows,
        ["world", "rule", *(f"K={size}" for size in sizes), "peak", "lost"],
        _table(rows),
        _notes(rows),
        _panels(rows),
    )


def _curve(
    world: World,
    spec: RuleSpec,
    people: Population,
    samples: NDArray[np.float64],
    side: dict[str, NDArray[np.float64]],
    sizes: tuple[int, ...],
    seed: int,
) -> Rows:
    """One row a pool size; `lost` is how far the true mean has fallen since its best size."""
    rows: Rows = []
    outcomes = []
    for size in sizes:
        wanted = [name for name in spec.rule.required() if name in side]
        given: dict[str, Any] = {name: side[name][:, :size] for name in wanted}
        decided = select_batch(
            np.ascontiguousarray(samples[:, :, :size]),
            spec.rule,
            beta=spec.beta,
            gamma=spec.gamma,
            seed=seed,
            **given,
        )
        outcomes.append(of(people.truth.mean, decided.index))
        true, half = average(outcomes[-1])
        best = int(np.argmax([outcome.mean() for outcome in outcomes]))
        lost, lost_half = average(outcomes[best] - outcomes[-1])
        rows.append(
            {
                "world": world.name,
                "rule": spec.label,
                "candidates": size,
                "true_mean": true,
                "half": half,
                "proxy_mean": float(of(samples.mean(axis=(1, 3)), decided.index).mean()),
                "exploit": float(of(people.exploit, decided.index).mean()),
                "peak": sizes[best],
                "lost": lost,
                "lost_half": lost_half,
            }
        )
    return rows


def _curves(rows: Rows) -> dict[str, dict[str, Rows]]:
    """The rows by world and rule."""
    return {world: groups(own, "rule") for world, own in groups(rows, "world").items()}


def _table(rows: Rows) -> list[list[object]]:
    table: list[list[object]] = []
    for world, curves in _curves(rows).items():
        for rule, curve in curves.items():
            means, last = [f"{row['true_mean']:.2f}" for row in curve], curve[-1]
            table.append([world, rule, *means, last["peak"], f"{last['lost']:.2f}"])
    return table


def resists(curve: Rows) -> bool:
    """Whether the true mean at the largest pool is within noise of its best."""
    return bool(curve[-1]["lost"] <= curve[-1]["lost_half"])


def _notes(rows: Rows) -> list[str]:
    notes = []
    for world, curves in _curves(rows).items():
        steady = [rule for rule, curve in curves.items() if resists(curve)]
        fallen = [rule for rule in curves if rule not in steady]
        notes.append(
            f"{world}: at the largest K still at their best, within noise: "
            f"{', '.join(steady) or 'none'}; fallen: {', '.join(fallen) or 'none'}"
        )
    return notes


def _panels(rows: Rows) -> list[Plot]:
    panels = []
    for world, curves in _curves(rows).items():
        lines = [line(rule, curve, "candidates", "true_mean") for rule, curve in curves.items()]
        panels.append(Plot(world, "candidates (K)", "true mean of the choice", lines, True))
    return panels
