"""How many of the scores the lazy search asks for, and what the search itself costs."""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import darc
from benchmarks.report import Table

SPREADS = ((1, 0.3), (1, 1), (2, 1), (3, 1), (3, 3), (5, 1), (5, 5))
POOLS = 40
CANDIDATES = 16
SAMPLES = 9
POOLS_OF_GRADES = 100
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
ROOT = Path(__file__).parents[1]
# The last commit whose search worked out every bound again at each step.
BEFORE = "eaa3a85"
SIZES = tuple((scorers, candidates) for scorers in (1, 3) for candidates in (8, 16))
COSTED = ("entropic", "epsilon 0.25", "tau 1", "lcb 1")
LIMIT = 0.1


def pool(
    seed: int,
    between: float,
    within: float,
    uneven: bool,
    scorers: int = 1,
    candidates: int = CANDIDATES,
) -> np.ndarray:
    """Scores (M, K, n); uneven gives each candidate its own spread."""
    generator = np.random.default_rng(seed)
    spread = np.full((candidates, 1), within)
    if uneven:
        spread = within * np.exp(generator.normal(0, 0.5, size=(candidates, 1)))
    center = generator.normal(size=(candidates, 1)) * between
    noise = generator.normal(size=(scorers, candidates, SAMPLES)) * spread
    return np.clip(center + noise, -10, 10)


def options_of(parameters: dict[str, Any], scorers: int) -> dict[str, Any]:
    """The options of a rule; the lazy search with several scorers needs a fixed normalisation."""
    if scorers == 1:
        return dict(parameters)
    return {**parameters, "normalize": (0.0, 1.0)}


def share(
    rule: str, parameters: dict[str, Any], batch: int, uneven: bool, scorers: int
) -> list[float]:
    """The share of calls at each spread; a wrong choice is an error."""
    result = []
    for between, within in SPREADS:
        calls = 0
        for seed in range(POOLS):
            scores = pool(seed, between, within, uneven, scorers)
            options = options_of(parameters, scorers)
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


def range_text(shares: list[float]) -> str:
    return f"{min(shares):.0%}-{max(shares):.0%}"


def is_within(shares: list[float], reference: tuple[int, int]) -> bool:
    """Whether both ends are at or below the reference, in whole per cent."""
    lowest, highest = reference
    return round(100 * min(shares)) <= lowest and round(100 * max(shares)) <= highest


def run() -> list[Table]:
    rows: list[list[object]] = []
    ranges_within = {"even": 0, "uneven": 0}
    for label, rule, parameters, *references in RULES:
        for batch, reference in zip((1, 4), references, strict=True):
            cells: list[object] = [label, batch, f"{reference[0]}%-{reference[1]}%"]
            for spread in ranges_within:
                shares = share(rule, parameters, batch, spread == "uneven", 1)
                ranges_within[spread] += is_within(shares, reference)
                cells.append(range_text(shares))
            rows.append(cells)
    three = share("entropic", {}, 1, False, 3)
    rows.append(["entropic, 3 scorers", 1, "22%-37%", range_text(three), None])
    ranges_within["even"] += is_within(three, THREE_SCORERS)
    note = (
        f"{len(SPREADS)} spreads x {POOLS} pools, every choice equal to darc.select's; at or below "
        f"the prototype: {ranges_within['even']} of {len(rows)} ranges, and "
        f"{ranges_within['uneven']} of "
        f"{len(rows) - 1} where each candidate has its own spread"
    )
    header = ["rule", "batch", "prototype", "even spread", "uneven spread"]
    title = f"share of scores asked for by the lazy search, K = {CANDIDATES}, n = {SAMPLES}"
    return [Table(title, header, rows, note), ratings_table(), costs()]


@dataclass(frozen=True)
class Grades:
    """Made-up grades 0-10 of answers.

    Attributes:
        between: How much the answers differ.
        within: How much raters differ about an answer.
        uneven: How much that differs between answers, in logarithms.
    """

    between: float
    within: float
    uneven: float = 0.0

    def draw(self, generator: np.random.Generator, candidates: int, raters: int) -> np.ndarray:
        """Grades (K, n)."""
        level = generator.normal(6.5, self.between, (candidates, 1))
        spread = self.within * np.exp(generator.normal(0, self.uneven, (candidates, 1)))
        grades = level + spread * generator.normal(size=(candidates, raters))
        return np.clip(np.round(grades), 0, 10)


GRADES = {
    "raters agree": Grades(between=1.5, within=0.8),
    "usual": Grades(between=1.5, within=1.5),
    "raters differ": Grades(between=0.7, within=2.0),
    "divisive answers": Grades(between=1.2, within=1.5, uneven=0.6),
}


def ratings_table() -> Table:
    """The exact and the likely search of `auto` on grades: calls, and choices that differ."""
    rows: list[list[object]] = []
    for candidates, raters in ((8, 8), (16, 9)):
        for label, kind in GRADES.items():
            for batch in (1, candidates):
                exact = searched(kind, candidates, raters, batch, "exact")
                likely = searched(kind, candidates, raters, batch, "likely")
                if exact.differing:
                    raise AssertionError(f"the exact search chose wrongly on {label!r}")
                shares = [f"{exact.share:.0%}", f"{likely.share:.0%}", f"{likely.differing:.1%}"]
                rows.append([candidates, raters, label, batch, *shares])
    header = ["K", "n", "grades", "batch", "exact", "likely", "likely differs"]
    note = (
        f"{POOLS_OF_GRADES} pools each, caution medium; exact, likely: share of grades asked for; "
        "likely differs: choices other than with all grades (exact: none)"
    )
    return Table("share of grades that the default rule asks for", header, rows, note)


@dataclass(frozen=True)
class Searched:
    """The share of grades that a search asked for, and of choices that were not the full ones."""

    share: float
    differing: float


def searched(kind: Grades, candidates: int, raters: int, batch: int, search: str) -> Searched:
    """Search the default rule on many pools of grades."""
    generator = np.random.default_rng(0)
    calls = 0
    differing = 0
    for _ in range(POOLS_OF_GRADES):
        grades = kind.draw(generator, candidates, raters)
        decision = darc.select_lazily(
            lambda pairs: [grades[pair] for pair in pairs],  # noqa: B023
            candidates,
            raters,
            bounds=(0, 10),
            batch_size=batch,
            sample="rater",
            search=search,
        )
        calls += decision.calls or 0
        differing += decision.index != darc.select(grades, sample="rater").index
    total = POOLS_OF_GRADES * candidates * raters
    return Searched(share=calls / total, differing=differing / POOLS_OF_GRADES)


def answered(search: darc.LazySearch, scores: np.ndarray, batch: int, late: int) -> darc.Decision:
    """The decision of a search whose answers come `late` pairs after they are asked for."""
    waiting: list[tuple[int, int]] = []
    while True:
        pairs = search.ask(batch)
        waiting += pairs
        if not waiting:
            return search.decision()
        # A search that asks for nothing more gets all that it still waits for.
        arriving = max(0, len(waiting) - late) if pairs else len(waiting)
        arrived = waiting[:arriving]
        waiting = waiting[arriving:]
        if arrived:
            candidates = [k for k, _ in arrived]
            samples = [i for _, i in arrived]
            search.tell(arrived, scores[:, candidates, samples].T)


def measured() -> list[dict[str, Any]]:
    """Processor milliseconds per pair, from making the search to its decision; scores are free."""
    result = []
    for label, rule, parameters, *_ in (row for row in RULES if row[0] in COSTED):
        for scorers, candidates in SIZES:
            options = options_of(parameters, scorers)
            pools = [
                pool(seed, between, within, False, scorers, candidates)
                for seed, (between, within) in enumerate(SPREADS)
            ]
            for way, batch, late in (
                ("1", 1, 0),
                ("K", candidates, 0),
                ("1, K late", 1, candidates),
            ):
                calls = 0
                started = time.process_time()
                for scores in pools:
                    search = darc.lazy_search(candidates, SAMPLES, rule, **options)
                    calls += answered(search, scores, batch, late).calls or 0
                spent = (time.process_time() - started) * 1000 / calls
                row = {"rule": label, "M": scorers, "K": candidates, "batch": way}
                result.append({**row, "pairs": calls, "ms": spent})
    return result


def measured_with(source: Path) -> list[dict[str, Any]]:
    """`measured` in a process of its own, by the package in this folder."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.lazy"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    )
    measurements: list[dict[str, Any]] = json.loads(done.stdout)
    return measurements


def costs() -> Table:
    """The cost of the search before bounds were kept and now, in turn on the same pools."""
    git = ["git", "-C", str(ROOT), "worktree"]
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder) / "before"
        subprocess.run([*git, "add", "-q", "--detach", str(old), BEFORE], check=True)
        try:
            turns = [(measured_with(old / "src"), measured_with(ROOT / "src")) for _ in range(2)]
        finally:
            subprocess.run([*git, "remove", "--force", str(old)], check=True)
    within_limit = 0
    pairs_before = 0
    pairs_now = 0
    for place, (before, now) in enumerate(zip(*turns[0], strict=True)):
        ms_before = min(earlier[place]["ms"] for earlier, _ in turns)
        ms_now = min(current[place]["ms"] for _, current in turns)
        within_limit += ms_now <= LIMIT
        pairs_before += before["pairs"]
        pairs_now += now["pairs"]
        setting = [now[name] for name in ("rule", "M", "K", "batch")]
        cells = [before["pairs"], now["pairs"], ms_before, ms_now, ms_before / ms_now]
        rows.append([*setting, *cells])
    header = ["rule", "M", "K", "batch", "pairs before", "pairs", "ms before", "ms", "times"]
    note = (
        f"processor ms per pair, making the search and deciding included; at most {LIMIT} ms: "
        f"{within_limit} of {len(rows)}; pairs before {pairs_before}, now {pairs_now}; "
        "'K late': K answers are always awaited"
    )
    return Table(f"the lazy search's own cost, n = {SAMPLES}", header, rows, note)


if __name__ == "__main__":
    print(json.dumps(measured()))
