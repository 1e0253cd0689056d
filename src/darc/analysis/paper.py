"""Numbers that the paper prints, and what follows from them.

The cells, in paper.toml and printed.toml, are facts of the published tables. The checks recompute
what other cells of the same table determine, and compare what is printed twice, in two tables or in
a table and the text.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from darc.analysis.frame import Frame, Record, table
from darc.analysis.paper_across import cross_table_checks
from darc.analysis.paper_check import Check
from darc.analysis.ranks import hypergeometric_tail
from darc.settings.toml_file import read_toml

CELLS = Path(__file__).with_name("paper.toml")
#: The cells from which nothing follows within their own table.
PRINTED = Path(__file__).with_name("printed.toml")
# The weight of risk in the paper's tradeoff.
LAMBDA = 2.0


def paper_checks() -> list[Check]:
    """Check the paper's numbers, in the order of the paper."""
    cells = read_toml(CELLS)
    return [
        *_tradeoff_checks(cells["tradeoffs"]),
        *_validity_checks(cells["validity"]),
        *_case_checks(cells["cases"]),
        *_latency_checks(cells["latency"]),
        *_mismatch_checks(cells["mismatches"]),
        *cross_table_checks(cells, read_toml(PRINTED)),
    ]


def checks_table(checks: list[Check]) -> Frame:
    """The checks as a frame, one row each."""
    rows: list[Record] = [
        {
            "table": check.table,
            "cell": check.cell,
            "quantity": check.quantity,
            "printed": check.printed,
            "computed": check.computed,
            "follows": "yes" if check.follows else "no",
        }
        for check in checks
    ]
    return table("paper", rows)


def checks_summary(checks: list[Check]) -> str:
    """How many cells were checked, and each that does not follow, one line each."""
    wrong = [check for check in checks if not check.follows]
    lines = [f"{len(checks)} numbers of the published tables recomputed or compared"]
    lines += [
        f"{check.table}, {check.cell}: {check.quantity} printed as {check.printed:g}, "
        f"{check.source} {check.computed:.4g}"
        for check in wrong
    ]
    lines.append(f"{len(wrong)} do not follow, {len(checks) - len(wrong)} do")
    return "\n".join(lines)


def _tradeoff_checks(tables: dict[str, Any]) -> Iterator[Check]:
    """The tradeoff of each method follows from its reward and risk."""
    # Each of the three is rounded to 0.01, so they may be apart by 0.005 (1 + lambda + 1).
    slack = 0.005 * (2 + LAMBDA)
    for name, groups in tables.items():
        for group, methods in groups.items():
            for method, (reward, risk, tradeoff) in methods.items():
                computed = reward - LAMBDA * risk
                yield Check(name, f"{group}, {method}", "tradeoff", tradeoff, computed, slack)


def _validity_checks(validity: dict[str, Any]) -> Iterator[Check]:
    """Jaccard's index follows from the precision, and p from the overlap of both top shares."""
    name = "proxy validity"
    precision = validity["precision"]
    jaccard = precision / (2 - precision)
    yield Check(name, "top 20 %", "Jaccard", validity["jaccard"], jaccard, 0.005)
    top = validity["top"]
    p = hypergeometric_tail(validity["overlap"], validity["items"], top, top)
    printed = np.log10(validity["p"])
    yield Check(name, "overlap 64 of 100", "log10 p", printed, np.log10(p), 0.01)


def _case_checks(cases: dict[str, Any]) -> Iterator[Check]:
    """The mean and sigma of a case follow from its scores."""
    for name, methods in cases.items():
        for method, case in methods.items():
            cell = f"{name}, {method}"
            mean = float(np.mean(case["scores"]))
            sigma = float(np.std(case["scores"], ddof=1))
            yield Check("case", cell, "mean", case["mean"], mean, 0.05)
            yield Check("case", cell, "sigma", case["sigma"], sigma, 0.005)


def _latency_checks(latency: dict[str, Any]) -> Iterator[Check]:
    """The increase in latency follows from the seconds with and without rewrites."""
    without, _ = latency["0"]
    for rewrites, (seconds, printed) in latency.items():
        if rewrites != "0":
            increase = 100 * (seconds / without - 1)
            yield Check("latency", f"N_aug {rewrites}", "increase in %", printed, increase, 0.005)


def _mismatch_checks(mismatches: dict[str, Any]) -> Iterator[Check]:
    """The sigmas of a mismatch case are printed in a table and again in the text."""
    for name, (in_table, in_text) in mismatches.items():
        for who, printed, repeated in zip(("proxy", "human"), in_table, in_text, strict=True):
            yield Check(
                "mismatch case", name, f"{who} sigma", printed, repeated, 0.0005, "in the text"
            )
