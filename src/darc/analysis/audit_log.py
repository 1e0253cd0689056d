"""The decisions that a gateway logged as `Ratings`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from darc.decide.statistics.arrays import stacked
from darc.errors import InputError, TableError
from darc.json_files import json_lines
from darc.ratings.ratings import Ratings
from darc.ratings.splitting import NOBODY
from darc.runs.row_schemas import RowError, check_audit_row

# The fields by which a decision of a gateway is recognised.
_DECISION_FIELDS = {"prompt_id", "candidates", "answer", "request_id"}


def is_audit_log(path: Path) -> bool:
    """Whether the first line of a file is a decision of a gateway."""
    if path.suffix != ".jsonl" or not path.is_file():
        return False
    try:
        _, row = next(json_lines(path), (0, None))
    except InputError:
        return False
    return isinstance(row, dict) and set(row) >= _DECISION_FIELDS


def load_audit_log(path: Path) -> Ratings:
    """Load the decisions of a log whose scores are complete.

    They are those under the scorers and raters that most of them share. A lazy search leaves
    scores out: requests with darc = {"full": true} have them all.

    Raises:
        TableError: A line is not a decision.
        InputError: No decision has complete scores.
    """
    decisions = _read_decisions(path)
    complete = [row for row in decisions if row.get("scores") and not row.get("lazy")]
    if not complete:
        raise InputError(
            f"{path} has no decision with complete scores",
            'ask the gateway with darc = {"full": true}',
        )
    commonest = Counter(_scorers_and_raters(row) for row in complete).most_common(1)[0][0]
    scorers, raters = commonest
    rows = [row for row in complete if _scorers_and_raters(row) == commonest]
    samples = stacked([np.array(row["scores"], dtype=np.float64) for row in rows])
    prompts, _, candidates, size = samples.shape
    rater_names = list(raters)
    if not rater_names:
        rater_names = ["original", *(f"rewrite {number}" for number in range(1, size))]
    return Ratings(
        name=path.stem,
        kind="panel" if raters else "rewrite",
        prompt_ids=[f"{row['prompt_id']} {row['request_id']}" for row in rows],
        candidate_ids=[[str(k) for k in range(len(row["scores"][0]))] for row in rows],
        scorers=list(scorers),
        samples=samples,
        raters=np.where(np.isnan(samples), NOBODY, np.arange(size)),
        rater_names=rater_names,
        lengths=np.full((prompts, candidates), np.nan),
        generator="gateway",
        systems=_models_of_candidates(rows),
        notes=_notes_on_models(decisions),
    )


def _models_of_candidates(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """The model that wrote each candidate; empty where one model wrote all of them."""
    systems = []
    for row in rows:
        models = {candidate.get("index"): candidate.get("model") for candidate in row["candidates"]}
        count = len(row["scores"][0])
        systems.append([str(models.get(place) or "") for place in range(count)])
    names = {name for row in systems for name in row if name}
    if len(names) < 2:
        return []
    return systems


def _notes_on_models(decisions: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """How often each model was chosen, where several wrote."""
    mixed = [row for row in decisions if len(row.get("models") or ()) > 1]
    if not mixed:
        return ()
    counts = Counter(str(row.get("model")) for row in mixed)
    shares = [f"{name} {count}" for name, count in counts.most_common()]
    return (f"of {len(mixed)} choices among several models: {', '.join(shares)}",)


def _read_decisions(path: Path) -> list[Mapping[str, Any]]:
    rows = []
    for number, row in json_lines(path, "remove the line"):
        try:
            check_audit_row(row)
        except RowError as problem:
            raise TableError(str(path), str(problem), "remove the line", number) from None
        rows.append(row)
    return rows


def _scorers_and_raters(row: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(row["scorers"]), tuple(row.get("raters", ()))
