"""How systems are compared by people's ratings.

Severity of raters is taken out of the means; shares of unhappy people, worst tenths, tradeoffs and
wins are of the ratings as they were given. Intervals of means count prompts and raters as drawn at
random, and ranks come from one band that holds for all differences together.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from darc.analysis.bootstrap import DRAWS
from darc.analysis.compare.leaderboard import (
    Leaderboard,
    Reversal,
    SystemDifference,
    SystemStanding,
)
from darc.analysis.compare.prompt_outcomes import PairOutcomes, PromptOutcomes, PromptRatings
from darc.analysis.compare.system_means import (
    RatedSystems,
    SystemMeans,
    factor_to_separate,
    fit_systems,
)
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
    pair: Sequence[str] | None = None,
    lam: float = 2.0,
) -> Leaderboard:
    """Compare the systems of some ratings; of several scorers, the first one's scores count.

    Args:
        ratings: Ratings whose candidates have systems.
        threshold: A person who rates below it is unhappy, by default the middle of the scale.
        draws: How many resamples of the prompts the intervals of tradeoff, CVaR and win rate are
            from; other noise is computed without resampling.
        seed: The seed of the draws.
        top: How many prompts to list on which the second system is ahead of the first.
        scale: The lowest and the highest rating that can be given, such as (1, 5) or "1-5". By
            default that of a panel's grades, or the likely scale of the ratings.
        pair: Two systems whose difference is wanted, by default the first two.
        lam: How much mean a unit of disagreement is worth in the tradeoff.

    Returns:
        The leaderboard.

    Raises:
        InputError: If there are fewer than two systems, or the pair is not two of them.
    """
    names = sorted({name for row in ratings.systems for name in row if name})
    if len(names) < 2:
        raise InputError(
            f"{ratings.name} has {len(names)} systems",
            "give a column `system`, or candidate ids that come back over the prompts",
        )
    if pair is not None and (len(set(pair)) != 2 or not set(pair) <= set(names)):
        raise InputError(
            f"the pair {' and '.join(pair)} is not two systems of {ratings.name}",
            f"the systems are {', '.join(names)}",
        )
    system_ratings = _system_ratings(ratings, names)
    standards = _with_scale(as_standards(scale, threshold), ratings, system_ratings.value)
    limit = standards.unhappy_below
    if limit is None:
        # All ratings are equal, and their scale is unknown: nobody is below them.
        limit = float(system_ratings.value.min())
    resampling = _Resampling(lam, draws, seed)
    prompts = len(ratings.prompt_ids)
    comparison = _Comparison.of(system_ratings, names, limit, prompts, resampling)
    by_group = _group_standings(ratings, system_ratings, names, limit, resampling)
    standings = _with_worst_groups(comparison.standings(), by_group)
    order = [names.index(standing.system) for standing in standings]
    means = _prompt_means(system_ratings, prompts, len(names))[:, order]
    difference = None
    pair_outcomes = None
    if len(standings) > 1:
        first, second = pair or (standings[0].system, standings[1].system)
        difference = comparison.difference(first, second)
        pair_outcomes = comparison.pair_outcomes(first, second)
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
        method=comparison.fit.method,
        raters=comparison.fit.raters,
        difference=difference,
        fewer_unhappy=comparison.fewer_unhappy(standings),
        lam=lam,
        ties=comparison.outcomes.tie_shares()[np.ix_(order, order)],
        pair_outcomes=pair_outcomes,
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


@dataclass(frozen=True)
class _Resampling:
    """How tradeoffs and their intervals are computed."""

    lam: float
    draws: int
    seed: int


@dataclass(frozen=True, eq=False)
class _Comparison:
    """The systems of some ratings with the noise of their means and shares of unhappy people."""

    ratings: _SystemRatings
    names: Sequence[str]
    limit: float
    fit: SystemMeans
    unhappy_fit: SystemMeans
    outcomes: PromptOutcomes

    @staticmethod
    def of(
        ratings: _SystemRatings,
        names: Sequence[str],
        limit: float,
        prompts: int,
        resampling: _Resampling,
    ) -> "_Comparison":
        """Compare systems by the ratings of P prompts."""
        raters = int(ratings.rater.max(initial=-1)) + 1

        def fit(values: Array) -> SystemMeans:
            return fit_systems(
                RatedSystems(
                    prompt=ratings.prompt,
                    system=ratings.system,
                    rater=ratings.rater,
                    value=values,
                    prompts=prompts,
                    systems=len(names),
                    raters=raters,
                ),
                resampling.seed,
            )

        unhappy = (ratings.value < limit).astype(np.float64)
        prompt_ratings = PromptRatings(
            prompt=ratings.prompt,
            system=ratings.system,
            rater=ratings.rater,
            candidate=ratings.candidate,
            value=ratings.value,
            prompts=prompts,
            systems=len(names),
        )
        outcomes = PromptOutcomes(prompt_ratings, resampling.lam, resampling.draws, resampling.seed)
        return _Comparison(ratings, names, limit, fit(ratings.fair_value), fit(unhappy), outcomes)

    def standings(self) -> list[SystemStanding]:
        """The standings, the best first."""
        ahead = self.fit.band().ahead
        standings = []
        for system in np.flatnonzero(~np.isnan(self.fit.means)).tolist():
            own = self.ratings.subset(self.ratings.system == system)
            mean = float(self.fit.means[system])
            half_width = self.fit.mean_noise(system).half_width
            share = float((own.value < self.limit).mean())
            prompts = int(np.unique(own.prompt).size)
            outcomes = self.outcomes.of_system(system)
            standing = SystemStanding(
                system=self.names[system],
                rank=1 + int(ahead[:, system].sum()),
                mean=mean,
                interval=(mean - half_width, mean + half_width),
                unhappy=share,
                worst_tenth=_worst_mean(own.value),
                disagreement=_pooled_deviation(own),
                prompts=prompts,
                ratings=len(own.value),
                unhappy_interval=_share_interval(
                    share, self.unhappy_fit.mean_noise(system).half_width, prompts
                ),
                tradeoff=outcomes.tradeoff.value,
                tradeoff_interval=outcomes.tradeoff.interval,
                cvar=outcomes.cvar.value,
                cvar_interval=outcomes.cvar.interval,
            )
            standings.append(standing)
        standings.sort(key=lambda standing: (standing.rank, -standing.mean, standing.system))
        return standings

    def fewer_unhappy(self, standings: Sequence[SystemStanding]) -> Mask:
        """Whether a system leaves fewer people unhappy than another beyond noise, (S, S)."""
        order = [self.names.index(standing.system) for standing in standings]
        return self.unhappy_fit.band().ahead.T[np.ix_(order, order)]

    def pair_outcomes(self, first: str, second: str) -> PairOutcomes:
        """How often one system is ahead of another, and by how much over prompts."""
        places = (self.names.index(first), self.names.index(second))
        return self.outcomes.of_pair(*places, (first, second))

    def difference(self, first: str, second: str) -> SystemDifference:
        """The difference between two systems, and what would tell them apart."""
        i = self.names.index(first)
        j = self.names.index(second)
        noise = self.fit.pair_noise(i, j)
        value = float(self.fit.means[i] - self.fit.means[j])
        critical = noise.half_width / max(float(np.sqrt(noise.variance)), 1e-300)
        band = self.fit.band()
        ratings = int(np.isin(self.ratings.system, (i, j)).sum())
        factor = factor_to_separate(value, noise.variance, max(critical, band.critical))
        beyond_band = bool(band.ahead[i, j] or band.ahead[j, i])
        more = math.inf
        if beyond_band:
            more = 0.0
        elif math.isfinite(factor):
            more = max(0.0, math.ceil((factor - 1) * ratings))
        return SystemDifference(
            first=first,
            second=second,
            difference=value,
            interval=(value - noise.half_width, value + noise.half_width),
            beyond_band=beyond_band,
            more_ratings=more,
            needs_raters=noise.by_rater > noise.by_prompt,
        )


def _share_interval(share: float, half_width: float, prompts: int) -> tuple[float, float]:
    """An interval of a share; where nothing varies, what as many equal prompts exclude."""
    if half_width <= 0:
        excluded = 1 - 0.05 ** (1 / max(prompts, 1))
        if share >= 1:
            return 1 - excluded, 1.0
        if share <= 0:
            return 0.0, excluded
    return max(0.0, share - half_width), min(1.0, share + half_width)


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
    resampling: _Resampling,
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
            prompts = len(ratings.prompt_ids)
            comparison = _Comparison.of(group_ratings, names, limit, prompts, resampling)
            standings[group] = comparison.standings()
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
            # Taking out severity leaves rounding errors in equal means.
            equal = np.isclose(left, right, rtol=1e-9, atol=1e-9)
            shares[i, j] = np.mean(np.where(equal, 0.5, left > right))
    return shares


def _reversals(prompt_ids: Sequence[str], means: Array, top: int) -> list[Reversal]:
    """Prompts on which the second of the systems (P, S) is ahead of the first."""
    lead = np.nan_to_num(means[:, 0] - means[:, 1], nan=np.inf)
    clearest = np.argsort(lead, kind="stable")[:top].tolist()
    return [Reversal(prompt_ids[p], float(-lead[p])) for p in clearest if lead[p] < 0]
