"""What is said of a choice besides the answer, to the client and in the audit log."""

import json
import threading
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from darc.decide.explanation import WORDING_NOTE
from darc.decide.flags import flag_words
from darc.decide.method import decided_on
from darc.engine.copies import MergedCandidates
from darc.engine.flags import FLAG_SENTENCES
from darc.engine.outcome import Outcome
from darc.errors import InputError
from darc.files import append_private, jsonable, private_folder
from darc.runs.records import numbers, scores_row
from darc.serve.candidates import Reply, Work
from darc.serve.errors import HELD
from darc.serve.requests import Method

KEPT = 5
DETAILED_NUMBERS = ("value", "sigma", "risk_premium")


def described(
    work: Work, replies: Sequence[Reply], outcome: Outcome
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The `darc` object, and the row of the decision in it.

    It has the decision in words about people, what it cost and, where the request wants it, all
    numbers and details.
    """
    row, options = outcome.to_dict(), work.method.options
    known = {each["index"]: each for each in row["candidates"]}
    if options.metadata != "full":
        known = {k: _without_numbers(each) for k, each in known.items()}
    rows = [
        {
            **known.get(k, {"index": k, **outcome.copies_field(k)}),
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
        "people": row.get("people"),
        "held": HELD in outcome.flags,
        "best_of_k": best_of_k(outcome),
        "order": list(outcome.order),
        "k": outcome.written,
        "saved": outcome.saved,
        "n_aug": options.n_aug,
        "include_original": options.include_original,
        "policy": options.policy,
        "candidates": rows,
        "scored": outcome.calls,
        **({"panel": outcome.panel()} if outcome.rated else {}),
        **caution_note(work.method, outcome.scores.sample),
        "spent": {name: {"calls": own.calls, **own.usage} for name, own in work.stages.items()},
        "milliseconds": {name: round(ms, 1) for name, ms in taken.items()},
    }
    return (data | details(outcome) if options.metadata == "full" else data), row


def best_of_k(outcome: Outcome) -> int | None:
    """The candidate with the highest average, the chosen one where it ties with others.

    Returns:
        None where it is not known: nothing was compared, or a candidate that was ruled out early
        may have a higher average.
    """
    decision = outcome.decision
    if outcome.best_of_k is not None or decision is None:
        return outcome.best_of_k
    pools = decision.pools
    # Whatever has enough ratings; the means of candidates that were ruled out early are upper
    # bounds.
    compared = pools.present[0] & ~pools.left_out[0]
    mean = np.where(compared, decision.statistics.mean, np.nan)
    if np.isnan(mean).all():
        return None
    leader = int(np.nanargmax(mean))
    tolerance = float(pools.tolerance[0].max())
    if mean[decision.index] >= mean[leader] - tolerance:
        return decision.index
    if decision.bounded is not None and decision.bounded[leader]:
        return None
    return leader


def caution_note(method: Method, sample: str) -> dict[str, str]:
    """A note for requests that give a caution where it has next to no effect: on rewrites."""
    if sample != "rewrite" or not method.caution_requested:
        return {}
    return {"caution_note": WORDING_NOTE}


def _without_numbers(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a candidate without the numbers that only a close reader needs."""
    return {name: value for name, value in row.items() if name not in DETAILED_NUMBERS}


def notes(flags: Sequence[str]) -> list[str]:
    """The flags of a decision in words."""
    return [flag_words(flag, FLAG_SENTENCES) for flag in flags]


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
            **outcome.copies_field(k),
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
    return {
        "texts": texts,
        "scorers": scorers,
        "scores": numbers(seen),
        "sample": scores.sample,
        **graded,
    }


def place_name(place: int) -> str:
    """What words call the answer at a place of a client's list."""
    return f"candidate {place}"


def in_places(data: dict[str, Any], merged: MergedCandidates) -> dict[str, Any]:
    """What is said of a choice among a client's own answers, by their places in its list.

    Answers with the same text are one candidate, at the place of the first. So that indices and
    arrays fit the client's list, the places of its copies have null scores, and the side inputs of
    the first. Words name the answers by `place_name`.

    Args:
        data: The `darc` object by merged candidates.
        merged: How the client's answers were merged.

    Returns:
        The same object by the client's answers; unchanged where none repeats another.

    """
    places, owners = merged.places, merged.owners
    if len(places) == len(owners):
        return data

    def moved(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**row, "index": places[row["index"]]} for row in rows]

    def unnamed(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**row, "id": None} if "id" in row else row for row in rows]

    def spread(rows: Sequence[Any]) -> list[Any]:
        """Rows of merged candidates as rows of answers; those of copies are empty."""
        first = dict(zip(places, rows, strict=True))
        return [first.get(place, _emptied(rows[0])) for place in range(len(owners))]

    result = {
        **data,
        "index": places[data["index"]],
        "order": [places[index] for index in data["order"]],
        "candidates": unnamed(moved(data["candidates"])),
    }
    if data["best_of_k"] is not None:
        result["best_of_k"] = places[data["best_of_k"]]
    if data["people"] is not None:
        people = data["people"]
        result["people"] = {
            **people,
            "chosen": places[people["chosen"]],
            "best_mean": places[people["best_mean"]],
            "answers": moved(people["answers"]),
        }
    if "panel" in data:
        panel = data["panel"]
        failed = [[places[k], rater] for k, rater in panel["failed"]]
        result["panel"] = {**panel, "failed": failed, "disagreement": spread(panel["disagreement"])}
    if "texts" in data:
        result["texts"] = moved(data["texts"])
        result["scores"] = [spread(rows) for rows in data["scores"]]
    if "grades" in data:
        result["grades"] = [spread(rows) for rows in data["grades"]]
    if "side" in data:
        side = {name: [values[k] for k in owners] for name, values in data["side"].items()}
        if "similarity" in side:
            side["similarity"] = [[row[k] for k in owners] for row in side["similarity"]]
        result["side"] = side
    return result


def _emptied(row: Any) -> Any:
    """Lists of the same lengths with nothing in them."""
    return [_emptied(each) for each in row] if isinstance(row, list) else None


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
