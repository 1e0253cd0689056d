"""The default rule: shrunken means, less the disagreement that the ratings prove."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from darc.decide.caution import MEDIUM, Caution, parse_caution
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
from darc.decide.rule import Choice, no_knobs, pick
from darc.decide.search import plans
from darc.decide.statistics.risk import entropic_value
from darc.decide.statistics.summary import c4
from darc.typing import Array, Integers, Mask

# A smaller probability that the answers divide people differently counts as none.
LEAST_PROBABILITY = 0.02
# Scores that differ by less than this share of the scores and ratings are tied.
TIE_SHARE = 1e-9


def _calibrate(pools: Pools, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """A calibration learnt from the batch, the default one for one prompt, unless one is given."""
    prompts, scorers, _, _ = pools.shape
    if parameters["calibration"] is not None:
        return {}
    if prompts == 1:
        return {"calibration": DEFAULT}
    ratings = pools.normalized(pools.samples)
    learnt = [learn(ratings[:, m], pools.raters, pools.systems) for m in range(scorers)]
    return {"calibration": learnt[0] if scorers == 1 else tuple(learnt)}


@rule(
    "auto",
    because="the largest {what}{less}{hedge}",
    few=True,
    calibrate=_calibrate,
    plan=plans.auto,
    grid=no_knobs,
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
    with its own calibration, are hedged by a soft minimum (gamma). Scores of rewrites tell of
    wording, not of people: for them disagreement has its small or learnt weight only.
    """
    level = parse_caution(caution)
    known = calibrations(calibration, pools.shape[1])
    if pools.about_wording:
        return _choose_by_wording(pools, known, level)
    return _choose_by_ratings(pools, known, level)


@dataclass(frozen=True, eq=False)
class _Scored:
    """What the ratings of one scorer make of the candidates, (P, K).

    Attributes:
        summary: Counts, means without severity, and spreads.
        shrunken: Shrunken means.
        shrinkage: How much of a deviation from the prompt's average is kept.
        out: Candidates that another one rules out.
    """

    summary: RatingSummary
    shrunken: Array
    shrinkage: Array
    out: Mask


def _choose_by_ratings(pools: Pools, known: Sequence[Calibration], caution: float) -> Choice:
    """The choice by people's ratings, or the grades of a panel."""
    candidates = pools.eligible
    ratings = pools.normalized(pools.samples)
    scored = [
        _shrink(pools, ratings[:, m], m, calibration, candidates, caution)
        for m, calibration in enumerate(known)
    ]
    # With several scorers a candidate is out where all of them rule it out.
    out = np.logical_and.reduce([each.out for each in scored])
    live = candidates & ~out
    scores = []
    posteriors = []
    for each, calibration in zip(scored, known, strict=True):
        posterior = spread_posterior(each.summary.only(live), calibration.spread_prior)
        cost = _disagreement_cost(each, live, posterior, calibration, caution)
        scores.append(each.shrunken - cost)
        posteriors.append(posterior)
    score = scores[0]
    if len(scores) > 1:
        score = np.asarray(entropic_value(np.stack(scores, axis=-1), pools.gamma))
    rated = np.logical_or.reduce([each.summary.count > 0 for each in scored])
    score = np.where(live & rated, score, np.nan)
    mean = pools.statistics.mean
    if len(scored) == 1:
        mean = scored[0].summary.mean
    index = _pick(pools, score, mean, live, ratings)
    probability = np.max([each.probability_different for each in posteriors], axis=0)
    facts = {
        **_reasons(pools, known, candidates, index),
        "different": np.where(probability < LEAST_PROBABILITY, 0.0, probability),
        "shrunken": np.mean([each.shrunken for each in scored], axis=0),
        "less": _cost_words(pools, known, caution, index, probability >= LEAST_PROBABILITY),
    }
    if len(scores) > 1:
        rows = np.arange(len(index))
        facts["scorer"] = np.stack(scores, axis=1)[rows, :, index].argmin(axis=1)
    return Choice(index, score, live, _flags(pools, candidates), facts)


def _shrink(
    pools: Pools,
    ratings: Array,
    scorer: int,
    calibration: Calibration,
    candidates: Mask,
    caution: float,
) -> _Scored:
    """Shrunken means by one scorer, and who is ruled out by them."""
    summary = _summary(pools, ratings, scorer).only(candidates)
    mean = summary.mean
    if pools.raters is not None and calibration.raters:
        mean = mean - _severity(pools, scorer, calibration)
        summary = replace(summary, mean=mean)
    count = summary.count
    effect = np.zeros((1, 1))
    if pools.systems is not None:
        effect = pools.systems.numbers(calibration.systems, (0.0, 0.0))[..., 0]
    _, by_count = calibration.by_count(int(count.max(initial=1)))
    shrinkage = by_count[count]
    # The average is that of candidates with a spread, unless hardly any has one.
    several = count > 1
    enough = several.sum(axis=1, keepdims=True) > 2
    level = _mean(mean - effect, np.where(enough, several, count > 0))
    shrunken = level + effect + shrinkage * (mean - level - effect)
    if pools.weights is None:
        out = ruled_out(ratings, count, shrunken, caution)
    else:
        # Ranks do not say how much a weighted rating counts.
        out = np.zeros(count.shape, dtype=bool)
    return _Scored(summary, shrunken, shrinkage, out)


def _summary(pools: Pools, ratings: Array, scorer: int) -> RatingSummary:
    """Counts, means and spreads by one scorer, weighted where the ratings have weights."""
    if pools.weights is None:
        return summarize(ratings)
    inner = pools.by_scorer
    count = np.asarray(inner.count[:, scorer], dtype=np.int64)
    sigma = np.nan_to_num(inner.sigma[:, scorer])
    mean = np.nan_to_num(inner.mean[:, scorer])
    return RatingSummary(count, mean, sigma**2 * np.maximum(count - 1, 0))


def _disagreement_cost(
    scored: _Scored,
    live: Mask,
    posterior: SpreadPosterior,
    calibration: Calibration,
    caution: float,
) -> Array:
    """What the disagreement about each candidate costs it, in units of mean, (P, K)."""
    count = np.where(live, scored.summary.count, 0)
    weights, _ = calibration.by_count(int(count.max(initial=1)))
    weight = min(caution, 1.0) * scored.shrinkage * weights[count]
    several = count > 1
    usual = weight * _centred(scored.summary.deviation, several)
    probability = posterior.probability_different[:, None]
    proven = (1 - probability) * usual
    proven = proven + caution * _centred(posterior.sigma_if_different, count > 0)
    cost = np.where(probability >= LEAST_PROBABILITY, proven, usual)
    return _without_advantage(cost, scored.shrunken, count)


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
    several = np.where(count > 1, cost, -np.inf)
    so_far = np.maximum.accumulate(np.take_along_axis(several, order, axis=-1), axis=-1)
    largest = np.empty_like(cost)
    np.put_along_axis(largest, order, so_far, axis=-1)
    return np.where(single, np.maximum(cost, largest), cost)


def _pick(pools: Pools, score: Array, mean: Array, live: Mask, ratings: Array) -> Integers:
    """The largest score; ties go to the larger mean, then to more ratings, then to the first.

    What is ruled out has no part in what counts as a tie, so that a lazy search, which does not
    know its ratings, sees the same ties.
    """
    known = live[:, None, :, None] & ~np.isnan(ratings)
    largest = np.abs(np.where(known, ratings, 0.0)).max(axis=(1, 2, 3))
    scored = live & ~np.isnan(score)
    highest = np.where(scored, score, -np.inf).max(axis=1)
    lowest = np.where(scored, score, np.inf).min(axis=1)
    reach = largest + np.where(scored.any(axis=1), highest - lowest, 0.0)
    tolerance = np.maximum(pools.tolerance, TIE_SHARE * reach[:, None])
    return pick([score, mean, pools.statistics.count], live, tolerance)


def _choose_by_wording(pools: Pools, known: Sequence[Calibration], caution: float) -> Choice:
    """The choice by scores of rewrites: shrunken mean less lightly weighted disagreement.

    Several scorers are hedged before shrinking, which keeps the lazy search exact.
    """
    candidates = pools.eligible
    inner = pools.by_scorer
    count = np.asarray(inner.count, dtype=np.int64)
    if count.min() == count.max():
        # One number where all are alike, which saves most of the time.
        count = count[:1, :, :1]
    tables = [each.by_count(int(count.max(initial=1))) for each in known]
    factor = min(caution, 1.0)
    weight = np.stack([factor * own[count[:, m]] for m, (own, _) in enumerate(tables)], axis=1)
    shrinkage = np.stack([own[count[:, m]] for m, (_, own) in enumerate(tables)], axis=1)
    mean = inner.mean
    if pools.raters is not None and any(each.raters for each in known):
        offsets = [_severity(pools, m, each) for m, each in enumerate(known)]
        mean = mean - np.stack(offsets, axis=1)
    several = (count >= 2) & candidates[:, None]
    disagreement = np.where(count >= 2, inner.sigma / c4(count), 0.0)
    usual = _mean(disagreement, several)
    calm = mean - weight * np.where(count >= 2, disagreement - usual, 0.0)
    effect = np.zeros((len(candidates), 1, 1))
    if pools.systems is not None:
        names = pools.systems
        effect = np.stack(
            [names.numbers(each.systems, (0.0, 0.0))[..., 0] for each in known], axis=1
        )
    if len(known) > 1:
        most = np.where(candidates[:, None], count, 0).max(axis=2, initial=0)
        heaviest = [factor * own[most[:, m]] for m, (own, _) in enumerate(tables)]
        calm = calm - np.stack(heaviest, axis=1)[..., None] * usual
        worth = np.asarray(entropic_value(np.moveaxis(calm, 1, -1), pools.gamma))[:, None]
        effect = effect.mean(axis=1, keepdims=True)
        shrinkage = shrinkage.mean(axis=1, keepdims=True)
        level = _mean(worth - effect, candidates[:, None])
    else:
        worth = calm
        enough = several.sum(axis=2, keepdims=True) > 2
        level = _mean(mean - effect, np.where(enough, several, (count > 0) & candidates[:, None]))
    centre = level + effect
    score = (centre + shrinkage * (worth - centre))[:, 0]
    index = pick([score, pools.statistics.mean], candidates, pools.tolerance)
    rows = np.arange(len(index))
    facts = _reasons(pools, known, candidates, index)
    facts["less"] = _weight_words(np.broadcast_to(weight, inner.mean.shape)[rows, :, index])
    if len(known) > 1:
        own = calm[rows, :, index]
        facts["scorer"] = np.where(np.isnan(own), np.inf, own).argmin(axis=1)
    return Choice(index, score, candidates, _flags(pools, candidates), facts)


def _cost_words(
    pools: Pools, known: Sequence[Calibration], caution: float, index: Integers, proven: Mask
) -> Array:
    """What disagreement counted, by prompt, in words."""
    rows = np.arange(len(index))
    counts = np.asarray(pools.by_scorer.count[rows, :, index], dtype=np.int64)
    tables = [each.by_count(int(counts.max(initial=1)))[0] for each in known]
    weight = np.stack([table[counts[:, m]] for m, table in enumerate(tables)], axis=1)
    words = _weight_words(min(caution, 1.0) * weight)
    words[proven] = " less proven disagreement"
    return words


def _weight_words(weight: Array) -> Array:
    """What disagreement counted, by prompt, in words; weight is (P, M)."""
    words = np.array([""] * len(weight), dtype=object)
    for pair in np.unique(weight, axis=0):
        if pair.any():
            numbers = " and ".join(dict.fromkeys(f"{each:.2g}" for each in pair))
            words[(weight == pair).all(axis=1)] = f", less {numbers} times its disagreement"
    return words


def _reasons(
    pools: Pools, known: Sequence[Calibration], candidates: Mask, index: Integers
) -> dict[str, Any]:
    """What kind of mean was compared, in words, (P,)."""
    severe = pools.raters is not None and any(each.raters for each in known)
    mean = "mean with raters' severity taken out" if severe else "mean"
    kinds = np.array(
        [mean, f"{mean} after shrinking", f"{mean} after shrinking towards its system's"]
    )
    kind = np.where(_is_ragged(pools, candidates), 1, 0)
    if pools.systems is not None and any(each.systems for each in known):
        kind = np.full(len(index), 2)
    return {"what": kinds[kind]}


def _flags(pools: Pools, candidates: Mask) -> dict[str, Mask]:
    count = pools.statistics.count
    return {
        "no_sigma": ~np.any(candidates & (count >= 2), axis=1),
        "shrunk": _is_ragged(pools, candidates),
    }


def _is_ragged(pools: Pools, candidates: Mask) -> Mask:
    """Whether the candidates of a prompt have different numbers of samples, (P,)."""
    count = pools.statistics.count
    fewest = np.where(candidates, count, np.inf).min(axis=1)
    return np.asarray(fewest < np.where(candidates, count, 0).max(axis=1))


def _severity(pools: Pools, scorer: int, calibration: Calibration) -> Array:
    """How far above others the raters of each candidate rate, on average, (P, K)."""
    assert pools.raters is not None
    rated = ~np.isnan(pools.samples[:, scorer])
    mass = rated.astype(np.float64)
    if pools.weights is not None:
        mass = np.where(rated, pools.weights[:, scorer], 0.0)
    offset = np.where(rated, pools.raters.numbers(calibration.raters, 0.0), 0.0)
    total = mass.sum(axis=-1)
    return np.asarray((offset * mass).sum(axis=-1) / np.where(total > 0, total, 1.0))


def _centred(values: Array, among: Mask) -> Array:
    """Values (P, K) less their mean over the marked ones, 0 elsewhere."""
    return np.where(among, values - _mean(values, among), 0.0)


def _mean(values: Array, among: Mask) -> Array:
    """The mean of values (..., K) over the marked ones, (..., 1), 0 where there is none."""
    times = among.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(among, values, 0.0).sum(-1, keepdims=True) / np.maximum(times, 1))
