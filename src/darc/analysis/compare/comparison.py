"""How systems are compared by people's ratings.

Severity of raters is taken out of the means; shares of unhappy people and the worst tenth are of
the ratings as they were given. Intervals come from a bootstrap over prompts in which all systems
are resampled together, so that differences are paired.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.analysis.bootstrap import DRAWS, average, draw_counts, interval, resample
from darc.analysis.compare.leaderboard import Leaderboard, Reversal, SystemStanding
from darc.decide.model.severity import severity
from darc.decide.standards import PANEL_SCALE, Standards, as_standards, likely_scale
from darc.errors import InputError
from darc.ratings.ratings import Ratings
from darc.ratings.splitting import NOBODY
from darc.typing import Array, Integers, Mask

WORST_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class _SystemRatings:
    """The ratings of candidates whose system is known, all arrays (N,)."""

    #: The places of the prompt, of the system among the names, and of the rater.
    prompt: Integers
    system: Integers
    rater: Integers
    #: A number for the candidate, unique over all prompts.
    candidate: Integers
    value: Array
    #: The value with the rater's severity taken out.
    fair_value: Array

    def subset(self, mask: Mask) -> "_SystemRatings":
        """The ratings that a mask (N,) selects."""
        return _SystemRatings(
            prompt=self.prompt[mask],
            system=self.system[mask],
            rater=self.rater[mask],
            candidate=self.candidate[mask],
            value=self.value[mask],
            fair_value=self.fair_value[mask],
        )


def compare_systems(
    ratings: Ratings,
    threshold: float | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    top: int = 5,
    scale: str | Sequence[float] | None = None,
) -> Leaderboard:
    """Compare the systems of some ratings; of several scorers, the first one's scores count.

    Args:
        ratings: Ratings whose candidates have systems.
        threshold: A person who rates below it is unhappy, by default the middle of the scale.
        draws: The number of bootstrap draws.
        seed: The seed of the draws.
        top: How many prompts to list on which the second system is ahead of the first.
        scale: The lowest and the highest rating that can be given, such as (1, 5) or "1-5". By
            default that of a panel's grades, or the likely scale of the ratings.

    Returns:
        The leaderboard.

    Raises:
        InputError: If there are fewer than two systems.
    """
    names = sorted({name for row in ratings.systems for name in row if name})
    if len(names) < 2:
        raise InputError(
            f"{ratings.name} has {len(names)} systems",
            "give a column `system`, or candidate ids that come back over the prompts",
        )
    system_ratings = _system_ratings(ratings, names)
    standards = _with_scale(as_standards(scale, threshold), ratings, system_ratings.value)
    limit = standards.unhappy_below
    if limit is None:
        # All ratings are equal, and their scale is unknown: nobody is below them.
        limit = float(system_ratings.value.min())
    counts = draw_counts(len(ratings.prompt_ids), draws, seed)
    standings, means = _rank_systems(system_ratings, names, limit, counts)
    by_group = _group_standings(ratings, system_ratings, names, limit, counts)
    standings = _with_worst_groups(standings, by_group)
    means = means[:, [names.index(standing.system) for standing in standings]]
    return Leaderboard(
        name=ratings.name,
        standards=standards,
        threshold=limit,
        standings=standings,
        wins=_win_shares(means),
        reversals=_reversals(ratings.prompt_ids, means, top),
        by_group=by_group,
        severity_removed=bool(np.any(system_ratings.fair_value != system_ratings.value)),
        rated_by_people=ratings.has_raters,
    )


def _with_scale(standards: Standards, ratings: Ratings, values: Array) -> Standards:
    """The standards with the scale of the ratings, unless they have one."""
    if standards.scale is not None:
        return standards
    if ratings.kind == "panel":
        return replace(standards, scale=PANEL_SCALE)
    return replace(standards, scale=likely_scale(float(values.min()), float(values.max())))


def _system_ratings(ratings: Ratings, names: Sequence[str]) -> _SystemRatings:
    prompts, _, candidates, _ = ratings.shape
    # The place of each candidate's system among the names, -1 if it has none.
    systems = np.full((prompts, candidates), -1)
    for row, prompt_systems in zip(systems, ratings.systems, strict=True):
        row[: len(prompt_systems)] = [names.index(name) if name else -1 for name in prompt_systems]
    samples = ratings.samples[:, 0]
    rated = ~np.isnan(samples) & (systems >= 0)[..., None]
    prompt, candidate, _ = np.nonzero(rated)
    value = samples[rated]
    rater = ratings.raters[:, 0][rated]
    cell = prompt * candidates + candidate
    offsets = severity(value, cell, rater, len(ratings.rater_names)).offset
    # One more offset for ratings of nobody in particular, whose place is -1.
    rater_offset = np.append(offsets, 0.0)[rater]
    return _SystemRatings(
        prompt=prompt,
        system=systems[prompt, candidate],
        rater=rater,
        candidate=cell,
        value=value,
        fair_value=value - np.where(rater == NOBODY, 0.0, rater_offset),
    )


def _rank_systems(
    ratings: _SystemRatings, names: Sequence[str], limit: float, counts: NDArray[Any]
) -> tuple[list[SystemStanding], Array]:
    """The standings, the best first, and the mean of each prompt and system, (P, S)."""
    prompts = counts.shape[1]
    means = _prompt_means(ratings, prompts, len(names))

    def average_over_prompts(counts: Array) -> Array:
        every_prompt = np.ones((1, prompts), dtype=bool)
        return average(means.T[None], every_prompt, counts)[:, 0]

    overall = average_over_prompts(np.ones((1, prompts)))[0]
    resamples = resample(average_over_prompts, counts)
    low, high = interval(resamples)
    standings = []
    for system in np.flatnonzero(~np.isnan(overall)).tolist():
        others_ahead = interval(resamples - resamples[:, [system]])[0] > 0
        values = ratings.value[ratings.system == system]
        standing = SystemStanding(
            system=names[system],
            rank=1 + int(others_ahead.sum()),
            mean=float(overall[system]),
            interval=(float(low[system]), float(high[system])),
            unhappy=float((values < limit).mean()),
            worst_tenth=_worst_mean(values),
            disagreement=_pooled_deviation(ratings.subset(ratings.system == system)),
            prompts=int((~np.isnan(means[:, system])).sum()),
            ratings=len(values),
        )
        standings.append(standing)
    standings.sort(key=lambda standing: (standing.rank, -standing.mean, standing.system))
    return standings, means


def _prompt_means(ratings: _SystemRatings, prompts: int, systems: int) -> Array:
    """The mean of each prompt and system without severity, (P, S), NaN without ratings."""
    size = prompts * systems
    place = ratings.prompt * systems + ratings.system
    with np.errstate(invalid="ignore"):
        means = np.bincount(place, ratings.fair_value, size) / np.bincount(place, minlength=size)
    return means.reshape(prompts, systems)


def _worst_mean(values: Array) -> float:
    """The mean of the lowest tenth of the ratings."""
    size = max(1, int(np.ceil(WORST_SHARE * len(values))))
    return float(np.sort(values)[:size].mean())


def _pooled_deviation(ratings: _SystemRatings) -> float:
    """The standard deviation within a candidate, pooled over candidates."""
    _, candidate = np.unique(ratings.candidate, return_inverse=True)
    counts = np.bincount(candidate)
    means = np.bincount(candidate, ratings.value) / counts
    residuals = ratings.value - means[candidate]
    freedom = len(residuals) - len(counts)
    if freedom <= 0:
        return float("nan")
    return float(np.sqrt((residuals**2).sum() / freedom))


def _group_standings(
    ratings: Ratings,
    system_ratings: _SystemRatings,
    names: Sequence[str],
    limit: float,
    counts: NDArray[Any],
) -> dict[str, list[SystemStanding]]:
    """The standings by the ratings of each group of raters."""
    # The last place, -1, is that of ratings of nobody in particular.
    rater_groups = [ratings.groups.get(name, "") for name in ratings.rater_names]
    group_of = np.array([*rater_groups, ""])
    standings: dict[str, list[SystemStanding]] = {}
    for group in sorted(set(group_of.tolist()) - {""}):
        group_ratings = system_ratings.subset(group_of[system_ratings.rater] == group)
        standings[group] = []
        if len(group_ratings.value):
            standings[group], _ = _rank_systems(group_ratings, names, limit, counts)
    return standings


def _with_worst_groups(
    standings: Sequence[SystemStanding], by_group: Mapping[str, Sequence[SystemStanding]]
) -> list[SystemStanding]:
    """The standings with the group that has each system's lowest mean."""
    worst: dict[str, tuple[float, str]] = {}
    for group, group_standings in by_group.items():
        for standing in group_standings:
            mean_and_group = (standing.mean, group)
            worst[standing.system] = min(mean_and_group, worst.get(standing.system, mean_and_group))
    completed = []
    for standing in standings:
        if standing.system in worst:
            mean, group = worst[standing.system]
            standing = replace(standing, worst_group=group, worst_group_mean=mean)
        completed.append(standing)
    return completed


def _win_shares(means: Array) -> Array:
    """How often the system of a row has the higher mean than that of a column, (S, S)."""
    systems = means.shape[1]
    shares = np.full((systems, systems), np.nan)
    for i, j in permutations(range(systems), 2):
        answered = ~np.isnan(means[:, i]) & ~np.isnan(means[:, j])
        left = means[answered, i]
        right = means[answered, j]
        if left.size:
            shares[i, j] = np.mean((left > right) + 0.5 * (left == right))
    return shares


def _reversals(prompt_ids: Sequence[str], means: Array, top: int) -> list[Reversal]:
    """Prompts on which the second of the systems (P, S) is ahead of the first."""
    lead = np.nan_to_num(means[:, 0] - means[:, 1], nan=np.inf)
    clearest = np.argsort(lead, kind="stable")[:top].tolist()
    return [Reversal(prompt_ids[p], float(-lead[p])) for p in clearest if lead[p] < 0]
