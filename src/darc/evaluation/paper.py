"""Numbers that the paper prints, and what follows from them.

The cells are facts of the published tables; the checks recompute what other cells of the same
table determine, and compare what is printed twice.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from darc.evaluation.frame import Frame
from darc.evaluation.paper_tables import (
    CASES,
    HUMAN,
    LARGER,
    LATENCY,
    MAIN,
    MISMATCHES,
    SUBSETS,
)
from darc.evaluation.ranks import hypergeometric_tail

LAMBDA = 2.0
PRECISION = 0.64
PRINTED_JACCARD = 0.47
OVERLAP, ITEMS, TOP, PRINTED_P = 64, 500, 100, 2.6e-29


@dataclass(frozen=True)
class Check:
    """A printed number beside what follows from the numbers around it.

    `slack` is how far rounding alone may take the two apart. `source` says how the second is known.
    """

    table: str
    cell: str
    quantity: str
    printed: float
    computed: float
    slack: float
    source: str = "follows as"

    @property
    def follows(self) -> bool:
        """Whether rounding explains the difference."""
        return abs(self.printed - self.computed) <= self.slack + 1e-9


def checks() -> list[Check]:
    """Every check, in the order of the paper."""
    return [*_tradeoffs(), *_validity(), *_cases(), *_latencies(), *_mismatches()]


def check_frame(found: list[Check]) -> Frame:
    """The checks as a frame."""
    rows = [
        (c.table, c.cell, c.quantity, c.printed, c.computed, "yes" if c.follows else "no")
        for c in found
    ]
    columns = ("table", "cell", "quantity", "printed", "computed", "follows")
    return Frame.of("paper", "What follows from the published tables", columns, rows)


def summary(found: list[Check]) -> str:
    """How many cells were checked, and each that does not follow, in sentences."""
    lines = [f"{len(found)} numbers of the published tables recomputed"]
    wrong = [check for check in found if not check.follows]
    lines += [
        f"{check.table}, {check.cell}: {check.quantity} is printed as {check.printed:g} "
        f"and {check.source} {check.computed:.4g}"
        for check in wrong
    ]
    lines.append(f"{len(wrong)} do not follow, {len(found) - len(wrong)} do")
    return "\n".join(lines)


def _tradeoffs() -> Iterator[Check]:
    for subset in SUBSETS:
        for method, groups in MAIN[subset].items():
            for setting, (reward, risk, tradeoff) in groups.items():
                cell = f"{subset}, {setting}, {method}"
                yield _tradeoff("main table", cell, reward, risk, tradeoff)
    for title, table in (("human table", HUMAN), ("Qwen2.5-14B table", LARGER)):
        yield from _small_table(title, table)


def _small_table(
    title: str, table: Mapping[str, Mapping[str, tuple[float, float, float]]]
) -> Iterator[Check]:
    for subset, rows in table.items():
        for method, (reward, risk, tradeoff) in rows.items():
            yield _tradeoff(title, f"{subset}, {method}", reward, risk, tradeoff)


def _tradeoff(table: str, cell: str, reward: float, risk: float, tradeoff: float) -> Check:
    """Each of the three is rounded to 0.01, so they may be apart by 0.005 (1 + lambda + 1)."""
    slack = 0.005 * (2 + LAMBDA)
    return Check(table, cell, "tradeoff", tradeoff, reward - LAMBDA * risk, slack)


def _validity() -> Iterator[Check]:
    table = "proxy validity"
    jaccard = PRECISION / (2 - PRECISION)
    yield Check(table, "top 20 %", "Jaccard", PRINTED_JACCARD, jaccard, 0.005)
    tail = hypergeometric_tail(OVERLAP, ITEMS, TOP, TOP)
    yield Check(table, "overlap 64 of 100", "log10 p", np.log10(PRINTED_P), np.log10(tail), 0.01)


def _cases() -> Iterator[Check]:
    for name, methods in CASES.items():
        for method, (scores, mean, sigma) in methods.items():
            cell = f"{name}, {method}"
            yield Check("case", cell, "mean", mean, float(np.mean(scores)), 0.05)
            yield Check("case", cell, "sigma", sigma, float(np.std(scores, ddof=1)), 0.005)


def _latencies() -> Iterator[Check]:
    without = LATENCY[0][0]
    for rewrites, (seconds, printed) in LATENCY.items():
        if rewrites:
            computed = 100 * (seconds / without - 1)
            yield Check("latency", f"N_aug {rewrites}", "increase in %", printed, computed, 0.005)


def _mismatches() -> Iterator[Check]:
    """The table's sigmas against those that the text gives of the same answer."""
    for name, (table, text) in MISMATCHES.items():
        for who, printed, again in zip(("proxy", "human"), table, text, strict=True):
            yield Check(
                "mismatch case", name, f"{who} sigma", printed, again, 0.0005, "in the text as"
            )
