"""What is reported of a request that was tried out in the background."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from darc.engine.copies import copy_key
from darc.engine.outcome import Outcome
from darc.serve.job import Job
from darc.serve.replies import Reply


@dataclass(frozen=True)
class StageCost:
    """What a part of a shadow took."""

    calls: int
    tokens: int
    seconds: float

    def to_dict(self) -> dict[str, float]:
        """The numbers by name."""
        return {
            "calls": self.calls,
            "tokens": self.tokens,
            "seconds": round(self.seconds, 3),
        }


def cost_of(job: Job, seconds: float) -> StageCost:
    """What a job has cost."""
    return StageCost(job.total_meter.calls, job.total_meter.tokens, seconds)


def same_answer(one: Reply, other: Reply) -> bool:
    """Whether two replies say the same: the same text, JSON or tool calls."""
    return copy_key(one.text) == copy_key(other.text)


def shadow_row(
    ordinary: Reply,
    comparison: Outcome | None,
    costs: Mapping[str, StageCost],
) -> dict[str, Any]:
    """Describe a shadow: whether the answer would have changed, and who is unhappy with which.

    Args:
        ordinary: The answer that the client got.
        comparison: The grades of the ordinary answer, in the first place, and of the choice; None
            if they are the same answer.
        costs: What the parts took: "ordinary", "choosing" and "comparing".

    Returns:
        A row for the audit log. `unhappy` is null if nobody could grade both.
    """
    row: dict[str, Any] = {
        "changed": comparison is not None,
        "answer": ordinary.text,
        "model": ordinary.model,
        "unhappy": None,
        "cost": {name: cost.to_dict() for name, cost in costs.items()},
    }
    if comparison is not None and comparison.decision is not None:
        row["unhappy"] = _unhappy_raters(comparison)
    return row


def _unhappy_raters(comparison: Outcome) -> dict[str, Any] | None:
    """How many raters are unhappy with each of two answers, and how many of them with one only."""
    decision = comparison.decision
    if decision is None or decision.opinions is None:
        return None
    ratings = {
        answer.index: {rating.rater: rating for rating in answer.ratings}
        for answer in decision.opinions.answers
    }
    ordinary = ratings.get(0, {})
    choice = ratings.get(1, {})
    raters = sorted(ordinary.keys() & choice.keys())
    if not raters:
        return None
    unhappy_before = {name for name in raters if ordinary[name].unhappy}
    unhappy_after = {name for name in raters if choice[name].unhappy}
    return {
        "raters": len(raters),
        "ordinary": len(unhappy_before),
        "choice": len(unhappy_after),
        "fewer": len(unhappy_before - unhappy_after),
        "more": len(unhappy_after - unhappy_before),
        "mean_ordinary": _mean([ordinary[name].value for name in raters]),
        "mean_choice": _mean([choice[name].value for name in raters]),
    }


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4)
