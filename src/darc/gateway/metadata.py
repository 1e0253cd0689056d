"""What is said of a choice besides the answer."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from darc.gateway.candidates import Reply
from darc.gateway.method import Method
from darc.gateway.scoring import Sheet
from darc.gateway.selecting import Outcome
from darc.gateway.usage import Spent
from darc.runs.records import scores_row
from darc.selection.explain import FLAGS

WORDS = {
    **FLAGS,
    "fewer_candidates": "some candidates could not be made",
    "fewer_scorers": "not every scorer had answered in time",
    "budget_milliseconds": "the time was up; this is the best choice so far",
    "budget_calls": "the budget of scores was used up; this is the best choice so far",
    "rewriter_failed": "the rewriter failed, so each answer was scored once",
    "rule_failed": "the rule could not be applied",
    "best_of_k": "the rule could not be applied, so the largest mean was taken",
    "first_candidate": "nothing could be scored, so the first answer was taken",
    "not_rewritten": "answers of a prescribed form are not rewritten: each was scored once",
    "one_candidate": "there was one candidate only",
    "fewer_rewrites": "the answers are long, so each was rewritten fewer times",
    "too_long": "the answers are too long to be scored",
}


def explanation(outcome: Outcome) -> str:
    """Why this answer, in words, with everything that went wrong."""
    told = [] if outcome.decision is None else [outcome.decision.explain().rstrip(".")]
    known = () if outcome.decision is None else outcome.decision.flags
    told += [_word(flag) for flag in outcome.flags if flag not in known]
    return "; ".join(told) + "." if told else ""


def decision_row(outcome: Outcome, count: int) -> dict[str, Any]:
    """The decision in the decisions schema of a run folder, with all flags."""
    if outcome.decision is not None:
        row = outcome.decision.to_dict()
    else:
        names = ("value", "mean", "sigma", "risk_premium")
        row = {
            "rule": "first",
            "parameters": {},
            "index": outcome.order[0],
            "candidate": f"candidate {outcome.order[0]}",
            "candidates": [
                {"index": k, "id": None, **dict.fromkeys(names), "samples": 0, "feasible": True}
                for k in range(count)
            ],
        }
    return {**row, "flags": list(outcome.flags), "explanation": explanation(outcome)}


def short(
    row: Mapping[str, Any],
    outcome: Outcome,
    replies: Sequence[Reply],
    method: Method,
    spent: Spent,
    milliseconds: Mapping[str, float],
    scored: int,
    head: Mapping[str, Any],
) -> dict[str, Any]:
    """The `darc` object: the decision, all candidates' statistics, and what it cost."""
    known = {each["index"]: each for each in row["candidates"]}
    rows = [
        {
            **known.get(k, {"index": k}),
            "seed": reply.seed,
            "tokens": reply.tokens,
            "finish_reason": reply.choice.get("finish_reason"),
        }
        for k, reply in enumerate(replies)
    ]
    return {
        **head,
        **row,
        "order": outcome.order,
        "k": len(replies),
        "n_aug": method.n_aug,
        "include_original": method.include_original,
        "policy": method.policy,
        "candidates": rows,
        "scored": scored,
        "spent": spent.items(),
        "milliseconds": {name: round(ms, 1) for name, ms in milliseconds.items()},
    }


def audit_scores(sheet: Sheet) -> dict[str, Any]:
    """The raw scores of a decision for the audit log; `lazy` where more could be had."""
    names = [scorer.name for scorer in sheet.scorers]
    row = scores_row("", names, sheet.scores, lazy=not sheet.complete)
    row.pop("prompt_id")
    return row


def details(sheet: Sheet, replies: Sequence[Reply]) -> dict[str, Any]:
    """Everything a reader needs to decide again: texts, rewrites, raw scores, and their scales.

    `scores` is (M, K, n): scorer, candidate, sample; sample 0 is the original, sample i its
    variant i - 1, null where there is none or it was not looked at.
    """
    texts = []
    for k, reply in enumerate(replies):
        made = sheet.perturbed.get(k)
        texts.append(
            {
                "index": k,
                "text": reply.text,
                "variants": [
                    {"text": v.text, "family": v.family, "rewriter": v.rewriter}
                    for v in (made.variants if made else ())
                ],
                "rejected": [
                    {"text": r.text, "family": r.family, "reason": r.reason}
                    for r in (made.rejections if made else ())
                ],
            }
        )
    scorers = [
        {
            "name": scorer.name,
            "location": scorer.location,
            "scale": scorer.scale,
            "bounds": [_finite(bound) for bound in scorer.bounds],
            "active": place in sheet.active,
        }
        for place, scorer in enumerate(sheet.scorers)
    ]
    row = scores_row("", [], sheet.scores)
    return {"texts": texts, "scorers": scorers, "scores": row["scores"]}


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _word(flag: str) -> str:
    if flag.startswith("scorer_failed:"):
        return f"scorer {flag.partition(':')[2]} failed and was left out"
    return WORDS.get(flag, flag)
