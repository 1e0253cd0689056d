"""The ratings of one scorer, one row a candidate, and what is left without means and levels."""

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

_SWEEPS = 500


@dataclass(frozen=True, eq=False)
class RaterPanel:
    """I candidates of P prompts with up to n ratings each, all of one scorer.

    `values` (I, n) are NaN and `raters` (I, n) `NOBODY` where there is no rating; `prompts` (I,)
    is each candidate's prompt, ascending. `named` says whether every rating has a rater that is
    the same one wherever the name returns; without that nothing is said of raters. Candidates that
    tie come in the order of lots drawn from `seed`, since a file's order may be that of systems.
    `systems` are the candidates' systems where those have names of their own.
    """

    values: Array
    raters: Integers
    prompts: Integers
    prompt_names: Sequence[str]
    candidate_names: Sequence[str]
    rater_names: Sequence[str]
    named: bool
    kind: str = "rater"
    scorer: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    systems: Sequence[str] = ()

    @property
    def present(self) -> Mask:
        """Where there is a rating, (I, n)."""
        return ~np.isnan(self.values)

    @property
    def counts(self) -> Integers:
        """Ratings of each candidate, (I,)."""
        return self.present.sum(axis=1)

    @cached_property
    def lots(self) -> NDArray[np.uint64]:
        """A random number of each candidate, (I,), that depends on its ids alone."""
        prompts = (self.prompt_names[p] for p in self.prompts.tolist())
        return candidate_lots(self.seed, prompts, self.candidate_names)

    def flat(self) -> tuple[Integers, Integers, Array]:
        """Candidate, rater and value of every rating, each (N,)."""
        item, place = np.nonzero(self.present)
        return item, self.raters[item, place], self.values[item, place]

    def means(self) -> Array:
        """Mean rating of each candidate, (I,)."""
        return np.nansum(self.values, axis=1) / self.counts

    def sigmas(self) -> Array:
        """Standard deviation with ddof = 1 of each candidate, NaN with one rating, (I,)."""
        return risk.sigma(self.values)


def panel_of(source: Ratings, scorer: int = 0, seed: int = 0) -> RaterPanel:
    """The panel of one scorer of a source; prompts and candidates without a rating are left out."""
    values, raters = source.samples[:, scorer], source.raters[:, scorer]
    present = ~np.isnan(values)
    rated = present.any(axis=2)
    if not rated.any():
        raise InputError(f"{source.name} holds no ratings", "give at least one rating")
    prompt, candidate = np.nonzero(rated)
    kept, prompts = np.unique(prompt, return_inverse=True)
    places = list(zip(prompt.tolist(), candidate.tolist(), strict=True))
    seen = np.where(present, raters, NOBODY)[prompt, candidate]
    unknown = [index for index, name in enumerate(source.rater_names) if not name]
    seen = np.where(np.isin(seen, unknown), NOBODY, seen)
    used = np.unique(seen[seen != NOBODY])
    raters = np.where(seen == NOBODY, NOBODY, np.searchsorted(used, seen))
    values = values[prompt, candidate]
    return RaterPanel(
        values=values,
        raters=raters,
        prompts=prompts,
        prompt_names=[source.prompt_ids[p] for p in kept.tolist()],
        candidate_names=[source.candidate_ids[p][k] for p, k in places],
        rater_names=[source.rater_names[j] for j in used.tolist()],
        named=source.has_raters and not (~np.isnan(values) & (raters == NOBODY)).any(),
        kind=source.kind,
        scorer=source.scorers[scorer] if source.scorers else "",
        groups=source.groups,
        seed=seed,
        systems=[source.systems[p][k] for p, k in places] if source.systems else (),
    )


def offsets(values: Array, owner: Integers) -> Array:
    """Values less the mean of those that have the same owner, (N,)."""
    return values - (np.bincount(owner, values) / np.maximum(np.bincount(owner), 1))[owner]


def additive(item: Integers, rater: Integers, value: Array) -> tuple[Array, Array]:
    """Raters' levels, of mean 0 a rating, and what they and the candidates' means leave over.

    The least-squares fit of value = candidate + rater by alternating means, so that a rater is not
    called severe for having rated bad candidates. O(ratings) a sweep.
    """
    raters = np.bincount(rater)
    level = np.zeros(raters.size)
    rest = offsets(value, item)
    for _ in range(_SWEEPS):
        step = np.bincount(rater, rest) / np.maximum(raters, 1)
        level += step
        rest = offsets(rest - step[rater], item)
        if np.abs(step).max() <= 1e-10 * max(np.ptp(value), 1e-300):
            break
    return level - np.average(level, weights=raters), rest


def centred(panel: RaterPanel) -> tuple[Array, Integers | None]:
    """Ratings less the candidate's mean and each rater's own level in the prompt, (I, n).

    The second result is each rating's prompt and rater as one number, (N,). It is None where raters
    are unknown, or rate one candidate of a prompt: then the candidate's mean alone is taken off.
    """
    item, rater, value = panel.flat()
    cell = None
    if panel.named:
        keys = panel.prompts[item] * len(panel.rater_names) + rater
        cell = np.unique(keys, return_inverse=True)[1]
        cell = None if (np.bincount(cell) < 2).any() else cell
    result = np.full(panel.values.shape, np.nan)
    result[panel.present] = offsets(value, item) if cell is None else additive(item, cell, value)[1]
    return result, cell


def repeated(panel: RaterPanel) -> float:
    """Share of candidates, of those with four ratings or more, all of whose ratings come in pairs.

    NaN where there are below 20 of them or the scale has below 10 values: there pairs are common.
    """
    counts = panel.counts
    rows = np.nonzero((counts >= 4) & (counts % 2 == 0))[0]
    if rows.size < 20 or np.unique(panel.values[panel.present]).size < 10:
        return math.nan
    ordered = np.sort(panel.values[rows], axis=1)
    pairs = ordered[:, : ordered.shape[1] // 2 * 2].reshape(rows.size, -1, 2)
    same = (pairs[..., 0] == pairs[..., 1]) | np.isnan(pairs[..., 0])
    return float(same.all(axis=1).mean())
