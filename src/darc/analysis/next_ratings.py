"""Which pairs of prompt and candidate people should rate next, and who should rate them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.decide.evidence.asking import (
    DEFAULT_PRICE,
    WaveLimits,
    is_finished,
    next_wave,
    rating_value,
)
from darc.decide.evidence.posterior import (
    Certainty,
    Posterior,
    certainty,
    estimate_noise,
    posterior,
)
from darc.decide.ids import Ids
from darc.decide.model.learning import learn
from darc.decide.statistics.draws import prompt_seeds, uniforms
from darc.errors import InputError
from darc.ratings.ratings import Ratings
from darc.typing import Array, Integers, Mask

# An answer that is better by less than this many standard deviations is not clearly better.
TOLERANCE = 0.25
# With fewer ratings of every answer nothing is known of how far ratings vary.
TWO = 2


@dataclass(frozen=True)
class AskSettings:
    """How much may be asked for, and what a rating must be worth."""

    #: How many ratings to ask for at most.
    budget: int
    #: What one rating must improve the decision by, in standard deviations of one rating.
    price: float = DEFAULT_PRICE
    #: The seed of the order of raters.
    seed: int = 0
    #: Whether people who are not known may be asked, where all who are known have rated an answer.
    new_raters: bool = False


@dataclass(frozen=True)
class RatingRequest:
    """One rating to ask for."""

    prompt_id: str
    candidate_id: str
    #: Who should give it; empty for anybody who has not rated the answer yet.
    rater_id: str
    #: What it is expected to improve the decision by, in standard deviations of one rating.
    value: float


@dataclass(frozen=True, eq=False)
class NextRatings:
    """The ratings to ask for next, and how sure the choices are without them."""

    requests: Sequence[RatingRequest]
    prompt_ids: Sequence[str]
    #: The candidate that is best so far, by prompt.
    choice_ids: Sequence[str]
    #: How sure the choice of each prompt is.
    certainty: Certainty
    #: The prompts of which no further rating is worth its price, whoever gives it, (P,).
    finished: Mask
    #: The prompts that are not finished, but everybody who is known has rated the answers of which
    #: another rating is worth its price, (P,).
    lacks_raters: Mask
    #: Whether no answer has two ratings, so that how far ratings vary is a guess.
    noise_is_guessed: bool


def next_ratings(ratings: Ratings, settings: AskSettings) -> NextRatings:
    """Find the ratings that are worth most for choosing well.

    Every candidate's true mean is estimated with its uncertainty, and the pairs are taken whose
    next rating improves the choices most, over all prompts together. Each prompt has one random
    order of raters, and a candidate's next rating comes from the first of them who has not rated
    it, so that candidates that compete are rated by the same people.

    Args:
        ratings: People's ratings so far, of one scorer.
        settings: How much may be asked for, and what a rating must be worth.

    Returns:
        The ratings to ask for, the most valuable first; none where the choices are sure enough.

    Raises:
        InputError: If the ratings are not by people, or have several scorers.
    """
    if not ratings.has_raters or ratings.shape[1] != 1:
        raise InputError(
            f"{ratings.name} does not have one rating per person",
            "give a file of people's ratings without a column scorer_id",
        )
    samples = _without_severity(ratings)
    is_candidate = _candidate_mask(ratings)
    noise = estimate_noise(samples)
    belief = _among(posterior(samples, noise), is_candidate)
    room = None
    if not settings.new_raters:
        room = _raters_left(ratings)
    if room is not None:
        room = np.where(is_candidate, room, 0)
    finished = is_finished(belief, noise.rating, price=settings.price)
    has_nobody = is_finished(belief, noise.rating, room, settings.price) & ~finished
    if room is not None:
        # A price of 0 finishes nothing, and still nobody may be left.
        has_nobody |= ~finished & ~room.any(axis=1)
    deviation = float(np.sqrt(noise.rating))
    value = rating_value(belief, noise.rating, room) / max(deviation, 1e-300)
    open_belief = Posterior(
        belief.mean, np.where(finished[:, None] | ~is_candidate, 0.0, belief.variance)
    )
    wave = next_wave(
        open_belief, noise.rating, WaveLimits(settings.budget, room, price=settings.price)
    )
    choice = np.where(is_candidate, belief.mean, -np.inf).argmax(axis=1)
    requests = _requests(ratings, wave, value, settings.seed)
    return NextRatings(
        requests=requests,
        prompt_ids=ratings.prompt_ids,
        choice_ids=[ids[index] for ids, index in zip(ratings.candidate_ids, choice, strict=True)],
        certainty=certainty(belief, choice, TOLERANCE * deviation),
        finished=finished,
        lacks_raters=has_nobody,
        noise_is_guessed=bool(np.isfinite(samples).sum(axis=-1).max(initial=0) < TWO),
    )


def _without_severity(ratings: Ratings) -> Array:
    """The ratings (P, K, n) without what is known of how severe their raters are."""
    samples = ratings.samples[:, 0]
    if len(samples) < 2 or not ratings.rater_names:
        return samples
    raters = Ids(ratings.raters[:, 0], tuple(ratings.rater_names))
    learnt = learn(samples, raters)
    if not learnt.raters:
        return samples
    return np.asarray(samples - raters.numbers(learnt.raters, 0.0))


def _candidate_mask(ratings: Ratings) -> Mask:
    """Where there is a candidate, (P, K)."""
    counts = np.array([len(ids) for ids in ratings.candidate_ids])
    return np.asarray(np.arange(ratings.shape[2]) < counts[:, None])


def _among(belief: Posterior, is_candidate: Mask) -> Posterior:
    """The belief with places that hold no candidate far below the others."""
    mean = np.where(is_candidate, belief.mean, -1e12)
    return Posterior(mean, np.where(is_candidate, belief.variance, 0.0))


def _are_known(ratings: Ratings) -> bool:
    """Whether the ids of raters stand for people; one that never comes back may be a row's."""
    return bool(ratings.rater_names) and ratings.raters_recur


def _raters_left(ratings: Ratings) -> Integers | None:
    """How many known raters have not rated each candidate, (P, K); None if nobody is known."""
    people = len(ratings.rater_names)
    if not _are_known(ratings):
        return None
    return np.asarray(people - (~np.isnan(ratings.samples[:, 0])).sum(axis=-1))


def _requests(ratings: Ratings, wave: Integers, value: Array, seed: int) -> list[RatingRequest]:
    """The ratings of a wave, each with the next rater in its prompt's order."""
    people = len(ratings.rater_names)
    are_known = _are_known(ratings)
    seeds = prompt_seeds(seed, ratings.prompt_ids)
    requests = []
    for prompt, candidate in wave.tolist():
        rater = ""
        if are_known:
            order = np.argsort(uniforms(seeds[prompt : prompt + 1], people)[0], kind="stable")
            is_rated = ~np.isnan(ratings.samples[prompt, 0, candidate])
            done = set(ratings.raters[prompt, 0, candidate][is_rated].tolist())
            left = [index for index in order.tolist() if index not in done]
            if left:
                rater = str(ratings.rater_names[left[0]])
        requests.append(
            RatingRequest(
                prompt_id=ratings.prompt_ids[prompt],
                candidate_id=ratings.candidate_ids[prompt][candidate],
                rater_id=rater,
                value=float(value[prompt, candidate]),
            )
        )
    return requests
