"""How many of the scores the lazy search asks for."""

import time
from typing import Any

import numpy as np

import darc
from benchmarks.report import Table

SPREADS = ((1, 0.3), (1, 1), (2, 1), (3, 1), (3, 3), (5, 1), (5, 5))
POOLS, CANDIDATES, SAMPLES = 40, 16, 9
# Each rule with its parameters, and the prototype's shares in per cent at batch 1 and 4.
RULES: tuple[tuple[str, str, dict[str, Any], tuple[int, int], tuple[int, int]], ...] = (
    ("entropic", "entropic", {}, (22, 35), (26, 48)),
    ("epsilon 0.25", "epsilon", {}, (23, 39), (28, 53)),
    ("penalty 1", "penalty", {}, (20, 37), (22, 52)),
    ("tau 1", "tau", {"tau": 1.0}, (22, 42), (25, 63)),
    ("cvar 0.1", "cvar", {}, (18, 30), (20, 42)),
    ("lcb 1", "lcb", {"lam": 1.0}, (22, 58), (29, 72)),
    ("tau quantile 0.25", "tau", {"quantile": 0.25}, (64, 71), (78, 83)),
    ("mean", "mean", {}, (37, 88), (51, 100)),
)
THREE_SCORERS = (22, 37)


def pool(seed: int, between: float, within: float, uneven: bool, scorers: int = 1) -> np.ndarray:
    """Scores (M, K, n); uneven gives each candidate its own spread."""
    generator = np.random.default_rng(seed)
    spread = within * (np.exp(generator.normal(0, 0.5, size=(CANDIDATES, 1))) if uneven else 1.0)
    center = generator.normal(size=(CANDIDATES, 1)) * between
    noise = generator.normal(size=(scorers, CANDIDATES, SAMPLES)) * spread
    return np.clip(center + noise, -10, 10)


def share(
    rule: str, parameters: dict[str, Any], batch: int, uneven: bool, scorers: int
) -> list[float]:
    """The share of calls at each spread; a wrong choice is an error."""
    result = []
    for between, within in SPREADS:
        calls = 0
        for seed in range(POOLS):
            scores = pool(seed, between, within, uneven, scorers)
            options = dict(parameters) if scorers == 1 else {**parameters, "normalize": (0.0, 1.0)}
            lazy = darc.select_lazily(
                lambda pairs: np.array([scores[:, k, i] for k, i in pairs]),  # noqa: B023
                CANDIDATES,
                SAMPLES,
                rule,
                batch_size=batch,
                **options,
            )
            if lazy.index != darc.select(scores, rule, **options).index:
                raise AssertionError(f"{rule} chose wrongly at seed {seed}")
            calls += lazy.calls or 0
        result.append(calls / (POOLS * CANDIDATES * SAMPLES))
    return result


def text(found: list[float]) -> str:
    return f"{min(found):.0%}-{max(found):.0%}"


def within(found: list[float], reference: tuple[int, int]) -> bool:
    """Whether both ends are at or below the reference, in whole per cent."""
    return round(100 * min(found)) <= reference[0] and round(100 * max(found)) <= reference[1]


def run() -> list[Table]:
    rows: list[list[object]] = []
    kept = {"even": 0, "uneven": 0}
    for label, rule, parameters, *references in RULES:
        for batch, reference in zip((1, 4), references, strict=True):
            cells: list[object] = [label, batch, f"{reference[0]}%-{reference[1]}%"]
            for spread in kept:
                found = share(rule, parameters, batch, spread == "uneven", 1)
                kept[spread] += within(found, reference)
                cells.append(text(found))
            rows.append(cells)
    three = share("entropic", {}, 1, False, 3)
    rows.append(["entropic, 3 scorers", 1, "22%-37%", text(three), None])
    kept["even"] += within(three, THREE_SCORERS)
    note = (
        f"{len(SPREADS)} spreads x {POOLS} pools, every choice equal to darc.select's; at or below "
        f"the prototype: {kept['even']} of {len(rows)} ranges, and {kept['uneven']} of "
        f"{len(rows) - 1} where each candidate has its own spread; the search itself takes "
        f"{milliseconds():.0f} ms a decision"
    )
    header = ["rule", "batch", "prototype", "even spread", "uneven spread"]
    title = f"share of scores asked for by the lazy search, K = {CANDIDATES}, n = {SAMPLES}"
    return [Table(title, header, rows, note)]


def milliseconds() -> float:
    """Time of one lazy decision whose scores cost nothing."""
    started = time.perf_counter()
    for seed in range(20):
        scores = pool(seed, 3, 1, False)
        darc.select_lazily(lambda pairs: scores[0][tuple(zip(*pairs, strict=True))], 16, 9)  # noqa: B023
    return (time.perf_counter() - started) / 20 * 1000
