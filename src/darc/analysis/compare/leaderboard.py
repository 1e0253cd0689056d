"""Which system is best for everyone: a leaderboard from people's ratings.

A system is what wrote a candidate. Severity of raters is taken out of the means; shares of unhappy
people and the worst tenth are of the ratings as they were given. Intervals are a bootstrap over
prompts, in which all systems are resampled together, so that differences are paired.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from darc.analysis.bootstrap import DRAWS, average, draw_counts, interval, resampled
from darc.decide.model.severity import severity
from darc.decide.standards import PANEL_SCALE, Standards, as_standards, likely_scale
from darc.errors import InputError
from darc.ratings.ratings import NOBODY, Source
from darc.typing import Array
from darc.views.chart import new_figure, plain_drawing, style_axes
from darc.views.palette import SERIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORST = 0.1


@dataclass(frozen=True)
class SystemStanding:
    """One system's place among the others, the best first.

    `rank` is one more than the number of systems that are better beyond the interval, so systems
    that cannot be told apart share one. `interval` is of the mean.
    """

    system: str
    rank: int
    mean: float
    interval: tuple[float, float]
    unhappy: float
    worst_tenth: float
    disagreement: float
    prompts: int
    ratings: int
    worst_group: str = ""
    worst_group_mean: float = float("nan")


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """The systems of a source side by side.

    `wins[i][j]` is the share of the prompts that both answered on which system i has the higher
    mean than j, a tie half. People are unhappy below the `threshold`, which comes from the
    `standards`; not `of_people` are scores of rewrites, of which that is not said. `turns` are
    prompts on which the first two systems change places, the
    clearest first: (prompt, by how much). `by_group` has each group's own standings.
    """

    name: str
    standards: Standards
    threshold: float
    standings: Sequence[SystemStanding]
    wins: Array
    turns: Sequence[tuple[str, float]]
    by_group: Mapping[str, Sequence[SystemStanding]]
    severity: bool
    of_people: bool = True

    @property
    def verdict(self) -> str:
        """The answer in a sentence."""
        if not self.of_people:
            return self._verdict_on_scores()
        first, *others = self.standings
        tied = [each.system for each in others if each.rank == 1]
        if not others:
            return f"There is one system only, {first.system}."
        if tied:
            names = ", ".join([first.system, *tied[:-1]]) + f" and {tied[-1]}"
            calm, *_, last = sorted(self.standings[: 1 + len(tied)], key=lambda each: each.unhappy)
            same = f"{calm.unhappy:.1%}" == f"{last.unhappy:.1%}"
            ending = f"of these {calm.system} leaves the fewest people unhappy"
            ending = "they leave the same share of people unhappy" if same else ending
            return f"{names} cannot be told apart by their means; {ending} ({calm.unhappy:.1%})."
        calm = min(self.standings, key=lambda each: each.unhappy)
        if calm.unhappy < first.unhappy:
            return (
                f"{first.system} has the highest mean, but {calm.system} leaves fewer people "
                f"unhappy ({calm.unhappy:.0%} against {first.unhappy:.0%})."
            )
        return f"{first.system} is best: the highest mean, and nobody leaves fewer people unhappy."

    def _verdict_on_scores(self) -> str:
        """The answer where the samples are scores of rewrites, which say nothing of people."""
        first, *others = self.standings
        tied = [each.system for each in others if each.rank == 1]
        if not others:
            return f"There is one system only, {first.system}."
        if tied:
            names = ", ".join([first.system, *tied[:-1]]) + f" and {tied[-1]}"
            return f"{names} cannot be told apart by their mean scores."
        return f"{first.system} has the highest mean score."


def leaderboard(
    source: Source,
    threshold: float | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    top: int = 5,
    scale: str | Sequence[float] | None = None,
) -> Leaderboard:
    """The systems of a source side by side; one with several scorers is compared by the first.

    Args:
        source: Ratings whose candidates have systems.
        threshold: A person who rates below it is unhappy, by default the middle of the scale.
        draws: Bootstrap draws.
        seed: Seed of the draws.
        top: How many prompts on which the first two systems change places are listed.
        scale: The lowest and the highest rating that can be given, such as (1, 5) or "1-5". By
            default that of a panel's grades, or the likely scale of the ratings.

    Raises:
        InputError: If there are fewer than two systems.
    """
    names = sorted({name for row in source.systems for name in row if name})
    if len(names) < 2:
        raise InputError(
            f"{source.name} has {len(names)} systems",
            "give a column `system`, or candidate ids that come back over the prompts",
        )
    ratings = _ratings(source, names)
    standards = _standards(source, ratings.value, as_standards(scale, threshold))
    limit = standards.unhappy_below
    if limit is None:
        # All ratings are equal, and on no known scale: nobody is below them.
        limit = float(ratings.value.min())
    counts = draw_counts(len(source.prompt_ids), draws, seed)
    standings, means = _standings(ratings, names, limit, counts)
    groups: dict[str, list[SystemStanding]] = {}
    member = np.array([source.groups.get(name, "") for name in source.giver_names] + [""])
    for group in sorted(set(member.tolist()) - {""}):
        own = ratings[member[ratings.rater] == group]
        groups[group] = _standings(own, names, limit, counts)[0] if len(own) else []
    worst: dict[str, tuple[float, str]] = {}
    for mean, group, system in ((s.mean, g, s.system) for g, own in groups.items() for s in own):
        worst[system] = min((mean, group), worst.get(system, (mean, group)))
    for place, each in enumerate(standings):
        if each.system in worst:
            mean, group = worst[each.system]
            standings[place] = replace(each, worst_group=group, worst_group_mean=mean)
    means = means[:, [names.index(each.system) for each in standings]]
    lead = np.nan_to_num(means[:, 0] - means[:, 1], nan=np.inf)
    ahead = [p for p in np.argsort(lead, kind="stable")[:top].tolist() if lead[p] < 0]
    return Leaderboard(
        name=source.name,
        standards=standards,
        threshold=limit,
        standings=standings,
        wins=_wins(means),
        turns=[(source.prompt_ids[p], float(-lead[p])) for p in ahead],
        by_group=groups,
        severity=bool(np.any(ratings.fair != ratings.value)),
        of_people=source.rated,
    )


def _standards(source: Source, values: Array, standards: Standards) -> Standards:
    """The standards with the scale of the source, where none was given."""
    if standards.scale is not None:
        return standards
    if source.kind == "panel":
        return replace(standards, scale=PANEL_SCALE)
    return replace(standards, scale=likely_scale(float(values.min()), float(values.max())))


def _ratings(source: Source, names: Sequence[str]) -> Any:
    """The ratings of candidates whose system is known, one by one, as a record array."""
    prompts, _, candidates, _ = source.shape
    systems = np.full((prompts, candidates), -1)
    for row, own in zip(systems, source.systems, strict=True):
        row[: len(own)] = [names.index(name) if name else -1 for name in own]
    samples, givers = source.samples[:, 0], source.givers[:, 0]
    known = ~np.isnan(samples) & (systems >= 0)[..., None]
    prompt, candidate, _ = np.nonzero(known)
    cell, rater, value = prompt * candidates + candidate, givers[known], samples[known]
    offset = severity(value, cell, rater, len(source.giver_names)).offset
    fair = value - np.where(rater == NOBODY, 0.0, np.append(offset, 0.0)[rater])
    columns = (prompt, systems[prompt, candidate], cell, rater, value, fair)
    records: Any = np.rec
    return records.fromarrays(columns, names="prompt,system,cell,rater,value,fair")


def _standings(
    ratings: Any, names: Sequence[str], limit: float, counts: NDArray[Any]
) -> tuple[list[SystemStanding], Array]:
    """The standings, the best first, and the mean of each prompt and system, (P, S)."""
    prompts, size = counts.shape[1], counts.shape[1] * len(names)
    place = ratings.prompt * len(names) + ratings.system
    with np.errstate(invalid="ignore"):
        means = np.bincount(place, ratings.fair, size) / np.bincount(place, minlength=size)
    means = means.reshape(prompts, len(names))

    def averages(counts: Array) -> Array:
        return average(means.T[None], np.ones((1, prompts), dtype=bool), counts)[:, 0]

    whole, drawn = averages(np.ones((1, prompts)))[0], resampled(averages, counts)
    low, high = interval(drawn)
    standings = []
    for s in np.flatnonzero(~np.isnan(whole)).tolist():
        own = ratings.value[ratings.system == s]
        standings.append(
            SystemStanding(
                names[s],
                1 + int((interval(drawn - drawn[:, [s]])[0] > 0).sum()),
                float(whole[s]),
                (float(low[s]), float(high[s])),
                float((own < limit).mean()),
                float(np.sort(own)[: max(1, int(np.ceil(WORST * len(own))))].mean()),
                _disagreement(ratings, s),
                int((~np.isnan(means[:, s])).sum()),
                len(own),
            )
        )
    return sorted(standings, key=lambda each: (each.rank, -each.mean, each.system)), means


def _disagreement(ratings: Any, system: int) -> float:
    """The standard deviation within a candidate, pooled over a system's candidates."""
    among = ratings.system == system
    _, cell = np.unique(ratings.cell[among], return_inverse=True)
    value, times = ratings.value[among], np.bincount(cell)
    left = value - (np.bincount(cell, value) / times)[cell]
    df = len(value) - len(times)
    return float(np.sqrt((left**2).sum() / df)) if df > 0 else float("nan")


def _wins(means: Array) -> Array:
    """How often the system of a row has the higher mean than that of a column, (S, S)."""
    shares = np.full((means.shape[1],) * 2, np.nan)
    for i, j in permutations(range(len(shares)), 2):
        mine, theirs = means[~np.isnan(means[:, [i, j]]).any(axis=1)][:, [i, j]].T
        if mine.size:
            shares[i, j] = np.mean((mine > theirs) + 0.5 * (mine == theirs))
    return shares


def draw_leaderboard(found: Leaderboard) -> "Figure":
    """Means with their intervals, and shares of unhappy people, the best system on top."""
    standings = list(reversed(found.standings))
    with plain_drawing():
        figure = new_figure(9.0, 1.6 + 0.42 * len(standings))
        means, unhappy = figure.subplots(1, 2, sharey=True)
        for place, each in enumerate(standings):
            inside = SERIES[0] if each.rank == 1 else "white"
            means.plot(each.interval, [place, place], color=SERIES[0], linewidth=2.2)
            means.plot(each.mean, place, "o", color=SERIES[0], markerfacecolor=inside)
        unhappy.barh(range(len(standings)), [100 * s.unhappy for s in standings], color=SERIES[1])
        means.set_yticks(range(len(standings)), [s.system for s in standings])
        means.set_ylim(-0.7, len(standings) - 0.3)
        style_axes(means, "mean rating, 95 % interval (filled: rank 1)")
        people = "unhappy people" if found.of_people else "low scores"
        style_axes(unhappy, f"{people} (below {found.threshold:g}), per cent")
    return figure
