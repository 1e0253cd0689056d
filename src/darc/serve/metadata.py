"""What a response and the audit log say about a choice."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from darc.decide.explanation import WORDING_NOTE
from darc.decide.flags import flag_words
from darc.engine.flags import FLAG_SENTENCES
from darc.engine.outcome import Outcome
from darc.json_files import jsonable
from darc.runs.records import number_lists, scores_row
from darc.serve.errors import HELD
from darc.serve.job import Job
from darc.serve.replies import Reply
from darc.serve.requests import RequestMethod

# Numbers of a candidate that only a close reader needs.
_DETAILED_NUMBERS = ("value", "sigma", "risk_premium")


def describe_choice(
    job: Job, replies: Sequence[Reply], outcome: Outcome, row: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the `darc` object of a choice.

    It has the decision in words about people, what it cost and, where the request asks for full
    metadata, all numbers and details.

    Args:
        job: The request's job.
        replies: The replies, merged by their texts.
        outcome: The choice.
        row: The outcome as a dictionary.
    """
    options = job.method.options
    is_full = options.metadata == "full"
    spent = {
        name: {"calls": meter.calls, **meter.usage} for name, meter in job.stage_meters.items()
    }
    darc = {
        "request_id": job.request_id,
        "prompt_id": job.prompt.id,
        **row,
        "people": row.get("people"),
        "held": HELD in outcome.flags,
        "best_of_k": best_of_k(outcome),
        "order": list(outcome.order),
        "model": replies[outcome.index].model,
        "models": model_rows(job, replies, outcome),
        "k": outcome.written,
        "saved": outcome.saved,
        "n_aug": options.n_aug,
        "include_original": options.include_original,
        "policy": options.policy,
        "candidates": _candidate_rows(replies, outcome, row, is_full),
        "scored": outcome.calls,
        **caution_note(job.method, outcome.scores.sample),
        "spent": spent,
        "milliseconds": _milliseconds(job),
    }
    if outcome.rated:
        darc["panel"] = outcome.panel()
    if is_full:
        darc |= _details(outcome)
    return darc


def best_of_k(outcome: Outcome) -> int | None:
    """Return the candidate with the highest average, the chosen one where it ties with others.

    Returns:
        None where it is not known: nothing was compared, or a candidate that was ruled out early
        may have a higher average.
    """
    decision = outcome.decision
    if outcome.best_of_k is not None or decision is None:
        return outcome.best_of_k
    pools = decision.pools
    # Those with enough ratings. The means of candidates that were ruled out early are upper bounds.
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


def caution_note(method: RequestMethod, sample: str) -> dict[str, str]:
    """Return a note if a caution was given where it has next to no effect: on rewrites.

    Args:
        method: How the answer was chosen.
        sample: What a sample is: "rewrite" or something else.
    """
    if sample != "rewrite" or not method.caution_requested:
        return {}
    return {"caution_note": WORDING_NOTE}


def flag_notes(flags: Sequence[str]) -> list[str]:
    """Return the flags of a decision in words, one text per flag."""
    notes = []
    for flag in flags:
        if flag == HELD and "below_promise" in flags:
            notes.append("the answer is held back")
        else:
            notes.append(flag_words(flag, FLAG_SENTENCES))
    return notes


def model_rows(job: Job, replies: Sequence[Reply], outcome: Outcome) -> dict[str, Any]:
    """Return how many candidates each model wrote, and at what cost.

    Args:
        job: The request's job.
        replies: The replies, merged by their texts.
        outcome: The choice.
    """
    chosen_model = replies[outcome.index].model
    rows = {}
    for name, use in job.model_uses.items():
        rows[name or chosen_model] = {
            "candidates": use.candidates,
            "chosen": not name or name == chosen_model,
            "calls": use.meter.calls,
            "tokens": use.meter.tokens,
        }
    return rows


def audit_row(
    job: Job, replies: Sequence[Reply], row: Mapping[str, Any], outcome: Outcome
) -> dict[str, Any]:
    """Return the row of a decision for the audit log, with the raw scores if there are any.

    Args:
        job: The request's job.
        replies: The replies, merged by their texts.
        row: The outcome as a dictionary.
        outcome: The choice.
    """
    scores = {}
    if not np.isnan(outcome.scores.values).all():
        scores = scores_row(job.prompt.id, outcome.scores)
    candidates = [
        {**candidate, "model": replies[candidate["index"]].model} for candidate in row["candidates"]
    ]
    return {
        "prompt_id": job.prompt.id,
        **row,
        "candidates": candidates,
        "answer": outcome.answer,
        "request_id": job.request_id,
        "model": replies[outcome.index].model,
        "models": model_rows(job, replies, outcome),
        **scores,
    }


def _candidate_rows(
    replies: Sequence[Reply], outcome: Outcome, row: Mapping[str, Any], is_full: bool
) -> list[dict[str, Any]]:
    """What is known of each reply, compared or not."""
    compared = {candidate["index"]: candidate for candidate in row["candidates"]}
    rows = []
    for index, reply in enumerate(replies):
        facts = compared.get(index, {"index": index, **outcome.copies_field(index)})
        if not is_full:
            facts = {name: fact for name, fact in facts.items() if name not in _DETAILED_NUMBERS}
        rows.append(
            {
                **facts,
                "model": reply.model,
                "seed": reply.candidate.seed,
                "tokens": reply.candidate.tokens,
                "finish_reason": reply.choice.get("finish_reason"),
            }
        )
    return rows


def _milliseconds(job: Job) -> dict[str, float]:
    """The time of each stage and of everything so far."""
    total = (time.perf_counter() - job.started) * 1000
    by_stage = {**job.clock.milliseconds, "total": total}
    return {name: round(milliseconds, 1) for name, milliseconds in by_stage.items()}


def _details(outcome: Outcome) -> dict[str, Any]:
    """Everything that somebody needs to decide again: texts, rewrites, raw scores, their scales.

    `scores` is (M, K, n): scorer, candidate, sample. Sample 0 is the original and sample i its
    variant i - 1, null where there is none or it was not scored. Of a panel, sample i is the i-th
    of the `raters`, `grades` (criteria, K, n, repeats) has all that they gave where a rater gave
    several numbers, and `orders` says in which of two orders each rater saw the answers.
    """
    scores = outcome.scores
    row = scores_row("", scores)
    panel_fields = {name: row[name] for name in row.keys() & {"raters", "criteria", "grades"}}
    if scores.judged:
        panel_fields["judged"] = True
    if scores.orders:
        panel_fields["orders"] = list(scores.orders)
    return {
        "texts": [_text_row(outcome, index) for index in range(len(outcome.candidates))],
        "scorers": [_scorer_row(outcome, place) for place in range(len(scores.scorers))],
        "scores": number_lists(scores.values),
        "sample": scores.sample,
        **panel_fields,
    }


def _text_row(outcome: Outcome, index: int) -> dict[str, Any]:
    """The text of a candidate, its rewrites and those that were rejected."""
    rewrites = outcome.rewrites.get(index)
    variants = []
    rejections = []
    if rewrites is not None:
        variants = [
            {"text": variant.text, "family": variant.family, "rewriter": variant.rewriter}
            for variant in rewrites.variants
        ]
        rejections = [
            {"text": rejection.text, "family": rejection.family, "reason": rejection.reason}
            for rejection in rewrites.rejections
        ]
    return {
        "index": index,
        "text": outcome.candidates[index].text,
        **outcome.copies_field(index),
        "variants": variants,
        "rejected": rejections,
    }


def _scorer_row(outcome: Outcome, place: int) -> dict[str, Any]:
    scores = outcome.scores
    name = scores.scorers[place]
    return {
        "name": name,
        "location": scores.location[place],
        "scale": scores.scale[place],
        "bounds": jsonable(scores.bounds[place]),
        "active": f"scorer_failed:{name}" not in outcome.flags,
    }
