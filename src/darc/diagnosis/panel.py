"""The ratings of one scorer, one row a candidate."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from darc.core.draws import candidate_lots
from darc.errors import InputError
from darc.evaluation.source import NOBODY, Source
from darc.typing import Array, Integers

Booleans = NDArray[np.bool_]


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
    def present(self) -> Booleans:
        """Where there is a rating, (I, n)."""
        return ~np.isnan(self.values)

    @property
    def counts(self) -> Integers:
        """Ratings of each candidate, (I,)."""
        return self.present.sum(axis=1)

    @property
    def starts(self) -> Integers:
        """The first candidate of each prompt, (P,)."""
        return np.searchsorted(self.prompts, np.arange(len(self.prompt_names)))

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
        return deviations(self.values)


def panel_of(source: Source, scorer: int = 0, seed: int = 0) -> RaterPanel:
    """The panel of one scorer of a source; prompts and candidates without a rating are left out."""
    values, givers = source.samples[:, scorer], source.givers[:, scorer]
    present = ~np.isnan(values)
    rated = present.any(axis=2)
    if not rated.any():
        raise InputError(f"{source.name} holds no ratings", "give at least one rating")
    prompt, candidate = np.nonzero(rated)
    kept, prompts = np.unique(prompt, return_inverse=True)
    places = list(zip(prompt.tolist(), candidate.tolist(), strict=True))
    seen = np.where(present, givers, NOBODY)[prompt, candidate]
    unknown = [index for index, name in enumerate(source.giver_names) if not name]
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
        rater_names=[source.giver_names[j] for j in used.tolist()],
        named=source.rated and not (~np.isnan(values) & (raters == NOBODY)).any(),
        kind=source.kind,
        scorer=source.scorers[scorer] if source.scorers else "",
        groups=source.groups,
        seed=seed,
        systems=[source.systems[p][k] for p, k in places] if source.systems else (),
    )


def deviations(values: Array) -> Array:
    """Standard deviation with ddof = 1 along the last axis, NaN skipped and below two values."""
    present = ~np.isnan(values)
    count = present.sum(axis=-1)
    known = np.maximum(count, 1)
    mean = np.where(present, values, 0.0).sum(axis=-1) / known
    offset = np.where(present, values - mean[..., None], 0.0)
    variance = (offset**2).sum(axis=-1) / np.maximum(count - 1, 1)
    return np.where(count >= 2, np.sqrt(variance), np.nan)


def shrinkage_of_deviation(counts: Integers) -> Array:
    """Mean of the standard deviation of n Gaussian samples over the true one, NaN below two."""
    table = np.full(int(counts.max(initial=1)) + 1, np.nan)
    for n in range(2, table.size):
        table[n] = math.sqrt(2 / (n - 1)) * math.exp(math.lgamma(n / 2) - math.lgamma((n - 1) / 2))
    return table[counts]


def centred(panel: RaterPanel) -> tuple[Array, bool]:
    """Ratings less the candidate's mean and each rater's own level in the prompt, (I, n).

    Where raters are unknown, or rate one candidate a prompt, the candidate's mean alone is taken
    off, and the second result is False. Alternating means; O(ratings) a sweep.
    """
    item, _, value = panel.flat()
    items = panel.values.shape[0]
    count = np.bincount(item, minlength=items)
    cell = rater_cells(panel)
    rest = value - (np.bincount(item, value, items) / count)[item]
    levels = cell is not None and bool((np.bincount(cell) >= 2).all())
    if cell is not None and levels:
        shared = np.bincount(cell)
        for _ in range(30):
            rest = rest - (np.bincount(cell, rest) / shared)[cell]
            step = np.bincount(item, rest, items) / count
            rest = rest - step[item]
            if np.abs(step).max() <= 1e-12 * np.abs(value).max(initial=1.0):
                break
    result = np.full(panel.values.shape, np.nan)
    result[panel.present] = rest
    return result, levels


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


def rater_cells(panel: RaterPanel) -> Integers | None:
    """The number of each rating's prompt and rater together, (N,), or None without raters."""
    if not panel.named:
        return None
    item, rater, _ = panel.flat()
    keys = panel.prompts[item] * len(panel.rater_names) + rater
    return np.unique(keys, return_inverse=True)[1]
