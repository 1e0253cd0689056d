"""Rows of a run folder's files, and what they stand for."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.errors import InputError
from darc.perturb import Perturbed
from darc.runs.folder import RunFolder
from darc.types import Candidate, Message, Prompt, Rejection, Variant

Array = NDArray[np.float64]


def prompt_row(prompt: Prompt) -> dict[str, Any]:
    """A prompt as a row."""
    messages = [asdict(message) for message in prompt.messages]
    return {"prompt_id": prompt.id, "category": prompt.category, "messages": messages}


def candidates_row(prompt_id: str, candidates: Sequence[Candidate]) -> dict[str, Any]:
    """The candidates of a prompt as a row."""
    rows = [_plain(each) for each in candidates]
    for row in rows:
        if not row["name"]:
            row.pop("name")
    return {"prompt_id": prompt_id, "candidates": rows}


def variants_row(prompt_id: str, made: dict[int, Perturbed], count: int) -> dict[str, Any]:
    """The accepted rewrites as a row; `rewritten` says of which, where it was not all of them."""
    variants = [_plain(v) for k in sorted(made) for v in made[k].variants]
    row: dict[str, Any] = {"prompt_id": prompt_id, "variants": variants}
    return row if len(made) == count else {**row, "rewritten": sorted(made)}


def rejected_row(prompt_id: str, made: dict[int, Perturbed]) -> dict[str, Any]:
    """The refused rewrites as a row."""
    rejected = [_plain(r) for k in sorted(made) for r in made[k].rejections]
    return {"prompt_id": prompt_id, "rejected": rejected}


def scores_row(
    prompt_id: str, scorers: Sequence[str], scores: Array, lazy: bool = False
) -> dict[str, Any]:
    """Scores (M, K, n) as a row, null where there is none; `lazy` where more could be had."""
    numbers = [
        [[None if np.isnan(x) else float(x) for x in own] for own in each] for each in scores
    ]
    row = {"prompt_id": prompt_id, "scorers": list(scorers), "scores": numbers}
    return {**row, "lazy": True} if lazy else row


def read_prompt(folder: RunFolder, prompt_id: str) -> Prompt:
    """A prompt of a run; an unknown one is refused."""
    rows = folder.rows("prompts.jsonl")
    if prompt_id not in rows:
        known = ", ".join(list(rows)[:8]) + (", ..." if len(rows) > 8 else "")
        raise InputError(f"{folder.path} has no prompt {prompt_id!r}", f"it has {known}")
    row = rows[prompt_id]
    messages = tuple(Message(**message) for message in row["messages"])
    return Prompt(prompt_id, messages, row["category"])


def read_candidates(folder: RunFolder, prompt_id: str) -> list[Candidate]:
    """The candidates of a prompt."""
    rows = folder.rows("candidates.jsonl")[prompt_id]["candidates"]
    return [Candidate(prompt_id, **row) for row in rows]


def read_perturbed(folder: RunFolder, prompt_id: str, count: int) -> dict[int, Perturbed]:
    """The rewrites of those of a prompt's candidates that were rewritten."""
    row = folder.rows("variants.jsonl")[prompt_id]
    refused = folder.rows("rejected.jsonl")[prompt_id]["rejected"]
    variants = [Variant(prompt_id, **each) for each in row["variants"]]
    rejections = [Rejection(prompt_id, **each) for each in refused]
    return {
        k: Perturbed(
            tuple(v for v in variants if v.candidate == k),
            tuple(r for r in rejections if r.candidate == k),
        )
        for k in row.get("rewritten", range(count))
    }


def read_scores(folder: RunFolder, prompt_id: str) -> Array:
    """The scores of a prompt, (M, K, n), NaN where there is no sample."""
    return np.array(folder.rows("scores.jsonl")[prompt_id]["scores"], dtype=np.float64)


def _plain(item: Any) -> dict[str, Any]:
    """A record without its prompt's id."""
    return {key: value for key, value in asdict(item).items() if key != "prompt_id"}
