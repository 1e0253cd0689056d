"""Choosing by scores that a client brings."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from darc.decide.decision import Decision
from darc.decide.method import Method
from darc.errors import DarcError
from darc.serve.bodies import ScorerScale, SelectScores
from darc.serve.metadata import caution_note, flag_notes
from darc.serve.requests import RequestMethod
from darc.serve.validation import invalid_value
from darc.types import Scores
from darc.typing import Array
from darc.web.problems import Problem


def select_by_scores(
    body: SelectScores, request_method: RequestMethod, request_id: str
) -> dict[str, Any]:
    """Decide by scores.

    Args:
        body: The request.
        request_method: How to decide.
        request_id: The id of the request.

    Returns:
        The decision, what Best-of-K takes of the same scores, and what the rule compared with.

    Raises:
        Problem: With status 400 if the scores do not fit together, or not the rule.
    """
    values = _read_scores(body, request_method)
    scorers = body.scorers
    if not scorers:
        scorers = [ScorerScale(name=f"scorer {place}") for place in range(len(values))]
    method = _method_for(body, request_method, scorers)
    scores = _make_scores(body, method, values, scorers)
    # Best-of-K has no limit for single ratings.
    standards = replace(method.standards, no_rating_below=None)
    best_of_k_method = replace(method.best_of_k, standards=standards)
    try:
        decision = method.decide(body.prompt_id, scores, body.side)
        best_of_k = best_of_k_method.decide(body.prompt_id, scores, {}).index
    except DarcError as error:
        raise Problem(400, str(error), code="invalid_scores", param="scores") from None
    except (ValueError, TypeError):
        raise invalid_value("side", "does not fit the scores") from None
    if body.sample_kind == "rater" and body.raters:
        labels = replace(decision.labels, raters=tuple(body.raters))
        decision = replace(decision, labels=labels)
    return {
        **decision.to_dict(),
        "sample": body.sample_kind,
        "held": decision.held,
        "best_of_k": best_of_k,
        "facts": _number_facts(decision),
        "notes": flag_notes(decision.flags),
        **caution_note(request_method, body.sample_kind),
        "request_id": request_id,
    }


def _read_scores(body: SelectScores, request_method: RequestMethod) -> Array:
    """The scores as an array (M, K, n)."""
    rule = request_method.method.rule
    missing = [name for name in rule.required() if name not in body.side]
    if missing:
        needs = " and ".join(missing)
        raise invalid_value("darc.rule", f"{rule.name!r} needs {needs} besides scores")
    try:
        values = np.array(body.scores, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        raise invalid_value("scores", "must be numbers in lists of one length") from None
    if values.ndim == 2:
        values = values[None]
    scorer_count, candidate_count, sample_count = values.shape
    if body.scorers and len(body.scorers) != scorer_count:
        raise invalid_value("scorers", f"must be as many as there are in scores, {scorer_count}")
    if request_method.options.normalize == "fixed" and not body.scorers:
        raise invalid_value("darc.normalize", "must be prompt or none for scores of your own")
    if body.raters and len(body.raters) != sample_count:
        raise invalid_value("raters", f"must be as many as there are in scores, {sample_count}")
    if body.orders and len(body.orders) != sample_count:
        raise invalid_value("orders", f"must be as many as there are in scores, {sample_count}")
    if body.names and len(body.names) != candidate_count:
        raise invalid_value("names", f"must be as many as there are candidates, {candidate_count}")
    return values


def _method_for(
    body: SelectScores, request_method: RequestMethod, scorers: Sequence[ScorerScale]
) -> Method:
    """The method for these scores, which knows the scale of ratings if their scorer says it."""
    method = request_method.method
    if not body.scorers:
        method = method.bound_to(())
    is_rated = body.sample_kind == "rater"
    standards = method.standards
    if is_rated and standards.scale is None:
        standards = replace(standards, scale=_rating_scale(scorers))
    return replace(
        method,
        include_original=request_method.options.include_original or is_rated,
        min_samples=body.min_samples,
        standards=standards,
    )


def _read_grades(body: SelectScores, values: Array) -> Array | None:
    """All grades of a panel as an array (criteria, K, n, repeats); None if there are none."""
    if not body.grades:
        return None
    try:
        grades = np.array(body.grades, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        raise invalid_value("grades", "must be numbers in lists of one length") from None
    if grades.ndim != 4 or grades.shape[1:3] != values.shape[1:]:
        raise invalid_value(
            "grades", "must be (criteria, K, n, repeats), with the K and n of scores"
        )
    return grades


def _make_scores(
    body: SelectScores, method: Method, values: Array, scorers: Sequence[ScorerScale]
) -> Scores:
    sample: str = body.sample_kind
    if sample == "rater" and method.standards.scale is None:
        # Ratings of a panel are from 0 to 10, which others need not be.
        sample = "sample"
    return Scores(
        values=values,
        scorers=tuple(scorer.name for scorer in scorers),
        bounds=tuple(_bounds(scorer) for scorer in scorers),
        location=tuple(scorer.location for scorer in scorers),
        scale=tuple(scorer.scale for scorer in scorers),
        samples=tuple(body.raters),
        groups=body.rater_groups,
        candidates=tuple(body.names),
        sample=sample,
        judged=body.judged,
        orders=tuple(body.orders),
        grades=_read_grades(body, values),
    )


def _bounds(scorer: ScorerScale) -> tuple[float, float]:
    """The bounds of a scorer, infinite where there are none."""
    low, high = scorer.bounds
    if low is None:
        low = -np.inf
    if high is None:
        high = np.inf
    return low, high


def _rating_scale(scorers: Sequence[ScorerScale]) -> tuple[float, float] | None:
    """The scale of ratings: the bounds of their only scorer, None if they are not known."""
    if len(scorers) != 1:
        return None
    low, high = scorers[0].bounds
    if low is None or high is None or low >= high:
        return None
    return low, high


def _number_facts(decision: Decision) -> dict[str, float]:
    """The facts about the choice that are finite numbers, such as the threshold used."""
    facts = {}
    for name, values in decision.choice.facts.items():
        if values.ndim == 1 and isinstance(values[0], np.number):
            value = float(values[0])
            if math.isfinite(value):
                facts[name] = value
    return facts
