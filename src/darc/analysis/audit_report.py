"""What the audit log of a gateway says: which models were chosen, and what shadows found."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from darc.analysis.bootstrap import DRAWS, LEVEL, draw_counts, resample
from darc.errors import InputError
from darc.json_files import json_lines
from darc.typing import Array


@dataclass
class ModelCounts:
    """What one of several models wrote, over all requests."""

    #: Requests that it wrote candidates for.
    requests: int = 0
    candidates: int = 0
    #: How often one of its answers was returned.
    chosen: int = 0
    calls: int = 0
    tokens: int = 0


@dataclass
class PartCost:
    """What a part of all shadows took."""

    #: How many shadows have this part.
    shadows: int = 0
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0


@dataclass
class ShadowCounts:
    """What choosing would have changed, over all shadows."""

    shadows: int = 0
    #: Shadows whose choice is another answer than the ordinary one.
    changed: int = 0
    #: Pairs of an ordinary answer and another choice that a rater graded.
    raters: int = 0
    #: How many of them are unhappy with the ordinary answer, and with the choice.
    unhappy_ordinary: int = 0
    unhappy_choice: int = 0
    #: How many are unhappy with the ordinary answer only, and with the choice only.
    fewer: int = 0
    more: int = 0
    #: The cost of the ordinary answer, of choosing, and of comparing the two.
    cost: dict[str, PartCost] = field(default_factory=dict)
    #: For each shadow, by how much the share of unhappy raters falls; 0 if the answer stays.
    differences: list[float] = field(default_factory=list)

    @property
    def difference(self) -> float | None:
        """By how much the share of unhappy raters falls, on average over requests."""
        if not self.differences:
            return None
        return float(np.mean(self.differences))

    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of `difference`, by resampling requests; None if there is only one."""
        if len(self.differences) < 2:
            return None
        values = np.array(self.differences)

        def mean(counts: Array) -> Array:
            return np.asarray(counts @ values / counts.sum(axis=1))

        means = resample(mean, draw_counts(len(values), DRAWS, 0))
        tail = (1.0 - LEVEL) / 2.0
        low, high = np.quantile(means, [tail, 1.0 - tail])
        return float(low), float(high)


@dataclass
class AuditReport:
    """The summary of an audit log."""

    #: Answers that were chosen for clients.
    decisions: int = 0
    #: Decisions where none of the answers was good.
    held: int = 0
    #: What each model wrote, for requests that several models wrote for.
    models: dict[str, ModelCounts] = field(default_factory=dict)
    shadow: ShadowCounts = field(default_factory=ShadowCounts)


def read_audit_report(paths: Sequence[Path]) -> AuditReport:
    """Summarise the audit log of a gateway.

    Args:
        paths: Its files.

    Returns:
        The summary.

    Raises:
        InputError: A file cannot be read, or has a line that no gateway has written.
    """
    report = AuditReport()
    for path in paths:
        for number, row in json_lines(path, "remove the line", ended=True):
            if not isinstance(row, dict) or "request_id" not in row:
                raise InputError(
                    f"{path}, line {number}, is not a decision of a gateway",
                    "give the file of darc serve --audit",
                )
            try:
                _add_row(report, row)
            except (KeyError, TypeError, AttributeError):
                raise InputError(
                    f"{path}, line {number}, is not complete", "remove the line"
                ) from None
    return report


def _add_row(report: AuditReport, row: Mapping[str, Any]) -> None:
    models = row.get("models") or {}
    if len(models) > 1:
        _add_models(report.models, models.items())
    shadow = row.get("shadow")
    if shadow is not None:
        _add_shadow(report.shadow, shadow)
        return
    report.decisions += 1
    report.held += "held" in row["flags"]


def _add_models(
    counts: dict[str, ModelCounts], rows: Iterable[tuple[str, Mapping[str, Any]]]
) -> None:
    for name, row in rows:
        model = counts.setdefault(name, ModelCounts())
        model.requests += 1
        model.candidates += row["candidates"]
        model.chosen += row["chosen"]
        model.calls += row["calls"]
        model.tokens += row["tokens"]


def _add_shadow(counts: ShadowCounts, row: Mapping[str, Any]) -> None:
    counts.shadows += 1
    counts.changed += row["changed"]
    unhappy = row["unhappy"]
    if unhappy is not None:
        counts.raters += unhappy["raters"]
        counts.unhappy_ordinary += unhappy["ordinary"]
        counts.unhappy_choice += unhappy["choice"]
        counts.fewer += unhappy["fewer"]
        counts.more += unhappy["more"]
        fall = unhappy["ordinary"] - unhappy["choice"]
        counts.differences.append(fall / unhappy["raters"])
    elif not row["changed"]:
        counts.differences.append(0.0)
    for name, cost in row["cost"].items():
        part = counts.cost.setdefault(name, PartCost())
        part.shadows += 1
        part.calls += cost["calls"]
        part.tokens += cost["tokens"]
        part.seconds += cost["seconds"]
