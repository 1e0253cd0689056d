"""Which ratings the next wave of an adaptive study asks for, and whom.

Functions of numbers: prompts, candidates and annotators are counted from 0.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from darc.decide.evidence.asking import WaveLimits, next_wave, rating_value
from darc.decide.evidence.posterior import (
    Certainty,
    Posterior,
    RatingNoise,
    certainty,
    estimate_noise,
    posterior,
)
from darc.decide.ids import UNKNOWN, Ids
from darc.decide.model.learning import learn
from darc.typing import Array, Integers, Mask

#: The share of the prompts whose candidates are rated twice in the pilot.
TWICE_SHARE = 0.1
#: The share of the planned ratings that one wave asks for.
WAVE_SHARE = 0.1
#: An answer that is better by less than this many standard deviations is not clearly better.
TOLERANCE = 0.25
#: A rating that is worth less is worth nothing, whatever its price.
LEAST_VALUE = 1e-12

# Streams of random numbers; plan.py has those up to 6.
_PILOT_STREAM = 7
_RATERS_STREAM = 8
# Below every mean of a candidate.
_NO_CANDIDATE = -1e12


@dataclass(frozen=True, eq=False)
class StudyRatings:
    """The valid ratings of a study."""

    #: (P, K, n), in the order in which they were given, NaN where there is none.
    ratings: Array
    #: The annotator who gave each one, (P, K, n), `UNKNOWN` where there is none.
    raters: Integers
    #: Where there is a candidate, (P, K).
    is_candidate: Mask
    #: How many ratings of each candidate belong to the pilot, (P,).
    pilot: Integers
    #: What judges predict of each candidate as a deviation from its prompt, (P, K).
    predicted: Array


@dataclass(frozen=True, eq=False)
class Belief:
    """What the ratings of a study say."""

    #: From the pilot alone.
    noise: RatingNoise
    posterior: Posterior

    @property
    def deviation(self) -> float:
        """The standard deviation of the ratings of one answer."""
        return math.sqrt(self.noise.rating)

    @property
    def choice(self) -> Integers:
        """The candidate of each prompt that is best so far, (P,)."""
        return np.asarray(self.posterior.mean.argmax(axis=1))

    def value(self, room: Integers | None = None) -> Array:
        """What a further rating of each candidate improves its choice by, in deviations, (P, K)."""
        value = rating_value(self.posterior, self.noise.rating, room)
        return value / max(self.deviation, 1e-300)

    def certainty(self) -> Certainty:
        """How sure it is that no other candidate is clearly better; regrets in deviations."""
        tolerance = TOLERANCE * self.deviation
        sure = certainty(self.posterior, self.choice, tolerance)
        return Certainty(sure.probability, sure.regret / max(self.deviation, 1e-300))


@dataclass(frozen=True)
class WaveRequest:
    """One rating to ask for."""

    prompt: int
    candidate: int
    #: Who is to give it; None for whoever comes next.
    rater: int | None


@dataclass(frozen=True)
class Crowd:
    """Who may still rate what."""

    #: The annotators who may rate, by the order of their prompt.
    order: Sequence[Sequence[int]]
    #: Who has had each (prompt, candidate) before.
    seen: Mapping[tuple[int, int], Collection[int]]
    #: How many further people may come.
    newcomers: int = 0

    def raters_left(self, prompt: int, candidate: int) -> list[int]:
        """Who may rate a candidate, the next one first."""
        seen = self.seen.get((prompt, candidate), ())
        return [rater for rater in self.order[prompt] if rater not in seen]

    def room(self, is_candidate: Mask) -> Integers:
        """How many more ratings each candidate can get, (P, K)."""
        room = np.zeros(is_candidate.shape, dtype=np.int64)
        for prompt, candidate in np.argwhere(is_candidate).tolist():
            left = len(self.raters_left(prompt, candidate))
            room[prompt, candidate] = left + self.newcomers
        return room


def pilot_counts(prompts: int, seed: int) -> Integers:
    """How many ratings of each candidate the pilot asks for, (P,): 2 for a random tenth, else 1."""
    counts = np.ones(prompts, dtype=np.int64)
    twice = math.ceil(TWICE_SHARE * prompts)
    random = np.random.default_rng([seed, _PILOT_STREAM])
    counts[random.permutation(prompts)[:twice]] = 2
    return counts


@lru_cache(maxsize=20_000)
def rater_order(seed: int, prompt: int, annotators: int) -> tuple[int, ...]:
    """All annotators in the random order of a prompt.

    It depends on the numbers of prompt and annotators alone. Whoever joins later is put somewhere
    between the others, whose order remains.
    """
    random = np.random.default_rng([seed, _RATERS_STREAM, prompt])
    order = np.argsort(random.random(annotators), kind="stable")
    return tuple(int(number) for number in order)


def believe(data: StudyRatings) -> Belief:
    """What the ratings say of the candidates.

    The noise of a rating and the variance of candidates are from the pilot alone, because the
    ratings of waves were chosen by looking at those before.

    Args:
        data: The valid ratings.
    """
    ratings = _without_severity(data)
    in_pilot = np.arange(ratings.shape[2]) < data.pilot[:, None, None]
    pilot = np.where(in_pilot, ratings, np.nan)
    noise = estimate_noise(pilot, data.predicted, first_wave=1)
    everything = posterior(ratings, noise, data.predicted)
    return Belief(
        noise=noise,
        posterior=Posterior(
            mean=np.where(data.is_candidate, everything.mean, _NO_CANDIDATE),
            variance=np.where(data.is_candidate, everything.variance, 0.0),
        ),
    )


def plan_wave(
    belief: Belief, crowd: Crowd, is_candidate: Mask, size: int, budget: int, price: float
) -> list[WaveRequest]:
    """Choose the ratings of a wave: those worth most, over all prompts together.

    A wave asks for at most one rating of a candidate. A candidate that would be the only one of its
    prompt for its rater gets another one beside it, so that it does not stand out.

    Args:
        belief: What the ratings so far say.
        crowd: Who may still rate what.
        is_candidate: Where there is a candidate, (P, K).
        size: How many ratings to ask for, without those beside lone candidates.
        budget: How many ratings to ask for at most, with them.
        price: What a rating must improve a choice by, in standard deviations of one rating.

    Returns:
        The ratings to ask for, by prompt; none if no rating is worth its price.
    """
    room = crowd.room(is_candidate)
    value = belief.value(room)
    limits = WaveLimits(size, room, price=max(price, LEAST_VALUE))
    pairs = next_wave(belief.posterior, belief.noise.rating, limits)
    worthwhile = [(prompt, candidate) for prompt, candidate in pairs.tolist()]
    requests: list[WaveRequest] = []
    count = min(len(worthwhile), budget)
    while count > 0:
        requests = _with_raters(worthwhile[:count], value, crowd)
        if len(requests) <= budget:
            return requests
        # A pair takes two ratings at most.
        count -= max(1, (len(requests) - budget) // 2)
    return []


def _with_raters(pairs: Sequence[tuple[int, int]], value: Array, crowd: Crowd) -> list[WaveRequest]:
    """The ratings of some pairs, each with its next rater, and those beside lone candidates."""
    chosen: dict[int, dict[int, int | None]] = {}
    for prompt, candidate in pairs:
        left = crowd.raters_left(prompt, candidate)
        chosen.setdefault(prompt, {})[candidate] = left[0] if left else None
    for prompt, raters in chosen.items():
        for candidate in list(raters):
            rater = raters[candidate]
            if list(raters.values()).count(rater) > 1:
                continue
            other = _best_companion(prompt, rater, raters, value[prompt], crowd)
            if other is not None:
                raters[other] = rater
    return [
        WaveRequest(prompt, candidate, raters[candidate])
        for prompt, raters in sorted(chosen.items())
        for candidate in sorted(raters)
    ]


def _best_companion(
    prompt: int, rater: int | None, taken: Collection[int], value: Array, crowd: Crowd
) -> int | None:
    """The candidate most worth rating of those that the rater has not had, None if there is none.

    Candidates without room are worth nothing, and so are places without a candidate.
    """
    for candidate in np.argsort(-value, kind="stable").tolist():
        if candidate in taken or value[candidate] < LEAST_VALUE:
            continue
        if rater is None or rater in crowd.raters_left(prompt, candidate):
            return int(candidate)
    return None


def _without_severity(data: StudyRatings) -> Array:
    """The ratings without what is known of how severe their raters are."""
    known = data.raters[data.raters != UNKNOWN]
    if len(data.ratings) < 2 or not known.size:
        return data.ratings
    names = tuple(str(number) for number in range(int(known.max()) + 1))
    raters = Ids(data.raters, names)
    learnt = learn(data.ratings - data.predicted[..., None], raters)
    return np.asarray(data.ratings - raters.numbers(learnt.raters, 0.0))
