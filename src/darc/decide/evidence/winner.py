"""What ratings say of the true means of candidates, and of the chosen one, whatever the rule."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from darc.decide.caution import MEDIUM, parse_caution
from darc.decide.choice import Choice
from darc.decide.evidence.promise import Promise
from darc.decide.model.calibration import DEFAULT, Calibration
from darc.decide.pools import Pools
from darc.decide.rule import Rule
from darc.typing import Array, Mask

if TYPE_CHECKING:
    from darc.decide.decision import Decisions

# Half the width of the winner's interval, in standard deviations: about 90 %.
REACH = 1.64


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is believed of the candidates' true means."""

    #: The expected true mean, (P, K).
    mean: Array
    #: The variance of the true mean around it, (P, K).
    variance: Array
    #: The variance of ratings within a candidate, (P,); 0 where it is not known.
    rating_variance: Array
    #: Candidates that may be chosen and have a rating, (P, K).
    is_rated: Mask


def calibration_of(rule: Rule) -> Calibration:
    """The calibration that a rule went by, or what DARC starts with."""
    calibration = rule.parameters.get("calibration")
    if isinstance(calibration, Calibration):
        return calibration
    return DEFAULT


def candidate_beliefs(pools: Pools, choice: Choice, rule: Rule) -> Beliefs:
    """What the ratings of one scorer say of every candidate."""
    calibration = calibration_of(rule)
    count = np.asarray(pools.statistics.count, dtype=np.int64)
    is_rated = pools.eligible & (count > 0)
    rating_variance = _rating_variance(pools, calibration)
    _, by_count = calibration.by_count(int(count.max(initial=1)))
    shrinkage = by_count[count]
    (candidate_variance, _), _ = calibration.candidates
    learnt = choice.facts.get("shrunken")
    if learnt is None:
        mean = np.nan_to_num(pools.statistics.mean)
        total = np.where(is_rated, mean, 0.0).sum(axis=1, keepdims=True)
        level = total / np.maximum(is_rated.sum(axis=1, keepdims=True), 1)
        learnt = level + shrinkage * (mean - level)
    return Beliefs(
        mean=np.asarray(learnt, dtype=np.float64),
        variance=(1 - shrinkage) * candidate_variance * rating_variance[:, None],
        rating_variance=rating_variance,
        is_rated=is_rated,
    )


def rating_beliefs(ratings: Array, among: Mask, rule: Rule) -> Beliefs:
    """What ratings (P, K, n), NaN where there is none, say of the candidates `among`, (P, K).

    A candidate without a rating is expected to be like the others.
    """
    calibration = calibration_of(rule)
    is_given = ~np.isnan(ratings)
    count = is_given.sum(axis=2)
    total = np.where(is_given, ratings, 0.0).sum(axis=2)
    mean = total / np.maximum(count, 1)
    squares = np.where(is_given, ratings - mean[..., None], 0.0) ** 2
    df = np.maximum(count - 1, 0).sum(axis=1)
    rating_variance = squares.sum(axis=(1, 2)) / np.maximum(df, 1)
    if calibration.within_df > 0:
        rating_variance = np.full(len(ratings), float(calibration.within))
    _, by_count = calibration.by_count(int(count.max(initial=1)))
    shrinkage = by_count[count]
    weight = np.where(among, shrinkage, 0.0)
    level = (weight * mean).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-300)
    (candidate_variance, _), _ = calibration.candidates
    return Beliefs(
        mean=level[:, None] + shrinkage * (mean - level[:, None]),
        variance=(1 - shrinkage) * candidate_variance * rating_variance[:, None],
        rating_variance=rating_variance,
        is_rated=among,
    )


def winner_score(pools: Pools, choice: Choice, rule: Rule) -> Array:
    """The lower end of about 90 % of each winner's expected mean, (P,).

    Returns:
        NaN for scores of rewrites, of several scorers, and where a lazy search ruled answers out.
    """
    rows = np.arange(len(choice.index))
    is_partial = pools.settled is not None and bool(pools.settled.dropped.any())
    if pools.about_wording or pools.shape[1] != 1 or is_partial:
        return np.full(len(rows), np.nan)
    beliefs = candidate_beliefs(pools, choice, rule)
    error = np.sqrt(beliefs.variance[rows, choice.index])
    return np.asarray(beliefs.mean[rows, choice.index] - REACH * error)


def promise_of(rule: Rule) -> Promise | None:
    """The promise of the calibration that a rule goes by."""
    calibration = rule.parameters.get("calibration")
    if isinstance(calibration, Calibration):
        return calibration.promise
    return None


def is_below_promise(decisions: "Decisions") -> Mask | None:
    """Which answers must be held back to keep the promise of the calibration.

    Returns:
        (P,), or None where nothing was promised.
    """
    promise = promise_of(decisions.rule)
    if promise is None:
        return None
    score = winner_score(decisions.pools, decisions.choice, decisions.rule)
    return ~promise.is_shown(score)


def has_other_caution(rule: Rule) -> bool:
    """Whether a promise was made for choices with another caution."""
    promise = promise_of(rule)
    if promise is None:
        return False
    return parse_caution(rule.parameters.get("caution", MEDIUM)) != promise.caution


def _rating_variance(pools: Pools, calibration: Calibration) -> Array:
    """The variance of ratings within a candidate, (P,): learnt, or that of each pool."""
    if calibration.within_df > 0:
        return np.full(pools.shape[0], float(calibration.within))
    statistics = pools.statistics
    df = np.maximum(statistics.count - 1, 0)
    squares = np.where(df > 0, df * np.nan_to_num(statistics.sigma) ** 2, 0.0)
    return np.asarray(squares.sum(axis=1) / np.maximum(df.sum(axis=1), 1.0))
