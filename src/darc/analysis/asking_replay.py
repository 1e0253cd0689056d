"""Replays of asking for ratings one after the other, on ratings that are all known."""

import math
from dataclasses import dataclass

import numpy as np

from darc.decide.evidence.adaptive import AdaptiveAsking, AskingModel
from darc.decide.evidence.asking import WaveLimits, next_wave
from darc.decide.evidence.posterior import Posterior, RatingNoise, estimate_noise, posterior
from darc.decide.ids import UNKNOWN, Ids
from darc.decide.model.learning import learn
from darc.errors import InputError
from darc.ratings.ratings import Ratings
from darc.ratings.simulated import Population
from darc.typing import Array, Integers, Mask

# The share of prompts whose answers are rated twice at first, so that the noise is known.
TWICE_SHARE = 0.1
# A wave over all prompts asks for this share of the budget.
WAVE_SHARE = 0.1
# The raters who may be asked, as a share of a prompt's raters; the others judge.
CHOOSING_SHARE = 5 / 8
# Fewer prompts, or ratings that may be asked for, show nothing.
FEWEST_PROMPTS = 4
FEWEST_RATINGS = 2
# Where a place holds no candidate.
ABSENT = -1e12
# With how many ratings of each answer other prompts teach what a prompt is asked by.
TAUGHT_BY = 2


@dataclass(frozen=True, eq=False)
class ReplayPools:
    """Ratings that may be asked for, and what judges the choices, of P prompts."""

    #: The ratings (P, K, n) that may be asked for, in the prompt's order of raters; NaN after the
    #: last one.
    ratings: Array
    #: Who gives each of them, (P, K, n).
    raters: Ids
    #: What each candidate is worth by those who do not choose, (P, K), as a deviation from its
    #: prompt's average; NaN where there is no candidate.
    worth: Array

    @property
    def is_candidate(self) -> Mask:
        """Where there is a candidate, (P, K)."""
        return np.asarray(np.isfinite(self.worth))

    @property
    def most(self) -> int:
        """How many ratings every candidate can get."""
        counts = np.isfinite(self.ratings).sum(axis=2)
        return int(counts[self.is_candidate].min())

    def gain(self, choice: Integers) -> Array:
        """What the choices are worth over the average answer, (P,)."""
        return np.asarray(self.worth[np.arange(len(choice)), choice])


@dataclass(frozen=True, eq=False)
class Replayed:
    """What asking came to."""

    #: The choices, (P,).
    choice: Integers
    #: How many ratings each prompt took, (P,).
    asked: Integers


def split_raters(ratings: Ratings, seed: int) -> ReplayPools:
    """Put each prompt's raters in a random order; the first five eighths choose, the others judge.

    Args:
        ratings: People's ratings, of one scorer.
        seed: The seed of the order.

    Raises:
        InputError: If there are too few ratings of each answer to replay anything.
    """
    if not ratings.has_raters or ratings.shape[1] != 1:
        raise InputError(
            f"{ratings.name} does not have one rating per person",
            "give a file of people's ratings without a column scorer_id",
        )
    generator = np.random.default_rng(seed)
    prompts, _, candidates, _ = ratings.shape
    severity = _severities(ratings)
    columns = []
    codes = []
    worth = np.full((prompts, candidates), np.nan)
    for prompt in range(prompts):
        matrix, names = _rating_matrix(ratings, prompt)
        order = generator.permutation(len(names))
        choosing = math.ceil(CHOOSING_SHARE * len(names))
        chosen = order[:choosing]
        packed, who = _pack(matrix[:, chosen], names[chosen])
        columns.append(packed)
        codes.append(who)
        judged = matrix[:, order[choosing:]]
        is_judged = np.isfinite(judged).any(axis=1) & np.isfinite(packed).any(axis=1)
        means = np.full(candidates, np.nan)
        fair = judged - severity[names[order[choosing:]]]
        means[is_judged] = np.nanmean(fair[is_judged], axis=1)
        if is_judged.sum() > 1:
            worth[prompt] = means - np.nanmean(means)
    depth = max(column.shape[1] for column in columns)
    values = np.full((prompts, candidates, depth), np.nan)
    all_codes = np.full((prompts, candidates, depth), UNKNOWN, dtype=np.int64)
    for prompt in range(prompts):
        size = columns[prompt].shape[1]
        values[prompt, :, :size] = columns[prompt]
        all_codes[prompt, :, :size] = codes[prompt]
    values[~np.isfinite(worth)] = np.nan
    kept = np.isfinite(worth).any(axis=1)
    ids = Ids(all_codes[kept], tuple(ratings.rater_names))
    pools = ReplayPools(values[kept], ids, worth[kept])
    if kept.sum() < FEWEST_PROMPTS or pools.most < FEWEST_RATINGS:
        raise InputError(
            f"{ratings.name} has too few ratings of each answer to replay",
            f"{FEWEST_PROMPTS} prompts or more need 4 ratings of each answer: some are asked for, "
            "and the others judge",
        )
    return pools


def simulated_pools(people: Population) -> ReplayPools:
    """The ratings of simulated people; the truth judges."""
    ratings = people.ratings
    truth = people.truth.mean
    if not people.recipe.crowd:
        raters = Ids(np.full(ratings.shape, UNKNOWN), ())
    else:
        names = tuple(f"rater {number}" for number in range(people.recipe.crowd))
        raters = Ids(np.broadcast_to(people.rater[:, None], ratings.shape), names)
    return ReplayPools(ratings, raters, truth - truth.mean(axis=1, keepdims=True))


def ask_alike(pools: ReplayPools, count: int) -> Replayed:
    """Ask for the same number of ratings of every candidate; the highest mean is chosen."""
    seen = pools.ratings[:, :, :count]
    given = np.isfinite(seen)
    mean = np.where(given, seen, 0.0).sum(axis=2) / np.maximum(given.sum(axis=2), 1)
    choice = np.where(pools.is_candidate, mean, -np.inf).argmax(axis=1)
    return Replayed(choice, given.sum(axis=(1, 2)))


def ask_in_waves(pools: ReplayPools, budget: float, price: float, seed: int = 0) -> Replayed:
    """Ask for the ratings that are worth most over all prompts, as `darc next` does.

    Each candidate is rated once, those of a random tenth of the prompts twice; further waves are a
    tenth of the budget.

    Args:
        pools: What can be asked for.
        budget: How many ratings per candidate may be asked for.
        price: What one rating must improve the choice by, in standard deviations of one rating.
        seed: The seed of the prompts that are rated twice.
    """
    generator = np.random.default_rng(seed)
    is_candidate = pools.is_candidate
    depth = np.isfinite(pools.ratings).sum(axis=2)
    total = round(budget * int(is_candidate.sum()))
    twice = generator.permutation(len(depth))[: math.ceil(TWICE_SHARE * len(depth))]
    count = np.minimum(depth, 1)
    count[twice] = np.minimum(depth[twice], 2)
    wave_size = math.ceil(WAVE_SHARE * total)
    while True:
        seen = _without_severity(pools, count)
        noise = estimate_noise(seen, first_wave=1)
        belief = _among(posterior(seen, noise), is_candidate)
        left = total - int(count.sum())
        room = np.where(is_candidate, depth - count, 0)
        size = min(wave_size, left)
        if size <= 0:
            break
        wave = next_wave(belief, noise.rating, WaveLimits(size, room, price=price))
        if not len(wave):
            break
        count[wave[:, 0], wave[:, 1]] += 1
    return Replayed(belief.mean.argmax(axis=1), count.sum(axis=1))


def ask_one_by_one(pools: ReplayPools, price: float) -> Replayed:
    """Ask one prompt at a time, with what other prompts teach, as an adaptive panel does.

    Half of the prompts, with two ratings of every candidate, teach the noise and the severity for
    the other half.
    """
    choice = np.zeros(len(pools.worth), dtype=np.int64)
    asked = np.zeros(len(pools.worth), dtype=np.int64)
    halves = np.arange(len(choice)) % 2
    for half in (0, 1):
        noise, severity = _teach(pools, np.flatnonzero(halves != half))
        for prompt in np.flatnonzero(halves == half).tolist():
            model = AskingModel(noise, np.zeros(pools.ratings.shape[2]), price)
            places = np.flatnonzero(pools.is_candidate[prompt])
            values = pools.ratings[prompt] - severity[prompt]
            asking = AdaptiveAsking(len(places), range(pools.ratings.shape[2]), model)
            seen = np.full((len(places), values.shape[1]), np.nan)
            while pairs := asking.ask():
                for k, i in pairs:
                    seen[k, i] = values[places[k], i]
                asking.tell(seen)
            choice[prompt] = places[asking.belief.mean[0].argmax()]
            asked[prompt] = np.isfinite(asking.ratings).sum()
    return Replayed(choice, asked)


def _teach(pools: ReplayPools, prompts: Integers) -> tuple[RatingNoise, Array]:
    """The noise and the severities that some prompts teach."""
    ratings = pools.ratings[prompts][:, :, :TAUGHT_BY]
    raters = Ids(pools.raters.codes[prompts][:, :, :TAUGHT_BY], pools.raters.names)
    learnt = learn(ratings, raters)
    rating = learnt.within * learnt.shared
    candidates = learnt.within * learnt.candidates[0][0]
    severity = pools.raters.numbers(learnt.raters, 0.0)
    return RatingNoise(float(rating), float(candidates)), severity


def _without_severity(pools: ReplayPools, count: Integers) -> Array:
    """The ratings that were asked for so far, without their raters' severity."""
    is_seen = np.arange(pools.ratings.shape[2]) < count[..., None]
    seen = np.where(is_seen, pools.ratings, np.nan)
    if not pools.raters.names:
        return seen
    raters = Ids(np.where(is_seen, pools.raters.codes, UNKNOWN), pools.raters.names)
    learnt = learn(seen, raters)
    return np.asarray(seen - raters.numbers(learnt.raters, 0.0))


def _among(belief: Posterior, is_candidate: Mask) -> Posterior:
    mean = np.where(is_candidate, belief.mean, ABSENT)
    return Posterior(mean, np.where(is_candidate, belief.variance, 0.0))


def _severities(ratings: Ratings) -> Array:
    """How far above the others each rater rates, by all ratings, (raters,)."""
    learnt = learn(ratings.samples[:, 0], Ids(ratings.raters[:, 0], tuple(ratings.rater_names)))
    return np.array([learnt.raters.get(name, 0.0) for name in ratings.rater_names])


def _rating_matrix(ratings: Ratings, prompt: int) -> tuple[Array, Integers]:
    """The ratings (K, raters) of a prompt, and who the raters are."""
    codes = ratings.raters[prompt, 0]
    values = ratings.samples[prompt, 0]
    given = np.isfinite(values)
    names = np.unique(codes[given])
    matrix = np.full((len(codes), len(names)), np.nan)
    rows, places = np.nonzero(given)
    matrix[rows, np.searchsorted(names, codes[rows, places])] = values[rows, places]
    return matrix, names


def _pack(matrix: Array, names: Integers) -> tuple[Array, Integers]:
    """The ratings of each candidate in their order without gaps, and who gave them."""
    order = np.argsort(np.isnan(matrix), axis=1, kind="stable")
    packed = np.take_along_axis(matrix, order, axis=1)
    who = np.where(np.isnan(packed), UNKNOWN, names[order])
    return packed, who
