"""What is said of a choice besides the answer, to the client and in the audit log."""

import json
import threading
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from darc.engine.deciding import decided_on
from darc.engine.outcome import WORDS, Outcome
from darc.errors import InputError
from darc.files import append_private, jsonable, private_folder
from darc.gateway.candidates import Reply, Work
from darc.runs.records import numbers, scores_row
from darc.selection.decision import flag_words

KEPT = 5


def decision_row(outcome: Outcome) -> dict[str, Any]:
    """The decision in the decisions schema of a run folder, with all flags."""
    if outcome.decision is not None:
        row = outcome.decision.to_dict()
    else:
        names = ("value", "mean", "sigma", "risk_premium")
        row = {
            "rule": "first",
            "parameters": {},
            "index": outcome.index,
            "candidate": f"candidate {outcome.index}",
            "candidates": [
                {"index": k, "id": None, **dict.fromkeys(names), "samples": 0, "feasible": True}
                for k in range(len(outcome.candidates))
            ],
        }
    return {**row, "flags": list(outcome.flags), "explanation": outcome.explain()}


def described(
    work: Work, replies: Sequence[Reply], outcome: Outcome
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The `darc` object, and the row of the decision in it.

    It has the decision, all candidates' statistics, what it cost and, where the request wants it,
    all details.
    """
    row, options = decision_row(outcome), work.method.options
    known = {each["index"]: each for each in row["candidates"]}
    rows = [
        {
            **known.get(k, {"index": k}),
            "seed": reply.candidate.seed,
            "tokens": reply.candidate.tokens,
            "finish_reason": reply.choice.get("finish_reason"),
        }
        for k, reply in enumerate(replies)
    ]
    taken = {**work.clock.milliseconds, "total": (time.perf_counter() - work.begun) * 1000}
    data = {
        "request_id": work.request_id,
        "prompt_id": work.prompt.id,
        **row,
        "order": list(outcome.order),
        "k": len(replies),
        "saved": outcome.saved,
        "n_aug": options.n_aug,
        "include_original": options.include_original,
        "policy": options.policy,
        "candidates": rows,
        "scored": outcome.calls,
        **({"panel": outcome.panel()} if outcome.rated else {}),
        "spent": {name: {"calls": own.calls, **own.usage} for name, own in work.stages.items()},
        "milliseconds": {name: round(ms, 1) for name, ms in taken.items()},
    }
    return (data | details(outcome) if options.metadata == "full" else data), row


def notes(flags: Sequence[str]) -> list[str]:
    """The flags of a decision in words."""
    return [flag_words(flag, WORDS) for flag in flags]


def audit_row(work: Work, row: Mapping[str, Any], outcome: Outcome) -> dict[str, Any]:
    """The row of a decision for the audit log, with the raw scores where there are any."""
    head = {"prompt_id": work.prompt.id, **row, "answer": outcome.answer}
    scored = not np.isnan(outcome.scores.values).all()
    scores = scores_row(work.prompt.id, outcome.scores) if scored else {}
    return {**head, "request_id": work.request_id, **scores}


def details(outcome: Outcome) -> dict[str, Any]:
    """Everything a reader needs to decide again: texts, rewrites, raw scores, and their scales.

    `scores` is (M, K, n): scorer, candidate, sample; sample 0 is the original, sample i its
    variant i - 1, null where there is none or it was not looked at. Of a panel, sample i is the
    i-th of the `raters`, and `grades` (criteria, K, n, repeats) what they said where that is more.
    """

    def rows(k: int, kind: str, *names: str) -> list[dict[str, Any]]:
        made = getattr(outcome.rewrites.get(k), kind, ())
        return [{name: getattr(each, name) for name in names} for each in made]

    texts = [
        {
            "index": k,
            "text": candidate.text,
            "variants": rows(k, "variants", "text", "family", "rewriter"),
            "rejected": rows(k, "rejections", "text", "family", "reason"),
        }
        for k, candidate in enumerate(outcome.candidates)
    ]
    scores = outcome.scores
    scorers = [
        {
            "name": name,
            "location": scores.location[place],
            "scale": scores.scale[place],
            "bounds": jsonable(scores.bounds[place]),
            "active": f"scorer_failed:{name}" not in outcome.flags,
        }
        for place, name in enumerate(scores.scorers)
    ]
    # Rules see raters without their own noise; whoever decides again is to see the same.
    seen = scores.values if scores.repeats == 1 else decided_on(scores)
    row = scores_row("", scores)
    graded = {name: row[name] for name in row.keys() & {"raters", "criteria", "grades"}}
    return {"texts": texts, "scorers": scorers, "scores": numbers(seen), **graded}


class Audit:
    """Rows in the decisions schema of a run folder, one JSON object a line, each in one write.

    At `most` bytes the file becomes FILE.1, the one before FILE.2, and so on; five are kept.
    """

    def __init__(self, path: Path, most: int, kept: int = KEPT) -> None:
        self.path, self._most, self._kept = path, most, kept
        self._lock = threading.Lock()
        try:
            private_folder(path.parent)
            append_private(path)
        except OSError as problem:
            raise InputError(f"{path} cannot be written ({problem.strerror})") from None

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a decision; may be called from any thread."""
        line = (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "replace")
        with self._lock:
            if self.path.exists() and self.path.stat().st_size + len(line) > self._most:
                numbered = (f"{self.path}.{number}" for number in range(1, self._kept + 1))
                for newer, older in reversed([*pairwise([self.path, *map(Path, numbered)])]):
                    if newer.exists() and newer.stat().st_size:
                        newer.replace(older)
            append_private(self.path, line)
