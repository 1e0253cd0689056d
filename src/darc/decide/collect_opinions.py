"""What people think of the answers of one decision, collected from its ratings."""

from collections.abc import Sequence

import numpy as np

from darc.decide.caution import MEDIUM, parse_caution
from darc.decide.decision import Decision
from darc.decide.model.spread import DEFAULT_PRIOR, ruled_out, spread_posterior, summarize
from darc.decide.opinions import AnswerOpinions, Opinions, Rating
from darc.typing import Array

# Averages that differ by a smaller share are equal.
TIE_SHARE = 1e-9


def collect_opinions(decision: Decision) -> Opinions | None:
    """Collect the opinions behind a decision.

    Returns:
        None where the samples are not opinions of people on one scale: scores of rewrites, or of
        several scorers.
    """
    pools = decision.pools
    if pools.about_wording or pools.shape[1] != 1:
        return None
    ratings = decision.ratings
    limit = pools.standards.unhappy_below
    known_scale = limit is not None
    if limit is None:
        limit = _clearly_lower_limit(ratings)
    scale = pools.standards.scale
    if scale is None:
        scale = (float(np.nanmin(ratings)), float(np.nanmax(ratings)))
    rated = np.flatnonzero(~np.isnan(ratings).all(axis=-1)).tolist()
    answers = tuple(_answer_opinions(decision, candidate, limit) for candidate in rated)
    best_mean = _best_mean(decision, answers)
    seen_by_rule = np.where(np.isnan(ratings), np.nan, pools.samples[0, 0])
    probability = _probability_different(decision, seen_by_rule, best_mean == decision.index)
    return Opinions(
        answers=answers,
        limit=limit,
        known_scale=known_scale,
        low=scale[0],
        high=scale[1],
        chosen=decision.index,
        best_mean=best_mean,
        probability_different=probability,
        caution=_caution(decision),
    )


def _answer_opinions(decision: Decision, candidate: int, limit: float) -> AnswerOpinions:
    """The opinions about one candidate."""
    ratings = tuple(
        Rating(float(value), decision.rater_name(candidate, place), bool(value < limit))
        for place, value in enumerate(decision.ratings[candidate])
        if not np.isnan(value)
    )
    ruled_out_early = decision.bounded is not None and bool(decision.bounded[candidate])
    return AnswerOpinions(
        index=candidate,
        name=decision.labels.candidate(candidate),
        ratings=ratings,
        complete=not ruled_out_early,
        eligible=bool(decision.pools.eligible[0, candidate]),
    )


def _clearly_lower_limit(ratings: Array) -> float:
    """One pooled within-candidate deviation below the average of all ratings."""
    counts = (~np.isnan(ratings)).sum(axis=-1)
    rated = ratings[counts > 0]
    squares = float(np.nansum((rated - np.nanmean(rated, axis=-1, keepdims=True)) ** 2))
    pooled = squares / max(int(np.maximum(counts - 1, 0).sum()), 1)
    return float(np.nanmean(ratings)) - float(np.sqrt(pooled))


def _best_mean(decision: Decision, answers: Sequence[AnswerOpinions]) -> int:
    """The candidate with the highest average; the chosen one where it ties with others.

    Of candidates that were given up early the average is not known.
    """
    compared = [answer for answer in answers if answer.complete] or list(answers)
    best = max(answer.mean for answer in compared)
    slack = TIE_SHARE * (1 + abs(best))
    leaders = [answer.index for answer in compared if answer.mean >= best - slack]
    if decision.index in leaders:
        return decision.index
    return leaders[0]


def _probability_different(decision: Decision, ratings: Array, best_mean_chosen: bool) -> float:
    """The probability that the answers divide people differently, by the default assumptions.

    What a calibration has learnt is left aside: where answers usually differ, it would call a
    difference usual, and not chance. Where another answer than the one with the highest average
    was chosen, the answers that are ruled out do not count, as they did not for the choice.
    """
    summary = summarize(ratings[None]).only(decision.pools.eligible)
    if not best_mean_chosen:
        caution = _caution(decision)
        if caution is None:
            caution = MEDIUM
        is_out = ruled_out(ratings[None], summary.count, summary.mean, caution)
        is_out[0, decision.index] = False
        summary = summary.only(~is_out)
    return float(spread_posterior(summary, DEFAULT_PRIOR).probability_different[0])


def _caution(decision: Decision) -> float | None:
    """The caution of the rule, None if it has none."""
    caution = decision.rule.parameters.get("caution")
    if caution is None:
        return None
    return parse_caution(caution)
