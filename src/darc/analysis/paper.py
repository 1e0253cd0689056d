"""Numbers that the paper prints, and what follows from them.

The cells, in paper.toml, are facts of the published tables; the checks recompute what other
cells of the same table determine, and compare what is printed twice.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from darc.analysis.frame import Frame, table
from darc.analysis.ranks import hypergeometric_tail

CELLS = Path(__file__).with_name("paper.toml")
LAMBDA = 2.0


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
    from darc.settings.toml_file import read_toml

    return list(_checks(read_toml(CELLS)))


def check_frame(found: list[Check]) -> Frame:
    """The checks as a frame."""
    rows = []
    for check in found:
        row = asdict(check) | {"follows": "yes" if check.follows else "no"}
        rows.append({name: row[name] for name in row if name not in ("slack", "source")})
    return table("paper", rows)


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


def _checks(cells: dict[str, Any]) -> Iterator[Check]:
    # Each of the three is rounded to 0.01, so they may be apart by 0.005 (1 + lambda + 1).
    slack = 0.005 * (2 + LAMBDA)
    for where, groups in cells["tradeoffs"].items():
        for group, methods in groups.items():
            for method, (reward, risk, printed) in methods.items():
                computed = reward - LAMBDA * risk
                yield Check(where, f"{group}, {method}", "tradeoff", printed, computed, slack)
    where, seen = "proxy validity", cells["validity"]
    precision = seen["precision"]
    yield Check(where, "top 20 %", "Jaccard", seen["jaccard"], precision / (2 - precision), 0.005)
    chance = hypergeometric_tail(seen["overlap"], seen["items"], seen["top"], seen["top"])
    printed, computed = np.log10(seen["p"]), np.log10(chance)
    yield Check(where, "overlap 64 of 100", "log10 p", printed, computed, 0.01)
    for name, methods in cells["cases"].items():
        for method, case in methods.items():
            cell, scores = f"{name}, {method}", case["scores"]
            yield Check("case", cell, "mean", case["mean"], float(np.mean(scores)), 0.05)
            sigma = float(np.std(scores, ddof=1))
            yield Check("case", cell, "sigma", case["sigma"], sigma, 0.005)
    without = cells["latency"]["0"][0]
    for rewrites, (seconds, printed) in cells["latency"].items():
        if rewrites != "0":
            more = 100 * (seconds / without - 1)
            yield Check("latency", f"N_aug {rewrites}", "increase in %", printed, more, 0.005)
    for name, (shown, text) in cells["mismatches"].items():
        for who, printed, again in zip(("proxy", "human"), shown, text, strict=True):
            what = f"{who} sigma"
            yield Check("mismatch case", name, what, printed, again, 0.0005, "in the text as")
