"""What groups of raters think of each candidate, from few ratings per group.

The mean of a group for a candidate is the prompt's level, plus what the candidate adds (variance
`candidates`), what the group adds anywhere (`effects`), and what the group adds to this candidate
(variance `groups`). With no such variance every group is served by the candidate's mean.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Lt

from darc.errors import InputError
from darc.typing import Array, Integers, Mask

Number = Annotated[float, Gt(-math.inf), Lt(math.inf)]
Amount = Annotated[float, Ge(0), Lt(math.inf)]

# How often candidates and groups are fitted in turn.
ROUNDS = 3
# The least variance of candidates where groups do not differ, as a share of a rating's.
LEAST_CANDIDATES = 0.02
# Below 0 means that one group dislikes what the other likes; so far below it may go.
LOWEST_CANDIDATES = -0.9
# The lowest group mean is averaged over so many draws.
DRAWS = 64
# Below this ratio the lowest group is one of noise, and the mean serves everybody.
LEAST_RATIO = 0.5
# From here on, and with so many ratings per group, choosing for the worst group has gained.
GAINING_RATIO = 1.0
GAINING_COUNT = 5
# With fewer degrees of freedom nothing is known of how groups differ on candidates.
FEWEST_DF = 10
TINY = 1e-12


@dataclass(frozen=True)
class GroupModel:
    """By how much groups of raters differ."""

    #: What each group adds to any candidate's mean, by its name.
    effects: Mapping[str, Number]
    #: The variance of what a group adds to one candidate beyond that.
    groups: Amount
    #: The variance of what a candidate adds to its prompt.
    candidates: Number
    #: The variance of one rating within a group.
    ratings: Amount
    #: The group of each rater, by the rater's name.
    members: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def ratio(self) -> float:
        """How far groups differ on a candidate, over how far candidates differ."""
        return self.groups / max(self.candidates, LEAST_CANDIDATES * self.ratings, TINY)

    def in_words(self) -> str:
        """The ratio in words."""
        if self.ratio < LEAST_RATIO:
            return (
                "groups hardly differ on single answers: what is best on average is best for each"
            )
        if self.ratio < GAINING_RATIO:
            return (
                "groups differ on answers somewhat less than answers differ: a choice for one "
                "group differs at times"
            )
        times = min(self.ratio, 99.0)
        return (
            f"groups differ on answers {times:.2g} times as much as answers differ: whom to choose "
            "for matters"
        )


@dataclass(frozen=True, eq=False)
class GroupPosterior:
    """What is believed of each group's mean for each candidate."""

    #: The names of the groups, (G,).
    names: tuple[str, ...]
    #: The expected means, (P, K, G).
    mean: Array
    #: Their covariances, (P, K, G, G).
    covariance: Array
    #: How many ratings of a candidate each group gave, (P, K, G).
    count: Integers

    def mixed(self, shares: Array) -> Array:
        """The expected mean of a population with these shares of the groups, (P, K)."""
        return np.asarray(self.mean @ (shares / shares.sum()))

    @property
    def takes_part(self) -> Mask:
        """Which groups rated any candidate of each prompt, (P, G)."""
        return np.asarray(np.any(self.count > 0, axis=1))

    def worst(self, draws: int = DRAWS, seed: int = 0) -> Array:
        """The expected mean of the lowest of the groups that take part, (P, K)."""
        absent = np.where(self.takes_part, 0.0, np.inf)[:, None]
        values, vectors = np.linalg.eigh(self.covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
        half = np.random.default_rng(seed).normal(size=(draws // 2, len(self.names)))
        total = np.zeros(self.mean.shape[:2])
        for draw in np.concatenate([half, -half]):
            total += (self.mean + root @ draw + absent).min(axis=-1)
        return total / draws

    def chance_below(self, limit: float) -> Array:
        """The probability that each group's mean is below a limit, (P, K, G)."""
        variance = np.einsum("pkgg->pkg", self.covariance)
        distance = (limit - self.mean) / np.sqrt(np.maximum(variance, TINY))
        return np.asarray(0.5 * (1 + np.vectorize(math.erf)(distance / math.sqrt(2))))


def group_means(ratings: Array, codes: Integers, groups: int) -> tuple[Array, Integers]:
    """The mean and the number of each group's ratings of each candidate, (P, K, G).

    Args:
        ratings: (P, K, n), NaN where there is none.
        codes: The group of each rating, (P, K, n), negative where it is not known.
        groups: The number of groups.
    """
    is_known = ~np.isnan(ratings) & (codes >= 0)
    member = (codes[..., None] == np.arange(groups)) & is_known[..., None]
    count = np.asarray(member.sum(axis=2), dtype=np.int64)
    total = np.where(member, ratings[..., None], 0.0).sum(axis=2)
    return total / np.maximum(count, 1), count


def learn_group_model(ratings: Array, codes: Integers, names: tuple[str, ...]) -> GroupModel | None:
    """Estimate by moments how far groups differ.

    Args:
        ratings: (P, K, n), NaN where there is none.
        codes: The group of each rating, (P, K, n), negative where it is not known.
        names: The names of the groups.

    Returns:
        The model, None where fewer than two groups rated, or too few candidates.
    """
    groups = len(names)
    mean, count = group_means(ratings, codes, groups)
    is_rated = count > 0
    df = int(is_rated.sum() - is_rated.any(axis=2).sum()) - (groups - 1)
    if groups < 2 or df < FEWEST_DF:
        return None
    is_known = ~np.isnan(ratings) & (codes >= 0)
    expected = np.take_along_axis(mean, np.maximum(codes, 0), axis=2)
    squares = np.where(is_known, (ratings - expected) ** 2, 0.0).sum()
    noise = float(squares / max(int(np.maximum(count - 1, 0).sum()), 1))
    effects, candidate = _fit(mean, is_rated)
    deviation = np.where(is_rated, mean - candidate[..., None] - effects, 0.0)
    mean_noise = noise * float((1 / np.maximum(count, 1))[is_rated].mean())
    between = max(0.0, float((deviation**2).sum()) / df - mean_noise)
    return GroupModel(
        effects=dict(zip(names, effects.tolist(), strict=True)),
        groups=between,
        candidates=_candidate_variance(candidate, is_rated, mean_noise, between, noise),
        ratings=noise,
    )


def group_posterior(
    ratings: Array, codes: Integers, names: tuple[str, ...], model: GroupModel
) -> GroupPosterior:
    """What is believed of each group's mean for each candidate.

    Args:
        ratings: (P, K, n), NaN where there is none.
        codes: The group of each rating, (P, K, n), negative where it is not known.
        names: The names of the groups; one that the model does not know has no effect.
        model: How far groups differ.
    """
    groups = len(names)
    mean, count = group_means(ratings, codes, groups)
    effects = np.array([model.effects.get(name, 0.0) for name in names])
    is_rated = count > 0
    unknown = 1e9 * (model.ratings + TINY)
    noise = np.where(is_rated, model.ratings / np.maximum(count, 1), unknown)
    above = mean - effects
    variance = model.candidates + model.groups + noise
    weight = np.where(is_rated, 1 / np.maximum(variance, TINY), 0.0)
    total = np.maximum(weight.sum(axis=(1, 2)), 1e-300)
    level = (weight * above).sum(axis=(1, 2)) / total
    identity = np.eye(groups)
    prior = model.candidates * np.ones((groups, groups)) + model.groups * identity
    # Without any noise nothing could be inverted.
    covariance = prior + (noise[..., None] + TINY) * identity
    gain = prior @ np.linalg.inv(covariance)
    gap = np.where(is_rated, above - level[:, None, None], 0.0)
    shift = np.einsum("pkgh,pkh->pkg", gain, gap)
    return GroupPosterior(
        names=names,
        mean=level[:, None, None] + shift + effects,
        covariance=prior - gain @ prior,
        count=count,
    )


def parse_mix(mix: str | Mapping[str, float]) -> dict[str, float]:
    """Read the shares of groups, such as "a=0.5,b=0.5".

    Raises:
        InputError: If a share is not a number from 0 up, or all are 0.
    """
    hint = "write it as a=0.5,b=0.5"
    shares: dict[str, float] = {}
    if isinstance(mix, str):
        for part in mix.replace(";", ",").split(","):
            name, _, value = part.rpartition("=")
            try:
                shares[name.strip()] = float(value)
            except ValueError:
                raise InputError(f"the mix {mix!r} has {part!r}", hint) from None
    else:
        shares = {str(name): float(value) for name, value in mix.items()}
    is_usable = all(math.isfinite(share) and share >= 0 for share in shares.values())
    if "" in shares or not is_usable or not sum(shares.values()) > 0:
        raise InputError(f"the mix {mix!r} is not shares of groups", hint)
    return shares


def _fit(mean: Array, is_rated: Mask) -> tuple[Array, Array]:
    """The effects of groups (G,) and the means of candidates (P, K), fitted in turn."""
    weight = np.where(is_rated, 1.0, 0.0)
    effects = np.zeros(mean.shape[2])
    candidate = np.zeros(mean.shape[:2])
    for _ in range(ROUNDS):
        total = np.maximum(weight.sum(axis=2), 1)
        candidate = (weight * (mean - effects)).sum(axis=2) / total
        total = np.maximum(weight.sum(axis=(0, 1)), 1)
        effects = (weight * (mean - candidate[..., None])).sum(axis=(0, 1)) / total
        effects = effects - effects.mean()
    return effects, candidate


def _candidate_variance(
    candidate: Array, is_rated: Mask, mean_noise: float, between: float, noise: float
) -> float:
    """The variance of candidates within prompts."""
    seen = np.asarray(np.any(is_rated, axis=2))
    centre = np.where(seen, candidate, 0.0).sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
    gaps = np.where(seen, candidate - centre[:, None], 0.0)
    df = max(int(seen.sum() - np.any(seen, axis=1).sum()), 1)
    by_groups = (mean_noise + between) / np.maximum(is_rated.sum(axis=2), 1)
    variance = float((gaps**2).sum()) / df - float(by_groups[seen].mean())
    least = LEAST_CANDIDATES * noise
    if between > 0:
        least = LOWEST_CANDIDATES * between / is_rated.shape[2]
    return max(variance, least)
