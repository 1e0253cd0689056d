"""The decisions of a gateway's audit log."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from darc.errors import InputError, TableError
from darc.json_files import json_lines
from darc.runs.row_schemas import RowError, check_audit_row, check_row
from darc.viewer.source import DecisionSource, DecisionView, ListedDecision, ReadProgress
from darc.viewer.stored_decision import StoredDecision, stored_decision

_HINT = "remove the line"
# Fields of a row that the page has apart from the row.
_SCORE_FIELDS = ("scores", "grades")
_REPORT_EVERY = 200


class AuditSource(DecisionSource):
    """The decisions that a gateway logged, as they were made."""

    def __init__(self, path: Path) -> None:
        """Name the log; it is read by `decisions`."""
        self.name = path.name
        self.rule = ""
        self._path = path

    def decisions(self, progress: ReadProgress) -> Iterator[ListedDecision]:
        """Read the decisions line by line; see `DecisionSource.decisions`."""
        count = 0
        rules: dict[str, None] = {}
        for number, row in json_lines(self._path, _HINT):
            try:
                check_row("decisions.jsonl", row)
                check_audit_row(row)
            except RowError as problem:
                raise TableError(str(self._path), str(problem), _HINT, number) from None
            rules[row["rule"]] = None
            yield _decision_of(row).listed()
            count += 1
            if count % _REPORT_EVERY == 0:
                progress(count, None)
        if not count:
            raise InputError(f"{self._path} has no decisions", "name another log")
        self.rule = ", ".join(rules)

    def decision_view(self, details: Mapping[str, Any]) -> DecisionView:
        """Make the page of a decision from its row."""
        return stored_decision(details).view()


def _decision_of(row: Mapping[str, Any]) -> StoredDecision:
    raters = row.get("raters", ())
    sample = "rater" if raters else "rewrite"
    scores = row.get("scores", ())
    samples = list(raters)
    if scores and not raters:
        n_samples = len(scores[0][0])
        samples = ["original", *(f"rewrite {number}" for number in range(1, n_samples))]
    models = {candidate["index"]: candidate.get("model", "") for candidate in row["candidates"]}
    return StoredDecision(
        systems=[str(models.get(place, "")) for place in range(max(models) + 1)],
        row={name: value for name, value in row.items() if name not in _SCORE_FIELDS},
        scores=scores,
        scorers=row.get("scorers", ()),
        samples=samples,
        sample=sample,
    )
