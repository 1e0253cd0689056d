"""Prompts, candidates, rewrites and scores as rows of a run folder's files, and read back."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from darc.engine.tools import names_of_candidates
from darc.parts.rewriters import Rewrites
from darc.parts.scorers.panel_settings import LISTWISE, PAIRWISE
from darc.runs.shard import Shard
from darc.types import Candidate, Message, Prompt, Rejection, Scores, Variant
from darc.typing import Array

RATER = "rater"
# Fields of a candidate that are left out of its row where they have these values.
_USUAL_VALUES: Mapping[str, Any] = {
    "name": "",
    "copies": 1,
    "other_names": (),
    "certainty": None,
}


def prompt_row(prompt: Prompt) -> dict[str, Any]:
    """A prompt as a row."""
    messages = [asdict(message) for message in prompt.messages]
    return {"prompt_id": prompt.id, "category": prompt.category, "messages": messages}


def candidates_row(
    prompt_id: str, candidates: Sequence[Candidate], failed: int = 0, saved: int = 0
) -> dict[str, Any]:
    """The candidates of a prompt as a row.

    Args:
        prompt_id: The id of the prompt.
        candidates: Its candidates.
        failed: How many could not be written.
        saved: How many were not worth their cost.

    Returns:
        The row; counts of 0 are left out.
    """
    rows = [_candidate_fields(candidate) for candidate in candidates]
    row: dict[str, Any] = {"prompt_id": prompt_id, "candidates": rows}
    if failed:
        row["failed"] = failed
    if saved:
        row["saved"] = saved
    return row


def rejected_row(prompt_id: str, rewrites: Mapping[int, Rewrites]) -> dict[str, Any]:
    """The rejected rewrites of a prompt's candidates as a row."""
    rejected = []
    for k in sorted(rewrites):
        rejected += [_fields(rejection) for rejection in rewrites[k].rejections]
    return {"prompt_id": prompt_id, "rejected": rejected}


def variants_row(
    prompt_id: str, rewrites: Mapping[int, Rewrites], n_candidates: int
) -> dict[str, Any]:
    """The accepted rewrites as a row; `rewritten` lists the candidates if not all of them."""
    variants = []
    for k in sorted(rewrites):
        variants += [_fields(variant) for variant in rewrites[k].variants]
    row: dict[str, Any] = {"prompt_id": prompt_id, "variants": variants}
    if len(rewrites) < n_candidates:
        row["rewritten"] = sorted(rewrites)
    return row


def scores_row(prompt_id: str, scores: Scores) -> dict[str, Any]:
    """Scores as a row, null where there is none.

    Returns:
        The row. `lazy` says that a lazy run left some out. The scores of a panel name its
        `raters`; `grades` (criteria, candidates, raters, repeats) are there if a rater gave more
        than one number, and `missing` lists grades that could not be obtained.
    """
    row: dict[str, Any] = {
        "prompt_id": prompt_id,
        "scorers": list(scores.scorers),
        "scores": number_lists(scores.values),
    }
    if scores.sample == RATER and scores.samples:
        row["raters"] = list(scores.samples)
    if scores.criteria:
        row["criteria"] = list(scores.criteria)
    if scores.grades is not None:
        row["grades"] = number_lists(scores.grades)
    if scores.failed:
        row["missing"] = [list(place) for place in scores.failed]
    if not scores.complete:
        row["lazy"] = True
    return row


def number_lists(values: Array) -> list[Any]:
    """An array as lists, None where it is NaN."""
    lists: list[Any] = np.where(np.isnan(values), np.array(None), values).tolist()
    return lists


def read_prompt(shard: Shard, prompt_id: str) -> Prompt:
    """Read a prompt of a run."""
    row = shard.rows("prompts.jsonl")[prompt_id]
    messages = tuple(Message(**message) for message in row["messages"])
    return Prompt(prompt_id, messages, row["category"])


def read_candidates(shard: Shard, prompt_id: str) -> list[Candidate]:
    """Read the candidates of a prompt."""
    candidates = []
    for row in shard.rows("candidates.jsonl")[prompt_id]["candidates"]:
        candidate = Candidate(prompt_id, **row)
        candidates.append(replace(candidate, other_names=tuple(candidate.other_names)))
    return candidates


def read_rewrites(shard: Shard, prompt_id: str, n_candidates: int) -> dict[int, Rewrites]:
    """Read the rewrites of those of a prompt's candidates that were rewritten."""
    variants_row = shard.rows("variants.jsonl")[prompt_id]
    rejected_row = shard.rows("rejected.jsonl")[prompt_id]
    variants = [Variant(prompt_id, **row) for row in variants_row["variants"]]
    rejections = [Rejection(prompt_id, **row) for row in rejected_row["rejected"]]
    rewrites = {}
    for k in variants_row.get("rewritten", range(n_candidates)):
        accepted = tuple(variant for variant in variants if variant.candidate == k)
        rejected = tuple(rejection for rejection in rejections if rejection.candidate == k)
        rewrites[k] = Rewrites(accepted, rejected)
    return rewrites


def read_scores(shard: Shard, prompt_id: str) -> Scores:
    """Read the scores of a prompt."""
    row = shard.rows("scores.jsonl")[prompt_id]
    candidate_rows = shard.rows("candidates.jsonl")[prompt_id]["candidates"]
    names = [candidate_row.get("name", "") for candidate_row in candidate_rows]
    grades: Array | None = None
    if "grades" in row:
        grades = np.array(row["grades"], dtype=np.float64)
    return replace(
        scores_of(shard.settings, np.array(row["scores"], dtype=np.float64), names),
        complete=not row.get("lazy"),
        grades=grades,
        failed=tuple((int(k), int(i)) for k, i in row.get("missing", ())),
    )


def scores_of(settings: Mapping[str, Any], values: Array, names: Sequence[str] = ()) -> Scores:
    """Values with the descriptions of a run's scorers.

    Args:
        settings: The settings of the run's manifest.
        values: Scores (M, K, n).
        names: The names of the candidates.

    Returns:
        The scores.
    """
    scorers = settings["scorers"]
    panel = settings.get("panel")
    orders: tuple[int, ...] = ()
    if panel:
        sample = RATER
        samples = tuple(rater["name"] for rater in panel["rater"])
        criteria = tuple(panel["criteria"])
        if panel.get("mode") == LISTWISE:
            orders = tuple(place % 2 for place in range(len(samples)))
    else:
        sample = "rewrite"
        samples = ("original", *(f"rewrite {i}" for i in range(1, values.shape[2])))
        criteria = ()
    return Scores(
        values=values,
        scorers=tuple(scorer["name"] for scorer in scorers),
        bounds=tuple((scorer["bounds"][0], scorer["bounds"][1]) for scorer in scorers),
        location=tuple(scorer["location"] for scorer in scorers),
        scale=tuple(scorer["scale"] for scorer in scorers),
        samples=samples,
        candidates=names_of_candidates(names),
        sample=sample,
        judged=bool(panel),
        criteria=criteria,
        orders=orders,
        compared=panel is not None and panel.get("mode") == PAIRWISE,
    )


def _fields(record: Any) -> dict[str, Any]:
    """The fields of a record without its prompt's id."""
    return {name: value for name, value in vars(record).items() if name != "prompt_id"}


def _candidate_fields(candidate: Candidate) -> dict[str, Any]:
    """The fields of a candidate, without names and copies that are as usual."""
    row = _fields(candidate)
    for name, usual_value in _USUAL_VALUES.items():
        if row[name] == usual_value:
            del row[name]
    return row
