"""What ratings of many prompts teach the rule `auto`."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from darc.decide.ids import Ids
from darc.decide.model import components
from darc.decide.model.calibration import THREE_RATINGS, Calibration, Pair
from darc.decide.model.components import Features
from darc.decide.model.severity import inflation, severity, shared_noise
from darc.decide.model.spread import DEFAULT_PRIOR, spread_posterior, summarize
from darc.decide.statistics.summary import c4
from darc.typing import Array

# Above this z, choosing by disagreement has gained enough to be used with three ratings.
EARNED = 1.0
# Above this a system's mean is the taste of a small panel, and says nothing of other raters.
PANEL = 2.0
FEWEST_SYSTEMS = 3
# The cross-check: halves of the raters drawn, and what it takes to be worth drawing them.
SPLITS, FEWEST_PROMPTS, FEWEST_RATINGS = 6, 20, 4
GROUPS = 20
# Pools at the default share that the learnt share of different pools stands beside.
PRIOR_POOLS = 20.0
SHARE_ROUNDS = 50


def learn(
    ratings: Array, raters: Ids | None = None, systems: Ids | None = None, lam: float = 2.0
) -> Calibration:
    """The `Calibration` of ratings (P, K, n), NaN where there is none."""
    learnt, features = _components(ratings, raters, systems)
    most = ratings.shape[2]
    learnt = replace(learnt, lam=lam)
    weight, _ = learnt.by_count(most)
    check = cross_check(features, weight[features.count]) if weight.any() else 0.0
    learnt = replace(learnt, check=check)
    weight, _ = learnt.by_count(most)
    learnt = replace(learnt, earned=_is_earned(features, weight))
    learnt = _with_spread_prior(learnt, ratings)
    weight, shrink = learnt.by_count(most)
    counts = np.unique(features.count[features.count > 0]).tolist()
    return replace(
        learnt,
        weight={n: float(weight[n]) for n in counts},
        shrink={n: float(shrink[n]) for n in counts},
    )


def _with_spread_prior(learnt: Calibration, ratings: Array) -> Calibration:
    """The calibration with what these pools teach about the sigmas of a pool.

    The share of different pools is found by expectation maximisation over the pools' evidence,
    beside `PRIOR_POOLS` pools with the default share.
    """
    (mean_variance, link), (_, spread_variance) = learnt.candidates
    own_spread = math.sqrt(max(spread_variance - link**2 / mean_variance, 0.0))
    learnt = replace(
        learnt,
        spread_alike=float(np.clip(own_spread, 0.1, 0.6)),
        sigma_df_factor=float(np.clip(0.5 / max(learnt.noise[2], 1e-9), 0.25, 1.0)),
    )
    evidence = spread_posterior(summarize(ratings), learnt.spread_prior).evidence
    alike = evidence[:, 0]
    different = evidence[:, 1]
    share = DEFAULT_PRIOR.share_different
    for _ in range(SHARE_ROUNDS):
        total = share * different + (1 - share) * alike
        probability = share * different / np.maximum(total, 1e-300)
        expected = probability.sum() + PRIOR_POOLS * DEFAULT_PRIOR.share_different
        share = float(expected / (len(evidence) + PRIOR_POOLS))
    return replace(learnt, share_different=share)


def _is_earned(features: Features, weight: Array) -> bool:
    """Whether disagreement may be weighed where candidates have three ratings each.

    The cross-check needs four ratings. With three, each rating is left out in turn and judges the
    choices that the other two make by their mean, and by their mean less weighted disagreement: a
    rating x of a candidate whose others have the mean m is worth x - (x - m)^2 (n - 1)/n / sigma,
    which is large where it is high and close to the others. The weight is earned if the second
    choice gains with z > 1 over prompts.

    Args:
        features: What the ratings say about each candidate.
        weight: The weight of disagreement by number of ratings, (n + 1,).
    """
    count = features.count
    rated = count > 0
    if not rated.any() or np.median(count[rated]) != THREE_RATINGS:
        return True
    if weight[THREE_RATINGS] == 0:
        return True
    usable = count == THREE_RATINGS
    prompts = usable.sum(axis=1) > 1
    if not prompts.any():
        return False
    usable = usable[prompts]
    ratings = _packed(features.ratings[prompts], THREE_RATINGS)
    variance, _ = components.within_variance(features)
    sigma = math.sqrt(variance)
    rows = np.arange(len(ratings))
    gains = np.zeros(len(ratings))
    for place in range(THREE_RATINGS):
        others = Features(np.delete(ratings, place, axis=-1))
        calm = others.mean - weight[THREE_RATINGS] * others.disagreement
        by_mean = np.where(usable, others.mean, -np.inf).argmax(axis=1)
        by_calm = np.where(usable, calm, -np.inf).argmax(axis=1)
        judge = ratings[..., place]
        distance = (judge - others.mean) ** 2 * (THREE_RATINGS - 1) / THREE_RATINGS
        worth = judge - distance / sigma
        gains += worth[rows, by_calm] - worth[rows, by_mean]
    error = float(gains.std()) / math.sqrt(len(gains))
    return error > 0 and float(gains.mean()) / error > EARNED


def _packed(ratings: Array, count: int) -> Array:
    """The first `count` ratings of each candidate (P, K, count), gaps moved to the end."""
    order = np.argsort(np.isnan(ratings), axis=-1, kind="stable")
    return np.take_along_axis(ratings, order, axis=-1)[..., :count]


def _components(
    ratings: Array, raters: Ids | None, systems: Ids | None
) -> tuple[Calibration, Features]:
    """Everything but the weights, and the features of the ratings."""
    features = Features(ratings)
    within, within_df = components.within_variance(features)
    noise, noise_df = components.noise_per_rating(features, within)
    learnt = Calibration(within, within_df, noise, noise_df)
    mean = features.mean
    if raters is not None and raters.names:
        learnt, mean = _with_raters(learnt, features, raters)
    # Candidates with a disagreement, or all where there are hardly any.
    used = features.count >= 2
    used = used if used.sum() > 2 else features.count > 0
    cells = np.stack([mean[used], features.disagreement[used]], axis=1)
    prompt, names = np.nonzero(used)[0], () if systems is None else systems.names
    system = np.full(len(prompt), -1) if systems is None else systems.codes[used]
    found = components.residuals(cells, prompt, system, len(ratings), len(names))
    average = components.noise_matrix(noise, learnt.shared, features.count[used]).mean(axis=0)
    parts = components.components(found.left / np.sqrt(within), found.df, average)
    inflated = 1.0
    if systems is not None and (found.cells > 0).sum() >= FEWEST_SYSTEMS:
        variance = parts.observed * within
        if raters is not None and raters.names:
            inflated = _inflation(ratings, raters, systems, found, variance[0, 0])
        if inflated > PANEL:
            return replace(_components(ratings, raters, None)[0], inflation=inflated), features
        effects, errors = components.shrunken(found.effects, found.cells, inflated * variance)
        learnt = replace(
            learnt,
            systems=_named(names, map(tuple, effects.tolist())),
            system_errors=_named(names, errors[:, 0].tolist()),
        )
    (mean_mean, link), (_, spread) = parts.candidates.tolist()
    return replace(
        learnt,
        candidates=((mean_mean, link), (link, spread)),
        candidates_df=found.df,
        reliability=parts.reliability,
        inflation=inflated,
    ), features


def _with_raters(learnt: Calibration, features: Features, raters: Ids) -> tuple[Calibration, Array]:
    """The calibration with the raters' severity and shared noise; the means without severity."""
    known, (prompts, candidates) = features.known, features.count.shape
    cell = np.arange(prompts * candidates).reshape(prompts, candidates, 1)
    cell = np.broadcast_to(cell, known.shape)[known]
    flat, rater = features.ratings[known], raters.codes[known]
    found = severity(flat, cell, rater, len(raters.names))
    learnt = replace(
        learnt,
        shared=shared_noise(flat, cell, cell // candidates, rater),
        raters=_named(raters.names, found.offset.tolist()),
        rater_errors=_named(raters.names, found.error.tolist()),
    )
    offsets = np.append(found.offset, 0.0)[raters.codes]
    return learnt, Features(features.ratings - offsets).mean


def _inflation(
    ratings: Array, raters: Ids, systems: Ids, found: components.Residuals, variance: float
) -> float:
    """How much noisier systems' means are than their cells say, as the same raters gave them."""
    named = (systems.codes >= 0)[..., None] & (raters.codes >= 0) & ~np.isnan(ratings)
    system = np.broadcast_to(systems.codes[..., None], ratings.shape)
    level = found.level[:, None, None] + found.effects[systems.codes, :1]
    cells = np.where(found.cells > 0, found.cells, np.nan)
    return inflation(
        (ratings - level)[named],
        raters.codes[named],
        system[named],
        len(systems.names),
        variance / cells,
    )


def cross_check(features: Features, weight: Array) -> float:
    """What mean - weight disagreement gains over the mean on other raters, as a z; weight (P, K).

    Half of a candidate's raters select and the other half judges by mean - 2 sigma, for six seeded
    halvings. 0 below 20 prompts or 4 ratings.
    """
    ratings, count = features.ratings, features.count
    if len(ratings) < FEWEST_PROMPTS or np.median(count[count > 0]) < FEWEST_RATINGS:
        return 0.0
    generator, rows = np.random.default_rng(0), np.arange(len(ratings))
    good, half = count >= FEWEST_RATINGS, (count // 2)[..., None]
    place = np.arange(ratings.shape[2])
    gains = []
    for _ in range(SPLITS):
        drawn = np.where(features.known, generator.random(ratings.shape), 2.0)
        mixed = np.take_along_axis(ratings, np.argsort(drawn, axis=-1), axis=-1)
        selecting = Features(np.where(place < half, mixed, np.nan))
        judging = Features(np.where(place >= half, mixed, np.nan))
        plain = np.where(good, selecting.mean, -np.inf).argmax(axis=1)
        calm = selecting.mean - weight * selecting.sigma / c4(count // 2)
        other = np.where(good, calm, -np.inf).argmax(axis=1)
        worth = judging.mean - 2 * judging.sigma
        gains.append(np.where(good.any(axis=1), worth[rows, other] - worth[rows, plain], np.nan))
    gain = np.mean(gains, axis=0)
    gain = gain[~np.isnan(gain)]
    if len(gain) < FEWEST_PROMPTS or not gain.std() > 0:
        return 0.0
    return float(gain.mean() / (gain.std() / np.sqrt(len(gain))))


def with_intervals(
    learnt: Calibration, ratings: Array, raters: Ids | None, systems: Ids | None
) -> Calibration:
    """The calibration with 95 % intervals of the weight of disagreement and its reliability.

    By the jackknife over 20 groups of prompts; the weight is that at the commonest count.
    """
    groups = min(GROUPS, len(ratings))
    if groups < 3:
        return learnt
    counts = np.bincount((~np.isnan(ratings)).sum(axis=-1).ravel())
    counts[0] = 0
    usual = int(counts.argmax())
    group = np.random.default_rng(0).permutation(len(ratings)) % groups
    left_out = []
    for each in range(groups):
        kept = np.flatnonzero(group != each)
        ids = [None if given is None else given.part(kept) for given in (raters, systems)]
        part, _ = _components(ratings[kept], *ids)
        part = replace(part, lam=learnt.lam, check=learnt.check, earned=learnt.earned)
        weight, _ = part.by_count(ratings.shape[2])
        left_out.append((weight[usual], part.reliability))
    spread = np.std(left_out, axis=0) * np.sqrt(groups - 1)
    whole = learnt.by_count(ratings.shape[2])[0][usual], learnt.reliability
    most = learnt.lam, 1.0
    intervals: dict[str, Pair] = {
        name: (max(0.0, float(one - 1.96 * error)), min(top, float(one + 1.96 * error)))
        for name, one, error, top in zip(
            ("weight", "reliability"), whole, spread, most, strict=True
        )
    }
    return replace(learnt, intervals=intervals)


def _named(names: Sequence[str], values: Any) -> dict[str, Any]:
    return dict(zip(names, values, strict=True))
