"""The outcome of one prompt, read back from a run folder."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from darc.decide.decision import Decision
from darc.decide.method import Method, flagged, with_raters
from darc.decide.search.lazy import drive
from darc.engine.adaptive_panel import asks_adaptively, decide_on_asked
from darc.engine.copies import copy_flags
from darc.engine.flags import STOPPED_EARLY
from darc.engine.languages import NOT_ENGLISH
from darc.engine.outcome import Outcome
from darc.errors import InputError
from darc.runs import records
from darc.runs.calls import count_calls
from darc.runs.folder import RunFolder
from darc.runs.row_links import sample_counts
from darc.runs.shard import Shard
from darc.runs.stages import decide_prompt
from darc.types import Scores
from darc.typing import Array


def read_outcome(folder: RunFolder, prompt_id: str, method: Method) -> Outcome:
    """Read the outcome of one prompt.

    Args:
        folder: The run.
        prompt_id: The prompt.
        method: How to decide. A lazy run has the scores of its own rule and scale only.

    Returns:
        The outcome, as it was when the run decided.

    Raises:
        InputError: If there is no such prompt, it is not finished, or a lazy run lacks scores.
    """
    shard = folder.find(prompt_id)
    decisions = shard.rows("decisions.jsonl")
    if prompt_id not in decisions:
        raise InputError(
            f"{folder.path}: prompt {prompt_id!r} is not finished",
            f"go on with: {folder.resume_command()}",
        )
    candidates = records.read_candidates(shard, prompt_id)
    scores = records.read_scores(shard, prompt_id)
    best_of_k = None
    if scores.complete:
        decision = decide_prompt(shard, prompt_id, method, scores)
        best_of_k = decide_prompt(shard, prompt_id, method.best_of_k, scores).index
    elif asks_adaptively(method, scores):
        decision = decide_on_asked(method, prompt_id, scores)
    else:
        variants_row = shard.rows("variants.jsonl")[prompt_id]
        decision = _repeat_search(folder, variants_row, scores, method)
    saved = int(shard.rows("candidates.jsonl")[prompt_id].get("saved", 0))
    flags = list(decision.flags)
    if saved:
        flags.append(STOPPED_EARLY)
    flags += copy_flags(candidates)
    if NOT_ENGLISH in decisions[prompt_id]["flags"]:
        # It is about the texts, and holds for any rule.
        flags.append(NOT_ENGLISH)
    return Outcome(
        prompt=records.read_prompt(shard, prompt_id),
        candidates=candidates,
        rewrites=records.read_rewrites(shard, prompt_id, len(candidates)),
        scores=scores,
        decision=decision,
        order=[decision.index],
        flags=flags,
        milliseconds=_milliseconds(shard, prompt_id),
        calls=count_calls(scores),
        saved=saved,
        best_of_k=best_of_k,
    )


def _milliseconds(shard: Shard, prompt_id: str) -> dict[str, float]:
    """What the stages of a prompt took, over all times that the run went on."""
    milliseconds: dict[str, float] = {}
    for row in shard.timings():
        if row["prompt_id"] == prompt_id:
            stage = row["stage"]
            milliseconds[stage] = milliseconds.get(stage, 0.0) + row["milliseconds"]
    return milliseconds


def _repeat_search(
    folder: RunFolder, variants_row: Mapping[str, Any], scores: Scores, method: Method
) -> Decision:
    """Repeat a lazy search on the scores that it had.

    Raises:
        InputError: If the search needs other scores, because the method is another one.
    """
    values = scores.values
    n_candidates = values.shape[1]
    first_sample = method.first_sample
    is_panel = scores.sample == records.RATER
    counts = sample_counts(variants_row, n_candidates)
    rewritten = variants_row.get("rewritten", range(n_candidates))

    def check_known(k: int, sample: int) -> None:
        is_known = not np.isnan(values[0, k, sample]) or (k, sample) in scores.failed
        could_exist = is_panel or k not in rewritten or sample < counts[k]
        if could_exist and not is_known:
            raise InputError(
                f"{folder.path} has only the scores that its own rule needed",
                f"make the rest with: {folder.resume_command(complete=True)}",
            )

    def known_scores(places: list[tuple[int, int]]) -> list[Array]:
        for k, place in places:
            check_known(k, place + first_sample)
        return [values[:, k, place + first_sample] for k, place in places]

    decision = drive(method.search(scores), known_scores, n_candidates)
    return with_raters(flagged(decision, scores), scores)
