"""The outcome of one prompt of a run, read back from its folder."""

from dataclasses import replace

import numpy as np

from darc.engine.deciding import Deciding, flagged, parse_rules
from darc.engine.outcome import Outcome
from darc.engine.stopping import STOPPED
from darc.errors import InputError
from darc.runs import records
from darc.runs.folder import RunFolder, again, completing
from darc.runs.run import decide
from darc.runs.shard import Shard
from darc.selection.decision import Decision
from darc.selection.lazy import drive
from darc.types import Scores


def read_outcome(folder: RunFolder, prompt_id: str, deciding: Deciding) -> Outcome:
    """The `Outcome` of one prompt; a lazy run has it for its own rule and scale only."""
    shard = folder.find(prompt_id)
    if prompt_id not in shard.rows("decisions.jsonl"):
        raise InputError(
            f"{folder.path}: prompt {prompt_id!r} is not finished", f"go on with: {again(folder)}"
        )
    candidates = records.read_candidates(shard, prompt_id)
    scores = records.read_scores(shard, prompt_id)
    spent: dict[str, float] = {}
    for note in shard.notes():
        if note["prompt_id"] == prompt_id:
            spent[note["stage"]] = spent.get(note["stage"], 0.0) + note["milliseconds"]
    best_of_k = None
    if scores.complete:
        decision = decide(shard, prompt_id, deciding, scores)
        (mean,) = parse_rules(["mean"], {}, deciding.spec.beta, deciding.spec.gamma)
        best_of_k = decide(shard, prompt_id, replace(deciding, spec=mean), scores).index
    else:
        decision = _searched_again(folder, shard, prompt_id, deciding)
    saved = int(shard.rows("candidates.jsonl")[prompt_id].get("saved", 0))
    return Outcome(
        records.read_prompt(shard, prompt_id),
        candidates,
        records.read_perturbed(shard, prompt_id, len(candidates)),
        scores,
        decision,
        [decision.index],
        [*decision.flags, *([STOPPED] if saved else [])],
        spent,
        _calls(scores),
        saved=saved,
        best_of_k=best_of_k,
    )


def _calls(scores: Scores) -> int:
    """How many texts were scored, or grades asked for."""
    if scores.grades is not None:
        return int((~np.isnan(scores.grades[0])).sum()) + len(scores.failed)
    there = ~np.isnan(scores.values[0])
    for pair in scores.failed:
        there[pair] = True
    return int(there.sum())


def _searched_again(
    folder: RunFolder, shard: Shard, prompt_id: str, deciding: Deciding
) -> Decision:
    """The lazy search repeated on what it was told; another search would want what is not there."""
    scores = records.read_scores(shard, prompt_id)
    rows = shard.rows("variants.jsonl")[prompt_id]
    values = scores.values
    count = dict.fromkeys(range(values.shape[1]), 1)
    for variant in rows["variants"]:
        count[variant["candidate"]] += 1

    def told(pairs: list[tuple[int, int]]) -> list[list[float]]:
        answers = []
        for k, place in pairs:
            i = place + deciding.first
            known = bool(~np.isnan(values[0, k, i])) or (k, i) in scores.failed
            rated = scores.sample == records.RATER
            absent = not rated and k in rows.get("rewritten", count) and i >= count[k]
            if not known and not absent:
                raise InputError(
                    f"{folder.path} has only the scores that its own rule needed",
                    f"make the rest with: {completing(folder)}",
                )
            answers.append([float(x) for x in values[:, k, i]])
        return answers

    return flagged(drive(deciding.search(scores), told, values.shape[1]), scores)
