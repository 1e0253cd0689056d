"""What ratings of many prompts teach the rule `auto`."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from darc.decide.ids import UNKNOWN, Ids
from darc.decide.model import components
from darc.decide.model.calibration import THREE_RATINGS, Calibration
from darc.decide.model.components import Features
from darc.decide.model.severity import inflation, severity, shared_noise
from darc.decide.model.spread import DEFAULT_PRIOR, spread_posterior, summarize
from darc.decide.statistics.summary import c4
from darc.typing import Array, Mask

# Above this z, choosing by disagreement has gained enough to be used with three ratings.
EARNED = 1.0
# Above this a system's mean is the taste of a small panel, and says nothing of other raters.
PANEL = 2.0
FEWEST_SYSTEMS = 3
# The cross-check: how often the raters are halved, and what it takes to be worth it.
SPLITS = 6
FEWEST_PROMPTS = 20
FEWEST_RATINGS = 4
# Pools at the default share that the learnt share of different pools stands beside.
PRIOR_POOLS = 20.0
SHARE_ROUNDS = 50


def learn(
    ratings: Array, raters: Ids | None = None, systems: Ids | None = None, lam: float = 2.0
) -> Calibration:
    """Learn from the ratings of many prompts.

    Args:
        ratings: (P, K, n), NaN where there is none.
        raters: Who gave each rating.
        systems: What wrote each candidate.
        lam: What a unit of sigma is worth in units of mean.
    """
    features = Features(ratings)
    calibration = replace(_learn_components(features, raters, systems), lam=lam)
    most = ratings.shape[2]
    weight, _ = calibration.by_count(most)
    if weight.any():
        check = cross_check(features, weight[features.count])
        calibration = replace(calibration, check=check)
    weight, _ = calibration.by_count(most)
    calibration = replace(calibration, earned=_is_earned(features, weight))
    calibration = _with_spread_prior(calibration, ratings)
    weight, shrinkage = calibration.by_count(most)
    counts = np.unique(features.count[features.count > 0]).tolist()
    return replace(
        calibration,
        weight={count: float(weight[count]) for count in counts},
        shrink={count: float(shrinkage[count]) for count in counts},
    )


def _with_spread_prior(calibration: Calibration, ratings: Array) -> Calibration:
    """The calibration with what these pools teach about the sigmas of a pool.

    The share of different pools is found by expectation maximisation over the pools' evidence,
    beside `PRIOR_POOLS` pools with the default share.
    """
    (mean_variance, link), (_, spread_variance) = calibration.candidates
    own_spread = math.sqrt(max(spread_variance - link**2 / mean_variance, 0.0))
    calibration = replace(
        calibration,
        spread_alike=float(np.clip(own_spread, 0.1, 0.6)),
        sigma_df_factor=float(np.clip(0.5 / max(calibration.noise[2], 1e-9), 0.25, 1.0)),
    )
    evidence = spread_posterior(summarize(ratings), calibration.spread_prior).evidence
    alike = evidence[:, 0]
    different = evidence[:, 1]
    share = DEFAULT_PRIOR.share_different
    for _ in range(SHARE_ROUNDS):
        total = share * different + (1 - share) * alike
        probability = share * different / np.maximum(total, 1e-300)
        expected = probability.sum() + PRIOR_POOLS * DEFAULT_PRIOR.share_different
        share = float(expected / (len(evidence) + PRIOR_POOLS))
    return replace(calibration, share_different=share)


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


def _learn_components(features: Features, raters: Ids | None, systems: Ids | None) -> Calibration:
    """Everything of a calibration that the weights of disagreement follow from."""
    within, within_df = components.within_variance(features)
    noise, noise_df = components.noise_per_rating(features, within)
    calibration = Calibration(within, within_df, noise, noise_df)
    mean = features.mean
    if raters is not None and raters.names:
        calibration, mean = _with_raters(calibration, features, raters)
    # Candidates with a disagreement, or all where there are hardly any.
    used = features.count >= 2
    if used.sum() <= 2:
        used = features.count > 0
    cells = np.stack([mean[used], features.disagreement[used]], axis=1)
    residuals = _fit_residuals(cells, used, systems)
    cell_noise = components.noise_matrix(noise, calibration.shared, features.count[used])
    parts = components.components(
        residuals.left / np.sqrt(within), residuals.df, cell_noise.mean(axis=0)
    )
    if systems is not None and (residuals.cells > 0).sum() >= FEWEST_SYSTEMS:
        variance = parts.observed * within
        inflated = 1.0
        if raters is not None and raters.names:
            inflated = _inflation(features.ratings, raters, systems, residuals, variance[0, 0])
        if inflated > PANEL:
            return replace(_learn_components(features, raters, None), inflation=inflated)
        effects, errors = components.shrunken(
            residuals.effects, residuals.cells, inflated * variance
        )
        calibration = replace(
            calibration,
            inflation=inflated,
            systems=_by_name(systems.names, map(tuple, effects.tolist())),
            system_errors=_by_name(systems.names, errors[:, 0].tolist()),
        )
    (mean_variance, link), (_, spread_variance) = parts.candidates.tolist()
    return replace(
        calibration,
        candidates=((mean_variance, link), (link, spread_variance)),
        candidates_df=residuals.df,
        reliability=parts.reliability,
    )


def _fit_residuals(cells: Array, used: Mask, systems: Ids | None) -> components.Residuals:
    """What is left of cells (N, 2), the used candidates (P, K), without prompts and systems."""
    prompt = np.nonzero(used)[0]
    system = np.full(len(prompt), UNKNOWN)
    n_systems = 0
    if systems is not None:
        system = systems.codes[used]
        n_systems = len(systems.names)
    return components.residuals(cells, prompt, system, len(used), n_systems)


def _with_raters(
    calibration: Calibration, features: Features, raters: Ids
) -> tuple[Calibration, Array]:
    """The calibration with the raters' severity and shared noise; the means without severity."""
    prompts, candidates = features.count.shape
    cell_of_candidate = np.arange(prompts * candidates).reshape(prompts, candidates, 1)
    cell = np.broadcast_to(cell_of_candidate, features.known.shape)[features.known]
    ratings = features.ratings[features.known]
    rater = raters.codes[features.known]
    estimate = severity(ratings, cell, rater, len(raters.names))
    calibration = replace(
        calibration,
        shared=shared_noise(ratings, cell, cell // candidates, rater),
        raters=_by_name(raters.names, estimate.offset.tolist()),
        rater_errors=_by_name(raters.names, estimate.error.tolist()),
    )
    # The last offset is that of an unknown rater.
    offsets = np.append(estimate.offset, 0.0)[raters.codes]
    return calibration, Features(features.ratings - offsets).mean


def _inflation(
    ratings: Array,
    raters: Ids,
    systems: Ids,
    residuals: components.Residuals,
    cell_variance: float,
) -> float:
    """How much noisier systems' means are than their cells say, as the same raters gave them."""
    has_ids = (systems.codes >= 0)[..., None] & (raters.codes >= 0) & ~np.isnan(ratings)
    system = np.broadcast_to(systems.codes[..., None], ratings.shape)
    level = residuals.level[:, None, None] + residuals.effects[systems.codes, :1]
    cells = np.where(residuals.cells > 0, residuals.cells, np.nan)
    return inflation(
        (ratings - level)[has_ids],
        raters.codes[has_ids],
        system[has_ids],
        len(systems.names),
        cell_variance / cells,
    )


def cross_check(features: Features, weight: Array) -> float:
    """Test on other raters what choosing by mean - weight disagreement gains over the mean.

    Half of a candidate's raters select and the other half judges by mean - 2 sigma, for `SPLITS`
    seeded halvings.

    Args:
        features: What the ratings say about each candidate.
        weight: The weight of disagreement, (P, K).

    Returns:
        The gain as a z over prompts; 0 with too few prompts or ratings.
    """
    ratings = features.ratings
    count = features.count
    if len(ratings) < FEWEST_PROMPTS or np.median(count[count > 0]) < FEWEST_RATINGS:
        return 0.0
    generator = np.random.default_rng(0)
    rows = np.arange(len(ratings))
    enough = count >= FEWEST_RATINGS
    half = (count // 2)[..., None]
    place = np.arange(ratings.shape[2])
    gains = []
    for _ in range(SPLITS):
        # Missing ratings come last.
        order_key = np.where(features.known, generator.random(ratings.shape), 2.0)
        shuffled = np.take_along_axis(ratings, np.argsort(order_key, axis=-1), axis=-1)
        selecting = Features(np.where(place < half, shuffled, np.nan))
        judging = Features(np.where(place >= half, shuffled, np.nan))
        calm = selecting.mean - weight * selecting.sigma / c4(count // 2)
        by_mean = np.where(enough, selecting.mean, -np.inf).argmax(axis=1)
        by_calm = np.where(enough, calm, -np.inf).argmax(axis=1)
        worth = judging.mean - 2 * judging.sigma
        gain = worth[rows, by_calm] - worth[rows, by_mean]
        gains.append(np.where(enough.any(axis=1), gain, np.nan))
    gain = np.mean(gains, axis=0)
    gain = gain[~np.isnan(gain)]
    if len(gain) < FEWEST_PROMPTS or not gain.std() > 0:
        return 0.0
    return float(gain.mean() / (gain.std() / np.sqrt(len(gain))))


def _by_name(names: Sequence[str], values: Iterable[Any]) -> dict[str, Any]:
    return dict(zip(names, values, strict=True))
