"""The ratings by one scorer, one row per candidate."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from darc.decide.statistics import risk
from darc.decide.statistics.draws import candidate_lots
from darc.errors import InputError
from darc.ratings.ratings import Ratings
from darc.ratings.splitting import NOBODY
from darc.typing import Array, Integers, Mask


@dataclass(frozen=True, eq=False)
class CandidateRatings:
    """I candidates of P prompts with up to n ratings each, all by one scorer."""

    #: The ratings (I, n), NaN where there is none.
    values: Array
    #: Who gave each rating (I, n), as a place in `rater_names`; `NOBODY` where there is none.
    raters: Integers
    #: The prompt of each candidate (I,), as a place in `prompt_names`, rising.
    prompts: Integers
    prompt_names: Sequence[str]
    #: The names of the candidates (I,).
    candidate_names: Sequence[str]
    rater_names: Sequence[str]
    #: Whether every rating has a rater, and the same name always means the same rater. Otherwise
    #: nothing can be said about raters.
    named: bool
    #: "rater" for people, "panel" for judges that are asked like people, or "rewrite".
    kind: str = "rater"
    scorer: str = ""
    #: The group of a rater, by name.
    groups: Mapping[str, str] = field(default_factory=dict)
    #: The seed of the lots that order candidates which tie, since a file's order may be that of
    #: systems.
    seed: int = 0
    #: The systems that wrote the candidates (I,), empty if they have no names of their own.
    systems: Sequence[str] = ()
    #: The variance of what is noise in a value, as repeats by the same rater show it; NaN where
    #: there are none.
    noise_variance: float = math.nan
    #: What a user should know before these ratings are counted, one sentence each.
    notes: Sequence[str] = ()

    @property
    def present(self) -> Mask:
        """Where there is a rating, (I, n)."""
        return ~np.isnan(self.values)

    @property
    def counts(self) -> Integers:
        """The number of ratings of each candidate, (I,)."""
        return self.present.sum(axis=1)

    @cached_property
    def lots(self) -> NDArray[np.uint64]:
        """A random number for each candidate, (I,), that depends on its ids and the seed only."""
        prompts = (self.prompt_names[prompt] for prompt in self.prompts.tolist())
        return candidate_lots(self.seed, prompts, self.candidate_names)

    def flat(self) -> tuple[Integers, Integers, Array]:
        """The candidate, the rater and the value of every rating, each (N,)."""
        candidate, place = np.nonzero(self.present)
        return candidate, self.raters[candidate, place], self.values[candidate, place]

    def means(self) -> Array:
        """The mean rating of each candidate, (I,)."""
        return np.nansum(self.values, axis=1) / self.counts

    def sigmas(self) -> Array:
        """The standard deviation (ddof = 1) of each candidate, (I,), NaN with one rating."""
        return risk.sigma(self.values)


def candidate_ratings(ratings: Ratings, scorer: int = 0, seed: int = 0) -> CandidateRatings:
    """Take the ratings by one scorer; prompts and candidates without a rating are left out.

    Args:
        ratings: The ratings of all scorers.
        scorer: The place of the scorer.
        seed: The seed of the lots that order candidates which tie.

    Returns:
        The ratings, one row per candidate.

    Raises:
        InputError: If the scorer has no ratings.
    """
    samples = ratings.samples[:, scorer]
    rated = ~np.isnan(samples).all(axis=2)
    if not rated.any():
        raise InputError(f"{ratings.name} holds no ratings", "give at least one rating")
    prompt, candidate = np.nonzero(rated)
    rated_prompts, prompts = np.unique(prompt, return_inverse=True)
    values = samples[prompt, candidate]
    raters, used_raters = _known_raters(
        ratings, values, ratings.raters[:, scorer][prompt, candidate]
    )
    unknown_rater = ~np.isnan(values) & (raters == NOBODY)
    places = list(zip(prompt.tolist(), candidate.tolist(), strict=True))
    systems: Sequence[str] = ()
    if ratings.systems:
        systems = [ratings.systems[p][k] for p, k in places]
    return CandidateRatings(
        values=values,
        raters=raters,
        prompts=prompts,
        prompt_names=[ratings.prompt_ids[p] for p in rated_prompts.tolist()],
        candidate_names=[ratings.candidate_ids[p][k] for p, k in places],
        rater_names=[ratings.rater_names[rater] for rater in used_raters.tolist()],
        named=ratings.has_raters and not unknown_rater.any(),
        kind=ratings.kind,
        scorer=ratings.scorers[scorer] if ratings.scorers else "",
        groups=ratings.groups,
        seed=seed,
        systems=systems,
        noise_variance=_noise_variance(ratings, scorer),
        notes=ratings.notes,
    )


def _noise_variance(ratings: Ratings, scorer: int) -> float:
    """The variance of the noise in a rating, NaN without repeats by the same rater."""
    if ratings.repeats is None:
        return math.nan
    return ratings.repeats.mean_noise_variance[scorer]


def _known_raters(ratings: Ratings, values: Array, raters: Integers) -> tuple[Integers, Integers]:
    """Each rating's rater (I, n) among those who gave any, and who they are (raters,).

    A rater without a name counts as `NOBODY`.
    """
    nameless = [place for place, name in enumerate(ratings.rater_names) if not name]
    unknown = np.isnan(values) | np.isin(raters, nameless)
    known_raters = np.where(unknown, NOBODY, raters)
    used = np.unique(known_raters[known_raters != NOBODY])
    place = np.where(known_raters == NOBODY, NOBODY, np.searchsorted(used, known_raters))
    return place, used
