"""The default rule: shrunken means, less the disagreement that the ratings prove."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from darc.decide.caution import MEDIUM, Caution, parse_caution
from darc.decide.choice import Choice, pick
from darc.decide.model.calibration import DEFAULT, Calibration, Given, calibrations
from darc.decide.model.learning import learn
from darc.decide.model.spread import (
    RatingSummary,
    SpreadPosterior,
    ruled_out,
    spread_posterior,
    summarize,
)
from darc.decide.pools import Pools
from darc.decide.registry import rule
from darc.decide.search import plans
from darc.decide.statistics.risk import entropic_value
from darc.decide.statistics.summary import c4
from darc.decide.tuning_grid import no_knobs
from darc.typing import Array, Integers, Mask

# A smaller probability that the answers divide people differently counts as none.
LEAST_PROBABILITY = 0.02
# Scores that differ by less than this share of the scores and ratings are tied.
TIE_SHARE = 1e-9


def _calibrate(pools: Pools, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Learn a calibration from the batch, unless one is given; one prompt has the default one."""
    prompts, scorers, _, _ = pools.shape
    if parameters["calibration"] is not None:
        return {}
    if prompts == 1:
        return {"calibration": DEFAULT}
    ratings = pools.normalized(pools.samples)
    if "prediction" in pools.side and not pools.about_wording:
        ratings = ratings - _prediction(pools)[:, None, :, None]
    learnt = [learn(ratings[:, m], pools.raters, pools.systems) for m in range(scorers)]
    if scorers == 1:
        return {"calibration": learnt[0]}
    return {"calibration": tuple(learnt)}


@rule(
    "auto",
    explanation="the largest {what}{less}{hedge}",
    allow_few_samples=True,
    calibrate=_calibrate,
    plan=plans.auto,
    grid=no_knobs,
    takes=("prediction",),
    aliases={"lam": "caution"},
)
def auto(pools: Pools, *, caution: Caution = MEDIUM, calibration: Given = None) -> Choice:
    """Largest shrunken mean less the disagreement that the ratings prove, times the caution.

    A candidate with few ratings is drawn towards the prompt's average, or its system's. Where the
    ratings of the pool show that its candidates divide people differently, a unit of standard
    deviation costs `caution` units of mean; where they do not, it costs next to nothing, or what a
    `calibration` has learnt. A candidate that another one betters nearly everywhere is ruled out.
    Many prompts without a `calibration` are learnt from; one prompt is decided by a fixed default.
    Rater ids take out severity, system ids use what is known of a system. Several scorers, each
    with its own calibration, are hedged by a soft minimum (gamma). What judges predict of people's
    ratings (side input `prediction`) is what a candidate is drawn towards. Scores of rewrites tell
    of wording, not of people: for them disagreement has its small or learnt weight only.
    """
    level = parse_caution(caution)
    by_scorer = calibrations(calibration, pools.shape[1])
    if pools.about_wording:
        return _choose_by_wording(pools, by_scorer, level)
    return _choose_by_ratings(pools, by_scorer, level)


@dataclass(frozen=True, eq=False)
class _ScorerView:
    """What the ratings of one scorer make of the candidates, (P, K) each."""

    #: Counts, means without severity, and spreads.
    summary: RatingSummary
    #: Shrunken means.
    shrunken: Array
    #: How much of a deviation from the prompt's average is kept.
    shrinkage: Array
    #: Candidates that another one rules out.
    ruled_out: Mask


def _choose_by_ratings(pools: Pools, by_scorer: Sequence[Calibration], caution: float) -> Choice:
    """The choice by people's ratings, or the grades of a panel."""
    candidates = pools.eligible
    ratings = pools.normalized(pools.samples)
    views = [
        _shrink(pools, ratings[:, scorer], scorer, calibration, caution)
        for scorer, calibration in enumerate(by_scorer)
    ]
    # With several scorers a candidate is out where all of them rule it out.
    is_out = np.logical_and.reduce([view.ruled_out for view in views])
    live = candidates & ~is_out
    scores = []
    posteriors = []
    for view, calibration in zip(views, by_scorer, strict=True):
        posterior = spread_posterior(view.summary.only(live), calibration.spread_prior)
        cost = _disagreement_cost(view, live, posterior, calibration, caution)
        scores.append(view.shrunken - cost)
        posteriors.append(posterior)
    score = scores[0]
    mean = views[0].summary.mean
    if len(scores) > 1:
        score = np.asarray(entropic_value(np.stack(scores, axis=-1), pools.gamma))
        mean = pools.statistics.mean
    rated = np.logical_or.reduce([view.summary.count > 0 for view in views])
    score = np.where(live & rated, score, np.nan)
    index = _pick(pools, score, mean, live, ratings)
    probability = np.max([posterior.probability_different for posterior in posteriors], axis=0)
    is_proven = probability >= LEAST_PROBABILITY
    facts = {
        "what": _mean_words(pools, by_scorer, len(index)),
        "different": np.where(is_proven, probability, 0.0),
        "shrunken": np.mean([view.shrunken for view in views], axis=0),
        "less": _cost_words(pools, by_scorer, caution, index, is_proven),
    }
    if len(scores) > 1:
        rows = np.arange(len(index))
        facts["scorer"] = np.stack(scores, axis=1)[rows, :, index].argmin(axis=1)
    return Choice(index, score, live, _flags(pools), facts)


def _shrink(
    pools: Pools,
    ratings: Array,
    scorer: int,
    calibration: Calibration,
    caution: float,
) -> _ScorerView:
    """Shrunken means by one scorer, and who is ruled out by them."""
    summary = _summary(pools, ratings, scorer).only(pools.eligible)
    mean = summary.mean
    if pools.raters is not None and calibration.raters:
        mean = mean - _severity(pools, scorer, calibration)
        summary = replace(summary, mean=mean)
    count = summary.count
    effect = np.zeros((1, 1))
    if pools.systems is not None:
        effect = pools.systems.numbers(calibration.systems, (0.0, 0.0))[..., 0]
    if "prediction" in pools.side:
        effect = effect + _prediction(pools)
    _, by_count = calibration.by_count(int(count.max(initial=1)))
    shrinkage = by_count[count]
    # The average is that of candidates with a spread, unless hardly any has one.
    has_spread = count > 1
    enough = has_spread.sum(axis=1, keepdims=True) > 2
    level = _mean(mean - effect, np.where(enough, has_spread, count > 0))
    shrunken = level + effect + shrinkage * (mean - level - effect)
    if pools.weights is None:
        is_out = ruled_out(ratings, count, shrunken, caution)
    else:
        # Ranks do not say how much a weighted rating counts.
        is_out = np.zeros(count.shape, dtype=bool)
    return _ScorerView(summary, shrunken, shrinkage, is_out)


def _prediction(pools: Pools) -> Array:
    """What judges predict of each candidate as a deviation from its prompt, (P, K)."""
    return np.nan_to_num(pools.side_input("prediction"))


def _summary(pools: Pools, ratings: Array, scorer: int) -> RatingSummary:
    """Counts, means and spreads by one scorer, weighted where the ratings have weights."""
    if pools.weights is None:
        return summarize(ratings)
    statistics = pools.by_scorer
    count = np.asarray(statistics.count[:, scorer], dtype=np.int64)
    sigma = np.nan_to_num(statistics.sigma[:, scorer])
    mean = np.nan_to_num(statistics.mean[:, scorer])
    return RatingSummary(count, mean, sigma**2 * np.maximum(count - 1, 0))


def _disagreement_cost(
    view: _ScorerView,
    live: Mask,
    posterior: SpreadPosterior,
    calibration: Calibration,
    caution: float,
) -> Array:
    """What the disagreement about each candidate costs it, in units of mean, (P, K)."""
    count = np.where(live, view.summary.count, 0)
    weights, _ = calibration.by_count(int(count.max(initial=1)))
    weight = min(caution, 1.0) * view.shrinkage * weights[count]
    usual = weight * _centred(view.summary.deviation, count > 1)
    probability = posterior.probability_different[:, None]
    proven = (1 - probability) * usual
    proven = proven + caution * _centred(posterior.sigma_if_different, count > 0)
    cost = np.where(probability >= LEAST_PROBABILITY, proven, usual)
    return _without_advantage(cost, view.shrunken, count)


def _without_advantage(cost: Array, shrunken: Array, count: Integers) -> Array:
    """Costs with which a candidate with one rating gains nothing by showing no disagreement.

    It costs at least as much as any candidate with several ratings and a mean that is not lower, so
    it can win by its mean only.
    """
    single = count == 1
    if not single.any():
        return cost
    # From the largest mean down, those with several ratings before those with one.
    order = np.lexsort((single, -shrunken), axis=-1)
    cost_of_several = np.where(count > 1, cost, -np.inf)
    ordered = np.take_along_axis(cost_of_several, order, axis=-1)
    largest_so_far = np.maximum.accumulate(ordered, axis=-1)
    least_cost = np.empty_like(cost)
    np.put_along_axis(least_cost, order, largest_so_far, axis=-1)
    return np.where(single, np.maximum(cost, least_cost), cost)


def _pick(pools: Pools, score: Array, mean: Array, live: Mask, ratings: Array) -> Integers:
    """The largest score; ties go to the larger mean, then to more ratings, then to the first.

    What is ruled out has no part in what counts as a tie, so that a lazy search, which does not
    know its ratings, sees the same ties.
    """
    is_live_rating = live[:, None, :, None] & ~np.isnan(ratings)
    largest_rating = np.abs(np.where(is_live_rating, ratings, 0.0)).max(axis=(1, 2, 3))
    has_score = live & ~np.isnan(score)
    highest = np.where(has_score, score, -np.inf).max(axis=1)
    lowest = np.where(has_score, score, np.inf).min(axis=1)
    reach = largest_rating + np.where(has_score.any(axis=1), highest - lowest, 0.0)
    tolerance = np.maximum(pools.tolerance, TIE_SHARE * reach[:, None])
    return pick([score, mean, pools.statistics.count], live, tolerance)


def _choose_by_wording(pools: Pools, by_scorer: Sequence[Calibration], caution: float) -> Choice:
    """The choice by scores of rewrites: shrunken mean less lightly weighted disagreement.

    Several scorers are hedged before shrinking, which keeps the lazy search exact.
    """
    view = _wording_view(pools, by_scorer, min(caution, 1.0))
    if len(by_scorer) > 1:
        score = _hedged_score(pools, view)
    else:
        score = _single_score(pools, view)
    index = pick([score, pools.statistics.mean], pools.eligible, pools.tolerance)
    rows = np.arange(len(index))
    weight = np.broadcast_to(view.weight, view.mean.shape)[rows, :, index]
    facts = {
        "what": _mean_words(pools, by_scorer, len(index)),
        "less": _weight_words(weight),
    }
    if len(by_scorer) > 1:
        calm = _hedged_calm(pools, view)[rows, :, index]
        facts["scorer"] = np.where(np.isnan(calm), np.inf, calm).argmin(axis=1)
    return Choice(index, score, pools.eligible, _flags(pools), facts)


@dataclass(frozen=True, eq=False)
class _WordingView:
    """What scores of rewrites make of the candidates; arrays extend to (P, M, K)."""

    #: How many samples there are.
    count: Integers
    #: Means without severity.
    mean: Array
    #: Mean less weighted disagreement.
    calm: Array
    #: What a unit of disagreement costs.
    weight: Array
    #: How much of a deviation from the prompt's average is kept.
    shrinkage: Array
    #: The average disagreement of a prompt, (P, M, 1).
    usual_disagreement: Array
    #: What is known of the systems.
    effect: Array
    #: The cost of a unit of disagreement by number of samples, one table per scorer.
    weights_by_count: Sequence[Array]


def _wording_view(
    pools: Pools, by_scorer: Sequence[Calibration], weight_factor: float
) -> _WordingView:
    """Means, disagreement and what they weigh, by scorer."""
    statistics = pools.by_scorer
    count = np.asarray(statistics.count, dtype=np.int64)
    if count.min() == count.max():
        # One number where all are alike, which saves most of the time.
        count = count[:1, :, :1]
    weight_tables = []
    weights = []
    shrinkages = []
    for scorer, calibration in enumerate(by_scorer):
        weight_table, shrinkage_table = calibration.by_count(int(count.max(initial=1)))
        weight_tables.append(weight_factor * weight_table)
        weights.append(weight_tables[scorer][count[:, scorer]])
        shrinkages.append(shrinkage_table[count[:, scorer]])
    weight = np.stack(weights, axis=1)
    mean = statistics.mean
    if pools.raters is not None and any(calibration.raters for calibration in by_scorer):
        offsets = [
            _severity(pools, scorer, calibration) for scorer, calibration in enumerate(by_scorer)
        ]
        mean = mean - np.stack(offsets, axis=1)
    disagreement = np.where(count >= 2, statistics.sigma / c4(count), 0.0)
    usual = _mean(disagreement, (count >= 2) & pools.eligible[:, None])
    effect = np.zeros((len(pools.eligible), 1, 1))
    if pools.systems is not None:
        effects = [
            pools.systems.numbers(calibration.systems, (0.0, 0.0))[..., 0]
            for calibration in by_scorer
        ]
        effect = np.stack(effects, axis=1)
    return _WordingView(
        count=count,
        mean=mean,
        calm=mean - weight * np.where(count >= 2, disagreement - usual, 0.0),
        weight=weight,
        shrinkage=np.stack(shrinkages, axis=1),
        usual_disagreement=usual,
        effect=effect,
        weights_by_count=weight_tables,
    )


def _single_score(pools: Pools, view: _WordingView) -> Array:
    """The score of each candidate by one scorer, (P, K)."""
    candidates = pools.eligible[:, None]
    has_spread = (view.count >= 2) & candidates
    # The average is that of candidates with a spread, unless hardly any has one.
    enough = has_spread.sum(axis=2, keepdims=True) > 2
    among = np.where(enough, has_spread, (view.count > 0) & candidates)
    centre = _mean(view.mean - view.effect, among) + view.effect
    return np.asarray((centre + view.shrinkage * (view.calm - centre))[:, 0])


def _hedged_score(pools: Pools, view: _WordingView) -> Array:
    """The score of each candidate by several scorers, (P, K)."""
    calm = np.moveaxis(_hedged_calm(pools, view), 1, -1)
    worth = np.asarray(entropic_value(calm, pools.gamma))[:, None]
    effect = view.effect.mean(axis=1, keepdims=True)
    shrinkage = view.shrinkage.mean(axis=1, keepdims=True)
    centre = _mean(worth - effect, pools.eligible[:, None]) + effect
    return np.asarray((centre + shrinkage * (worth - centre))[:, 0])


def _hedged_calm(pools: Pools, view: _WordingView) -> Array:
    """Mean less weighted disagreement, the usual one included, (P, M, K)."""
    most = np.where(pools.eligible[:, None], view.count, 0).max(axis=2, initial=0)
    heaviest = [table[most[:, scorer]] for scorer, table in enumerate(view.weights_by_count)]
    return np.asarray(view.calm - np.stack(heaviest, axis=1)[..., None] * view.usual_disagreement)


def _cost_words(
    pools: Pools, by_scorer: Sequence[Calibration], caution: float, index: Integers, proven: Mask
) -> Array:
    """What disagreement counted, by prompt, in words."""
    rows = np.arange(len(index))
    counts = np.asarray(pools.by_scorer.count[rows, :, index], dtype=np.int64)
    most = int(counts.max(initial=1))
    weights = []
    for scorer, calibration in enumerate(by_scorer):
        weight_table, _ = calibration.by_count(most)
        weights.append(weight_table[counts[:, scorer]])
    words = _weight_words(min(caution, 1.0) * np.stack(weights, axis=1))
    words[proven] = " less proven disagreement"
    return words


def _weight_words(weight: Array) -> Array:
    """What disagreement counted, by prompt, in words; weight is (P, M)."""
    words = np.array([""] * len(weight), dtype=object)
    for weights in np.unique(weight, axis=0):
        if weights.any():
            numbers = " and ".join(dict.fromkeys(f"{number:.2g}" for number in weights))
            words[(weight == weights).all(axis=1)] = f", less {numbers} times its disagreement"
    return words


def _mean_words(pools: Pools, by_scorer: Sequence[Calibration], prompts: int) -> Array:
    """What kind of mean was compared, in words, (P,)."""
    mean = "mean"
    if pools.raters is not None and any(calibration.raters for calibration in by_scorer):
        mean = "mean with raters' severity taken out"
    words = np.array(
        [
            mean,
            f"{mean} after shrinking",
            f"{mean} after shrinking towards its system's",
            f"{mean} after shrinking towards what the judges predict",
        ]
    )
    kind = np.where(_is_ragged(pools), 1, 0)
    if pools.systems is not None and any(calibration.systems for calibration in by_scorer):
        kind = np.full(prompts, 2)
    if "prediction" in pools.side:
        kind = np.full(prompts, 3)
    return np.asarray(words[kind])


def _flags(pools: Pools) -> dict[str, Mask]:
    has_spread = pools.eligible & (pools.statistics.count >= 2)
    return {"no_sigma": ~np.any(has_spread, axis=1), "shrunk": _is_ragged(pools)}


def _is_ragged(pools: Pools) -> Mask:
    """Whether the eligible candidates of a prompt have different numbers of samples, (P,)."""
    count = pools.statistics.count
    fewest = np.where(pools.eligible, count, np.inf).min(axis=1)
    return np.asarray(fewest < np.where(pools.eligible, count, 0).max(axis=1))


def _severity(pools: Pools, scorer: int, calibration: Calibration) -> Array:
    """How far above others the raters of each candidate rate, on average, (P, K)."""
    assert pools.raters is not None
    rated = ~np.isnan(pools.samples[:, scorer])
    weight = rated.astype(np.float64)
    if pools.weights is not None:
        weight = np.where(rated, pools.weights[:, scorer], 0.0)
    offset = np.where(rated, pools.raters.numbers(calibration.raters, 0.0), 0.0)
    total = weight.sum(axis=-1)
    return np.asarray((offset * weight).sum(axis=-1) / np.where(total > 0, total, 1.0))


def _centred(values: Array, among: Mask) -> Array:
    """Values (P, K) less their mean over the marked ones, 0 elsewhere."""
    return np.where(among, values - _mean(values, among), 0.0)


def _mean(values: Array, among: Mask) -> Array:
    """The mean of values (..., K) over the marked ones, (..., 1), 0 where there is none."""
    count = among.sum(axis=-1, keepdims=True)
    total = np.where(among, values, 0.0).sum(axis=-1, keepdims=True)
    return np.asarray(total / np.maximum(count, 1))
