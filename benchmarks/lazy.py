"""How many of the scores the lazy search asks for."""

import time
from typing import Any

import numpy as np

import darc
from benchmarks.report import Table

SPREADS = ((1, 0.3), (1, 1), (2, 1), (3, 1), (3, 3), (5, 1), (5, 5))
POOLS, CANDIDATES, SAMPLES = 30, 16, 9
RULES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("entropic", "entropic", {}),
    ("epsilon 0.25", "epsilon", {}),
    ("penalty 1", "penalty", {}),
    ("tau 1", "tau", {"tau": 1.0}),
    ("cvar 0.1", "cvar", {}),
    ("lcb 1", "lcb", {"lam": 1.0}),
    ("tau quantile 0.25", "tau", {"quantile": 0.25}),
    ("mean", "mean", {}),
)


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
            options = dict(parameters) if scorers == 1 else {**parameters, "normalize": "none"}
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


def run() -> list[Table]:
    rows: list[list[object]] = []
    for label, rule, parameters in RULES:
        cells: list[object] = [label]
        for uneven in (False, True):
            for batch in (1, 4):
                found = share(rule, parameters, batch, uneven, 1)
                cells.append(f"{min(found):.0%}-{max(found):.0%}")
        rows.append(cells)
    three = share("entropic", {}, 1, False, 3)
    started = time.perf_counter()
    for seed in range(20):
        scores = pool(seed, 3, 1, False)
        darc.select_lazily(lambda pairs: scores[0][tuple(zip(*pairs, strict=True))], 16, 9)  # noqa: B023
    each = (time.perf_counter() - started) / 20 * 1000
    note = (
        f"{len(SPREADS)} spreads x {POOLS} pools, every choice equal to darc.select's; "
        f"three scorers, entropic: {min(three):.0%}-{max(three):.0%}; "
        f"the search itself takes {each:.0f} ms a decision"
    )
    header = ["rule", "even, batch 1", "even, batch 4", "uneven, batch 1", "uneven, batch 4"]
    title = f"share of scores asked for by the lazy search, K = {CANDIDATES}, n = {SAMPLES}"
    return [Table(title, header, rows, note)]
