"""Sources as users name them: files of ratings, run folders and audit logs."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from darc.core.arrays import stacked
from darc.errors import InputError, TableError
from darc.evaluation.from_ratings import read_source
from darc.evaluation.from_run import read_run
from darc.evaluation.source import NOBODY, Source
from darc.files import json_lines
from darc.runs.records import Fault, check_decision

WANTED = {"prompt_id", "candidates", "answer", "request_id"}


def is_audit(path: Path) -> bool:
    """Whether the first line of a file is a decision of a gateway."""
    if path.suffix != ".jsonl" or not path.is_file():
        return False
    try:
        _, row = next(json_lines(path), (0, None))
    except InputError:
        return False
    return isinstance(row, dict) and set(row) >= WANTED


def read_audit_log(path: Path, name: str | None = None) -> Source:
    """The decisions of a log whose scores are complete, under the scorers that most of them share.

    A lazy search leaves scores out: requests with darc = {"full": true} keep them all.
    """
    rows = [row for row in _rows(path) if row.get("scores") and not row.get("lazy")]
    if not rows:
        raise InputError(
            f"{path} has no decision with complete scores",
            'ask the gateway with darc = {"full": true}',
        )
    made = [(tuple(row["scorers"]), tuple(row.get("raters", ()))) for row in rows]
    ((scorers, raters), _), *_ = Counter(made).most_common(1)
    kept = [row for row, own in zip(rows, made, strict=True) if own == (scorers, raters)]
    samples = stacked([np.array(row["scores"], dtype=np.float64) for row in kept])
    numbers = np.broadcast_to(np.arange(samples.shape[3]), samples.shape)
    sizes = [len(row["scores"][0]) for row in kept]
    return Source(
        name=name or path.stem,
        kind="panel" if raters else "rewrite",
        prompt_ids=[f"{row['prompt_id']} {row['request_id']}" for row in kept],
        candidate_ids=[[str(k) for k in range(size)] for size in sizes],
        scorers=list(scorers),
        samples=samples,
        givers=np.where(np.isnan(samples), NOBODY, numbers),
        giver_names=[*raters]
        or ["original", *(f"rewrite {i}" for i in range(1, samples.shape[3]))],
        tokens=np.full((samples.shape[0], samples.shape[2]), np.nan),
        generator="gateway",
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    rows = []
    for number, row in json_lines(path, "remove the line"):
        try:
            check_decision(row)
        except Fault as problem:
            raise TableError(str(path), str(problem), "remove the line", number) from None
        rows.append(row)
    return rows


def read_any(
    path: Path,
    texts: Path | None = None,
    columns: Mapping[str, str] | None = None,
    system: str = "auto",
) -> Source:
    """A run folder, a gateway's audit log, or ratings, whose candidates' texts are in `texts`.

    `columns` says what a file of ratings calls a column; `system` "none" forgets who wrote what.
    """
    if not path.is_dir() and not is_audit(path):
        return read_source(path, texts, columns=columns, system=system)
    source = read_run(path) if path.is_dir() else read_audit_log(path)
    return source if system != "none" else replace(source, systems=())
