"""The facts about one choice that are counted and logged."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from darc.engine.outcome import Outcome
from darc.serve.job import Job

_MAX_LOGGED_NAME = 200


@dataclass(frozen=True)
class RaterCount:
    """How many raters graded an answer, and how many of them are unhappy with it."""

    raters: int
    unhappy: int


@dataclass(frozen=True)
class ChoiceFacts:
    """What a dashboard wants to know of one choice."""

    #: The model that the request names, as the client wrote it.
    model: str
    #: The rule that chose; None where nothing was compared.
    rule: str | None
    #: How many candidates were written.
    k: int
    flags: tuple[str, ...]
    #: Whether none of the answers is good.
    held: bool
    #: Whether Best-of-K would choose another answer; None where it is not known.
    other_choice: bool | None
    #: The standard deviation of the ratings of the choice; None where it is not known.
    disagreement: float | None
    #: The raters of the choice; None where nobody rated it.
    choice: RaterCount | None
    #: The raters of the answer that Best-of-K would choose.
    best_of_k: RaterCount | None
    #: Calls to all models and their tokens, retries included.
    calls: int
    tokens: int
    #: Seconds by stage, and in all ("total").
    seconds: Mapping[str, float]

    def log_fields(self) -> dict[str, Any]:
        """Return what the log line of a request says about its choice."""
        fields: dict[str, Any] = {
            "model": self.model[:_MAX_LOGGED_NAME],
            "rule": self.rule,
            "k": self.k,
            "flags": list(self.flags),
            "held": self.held,
            "other_choice": self.other_choice,
            "disagreement": self.disagreement,
            "calls": self.calls,
            "tokens": self.tokens,
            "stage_milliseconds": {
                stage: round(seconds * 1000, 1) for stage, seconds in self.seconds.items()
            },
        }
        if self.choice is not None:
            fields["raters"] = self.choice.raters
            fields["unhappy"] = self.choice.unhappy
        if self.best_of_k is not None:
            fields["best_of_k_raters"] = self.best_of_k.raters
            fields["best_of_k_unhappy"] = self.best_of_k.unhappy
        return fields


def choice_facts(
    job: Job, outcome: Outcome, darc: Mapping[str, Any], model: str = ""
) -> ChoiceFacts:
    """Collect the facts about a choice.

    Args:
        job: The request's job.
        outcome: The choice.
        darc: Its `darc` object.
        model: The model that the request names.
    """
    other_choice = None
    if darc["best_of_k"] is not None:
        other_choice = darc["best_of_k"] != darc["index"]
    return ChoiceFacts(
        model=model,
        rule=darc["rule"],
        k=darc["k"],
        flags=tuple(darc["flags"]),
        held=darc["held"],
        other_choice=other_choice,
        disagreement=_disagreement(outcome),
        choice=_rater_count(darc["people"], darc["index"]),
        best_of_k=_rater_count(darc["people"], darc["best_of_k"]),
        calls=job.total_meter.calls,
        tokens=job.total_meter.tokens,
        seconds={stage: value / 1000 for stage, value in darc["milliseconds"].items()},
    )


def _disagreement(outcome: Outcome) -> float | None:
    if outcome.decision is None:
        return None
    sigma = float(outcome.decision.statistics.sigma[outcome.index])
    if not np.isfinite(sigma):
        return None
    return round(sigma, 6)


def _rater_count(people: Mapping[str, Any] | None, index: int | None) -> RaterCount | None:
    """The raters of an answer; None if nobody rated it, or who is unhappy is not known."""
    if people is None or index is None:
        return None
    for answer in people["answers"]:
        if answer["index"] == index and answer["unhappy"] is not None and answer["ratings"]:
            return RaterCount(answer["ratings"], answer["unhappy"])
    return None
