"""A setting chosen on some prompts and measured on the others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.core import draws
from darc.core.arrays import check_level, check_share
from darc.core.draws import prompt_seeds
from darc.core.statistics import batched
from darc.engine.deciding import Calibrations
from darc.errors import InputError, UnknownName
from darc.evaluation.bootstrap import average, over_splits, tail
from darc.evaluation.methods import ids_of, learnt_before
from darc.evaluation.source import Source
from darc.evaluation.split import choose_split, draw_halves
from darc.selection.pools import Pools
from darc.selection.rule import Scale
from darc.tuning.grid import Setting, grid
from darc.types import clipped
from darc.typing import Array, Integers, Mask

ATTEMPTS = 5
CELLS_AT_ONCE = 4_000_000
ROUNDING = 1e-12
NAMES = ("tradeoff", "cvar", "mean")

Report = Callable[[int], None]


@dataclass(frozen=True)
class Objective:
    """A named objective over prompts, of the outcomes on the evaluation half.

    `tradeoff` is the average of mean - lam sigma, `cvar` the average of the `share` lowest means,
    `mean` the average mean, with a `risk_cap` among the settings whose average sigma keeps it.
    """

    name: str = "tradeoff"
    lam: float = 2.0
    share: float = 0.1
    risk_cap: float | None = None

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise UnknownName("objective", self.name, NAMES)
        check_level("lam", self.lam)
        check_share("share", self.share)
        if self.risk_cap is not None:
            check_level("risk cap", self.risk_cap)
            if self.name != "mean":
                raise InputError(
                    f"a risk cap is given with the objective {self.name!r}",
                    "it belongs to the objective 'mean'",
                )

    @property
    def needs_risk(self) -> bool:
        """Whether sigma must be known on the evaluation half."""
        return (self.name == "tradeoff" and self.lam > 0) or self.risk_cap is not None

    @property
    def words(self) -> str:
        """What is raised, in words."""
        if self.name == "cvar":
            return f"the mean of the lowest {100 * self.share:g} % of prompts"
        if self.name == "tradeoff":
            return f"mean - {self.lam:g} sigma"
        return "the mean"

    def outcome(self, mean: Array, sigma: Array) -> Array:
        """What is averaged over prompts, of the shape of its arguments."""
        if self.name == "tradeoff" and self.lam > 0:
            return np.asarray(mean - self.lam * sigma)
        return mean

    def over(self, outcome: Array, among: Mask, counts: Array) -> Array:
        """The objective (B, R, A) of outcomes (R, A, P) among (R, P) with prompts' weights (B, P).

        The cap apart: that is for `best`.
        """
        if self.name == "cvar":
            return tail(outcome, among, counts, self.share)
        return average(outcome, among, counts)

    def best(self, merit: Array, sigma: Array) -> int:
        """The place of the best of settings by their merits and average sigmas, (G,) each.

        The first of equals. Where none keeps the cap it is the one of least sigma.
        """
        if self.risk_cap is None:
            return _first_best(merit)
        kept = sigma <= self.risk_cap
        return _first_best(np.where(kept, merit, np.nan)) if kept.any() else _first_best(-sigma)


def _first_best(merit: Array) -> int:
    """The place of the largest, the first of those that differ by rounding; NaN is the least."""
    known = np.where(np.isnan(merit), -np.inf, merit)
    best = known.max()
    return int(np.argmax(known >= best - ROUNDING * abs(best)))


def choices(
    pools: Pools,
    settings: Sequence[Setting],
    report: Report = lambda done: None,
    calibration: Any = None,
) -> NDArray[np.int32]:
    """The candidate that each setting chooses for each prompt, (G, P), by the rules' own functions.

    The statistics are computed once for every beta, and each setting is then a few array operations
    over (P, K): O(B P M K n + G P K) for B betas in a row. A rule that learns does so from the
    pools, for each setting anew, unless it has a `calibration`. `report(1)` follows every setting.
    """
    result = np.empty((len(settings), len(pools.samples)), dtype=np.int32)
    pairs = zip(result, settings, strict=True)
    for beta, alike in groupby(pairs, key=lambda pair: pair[1].beta):
        shared = pools if beta is None else replace(pools, beta=beta)
        for row, setting in alike:
            rule = setting.bound()
            if "calibration" in rule.defaults and calibration is not None:
                rule = rule.bind(calibration=calibration)
            rule = rule.fitted(shared)
            row[:] = rule.choose(shared.keeping_few() if rule.few else shared).index
            report(1)
    return result


@dataclass(frozen=True, eq=False)
class Trial:
    """One split: the pools of the selection half, and mean and sigma (U, K) on the other half.

    They are of the U prompts that count in this split, marked in `usable` (P,). Rules that learn do
    so from the pools, unless they have a `calibration`.
    """

    pools: Pools
    mean: Array
    sigma: Array
    usable: Mask
    calibration: Any = None

    def judged(self, settings: Sequence[Setting], report: Report = lambda done: None) -> Array:
        """Mean and sigma, (2, G, P), on the evaluation half of what settings choose.

        NaN for prompts that do not count. O(G U K), and what `choices` costs.
        """
        chosen = choices(self.pools, settings, report, self.calibration)
        rows = np.arange(len(self.mean))
        result = np.full((2, len(settings), len(self.usable)), np.nan)
        result[:, :, self.usable] = self.mean[rows, chosen], self.sigma[rows, chosen]
        return result


def draw_trials(
    source: Source,
    needs_sigma: bool,
    repeats: int = 10,
    seed: int = 0,
    split: str = "auto",
    calibrations: Calibrations | None = None,
) -> list[Trial]:
    """Trials of `repeats` splits.

    A candidate takes part where both halves know it: it has a sample that selects and a mean, or
    with `needs_sigma` a sigma, that judges. A prompt counts where at least two take part, and a
    split in which none does is drawn again, up to `ATTEMPTS` times a repeat.
    """
    way = choose_split(source, split)
    learnt = learnt_before(source, calibrations)
    draws = range(ATTEMPTS * repeats)
    drawn = (_trial(source, way, needs_sigma, seed + draw, learnt) for draw in draws)
    return list(islice((trial for trial in drawn if trial.usable.any()), repeats))


def _trial(source: Source, way: str, needs_sigma: bool, seed: int, learnt: Any) -> Trial:
    halves = draw_halves(source, way, seed)
    # Pooling over prompts would let one prompt move the units of another.
    judged = batched(halves.judge, 0.0, 0.0, source.constants)
    known = ~np.isnan(judged.sigma if needs_sigma else judged.mean)
    select = clipped(halves.select, source.bounds)
    part = known & ~np.isnan(select).all(axis=(1, 3))
    usable = part.sum(axis=1) > 1
    pools = Pools(
        np.where(part[:, None, :, None], select, np.nan)[usable],
        drawn=prompt_seeds(seed, source.prompt_ids)[usable],
        side={name: array[usable] for name, array in source.side.items()},
        **ids_of(source, halves.select_givers, np.flatnonzero(usable), learnt is None),
    )
    return Trial(pools, judged.mean[usable], judged.sigma[usable], usable, learnt)


def judged_by_all(trials: Sequence[Trial], settings: Sequence[Setting]) -> Array:
    """Mean and sigma (2, R, G, P) on the evaluation halves of what a few settings choose."""
    return np.stack([trial.judged(settings) for trial in trials], axis=1)


def fold_numbers(prompt_ids: Sequence[str], folds: int, seed: int) -> Integers:
    """The fold of every prompt, (P,): of equal sizes but for one, by (seed, prompt_id) alone."""
    return draws.folds(prompt_seeds(seed, (f"fold {name}" for name in prompt_ids)), folds)


def merits(
    trials: Sequence[Trial],
    settings: Sequence[Setting],
    objective: Objective,
    training: Array,
    report: Report = lambda done: None,
) -> tuple[Array, Array]:
    """Objective and average sigma (F, G) of settings on weighted prompts (F, P), over all trials.

    O(R G (P K + F P)); at most `CELLS_AT_ONCE` outcomes are held at a time.
    """
    merit, sigma = np.full((2, len(training), len(trials), len(settings)), np.nan)
    step = max(1, CELLS_AT_ONCE // training.shape[1])
    for place, trial in enumerate(trials):
        among = trial.usable[None]
        for start in range(0, len(settings), step):
            part = slice(start, start + step)
            means, sigmas = trial.judged(settings[part], report)
            outcome = objective.outcome(means, sigmas)[None]
            merit[:, place, part] = objective.over(outcome, among, training)[:, 0]
            if objective.risk_cap is not None:
                sigma[:, place, part] = average(sigmas[None], among, training)[:, 0]
    return over_splits(merit), over_splits(sigma)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A rule's settings: that of every fold, chosen on the other folds, and the one chosen on all.

    `held` (2, R, P) is mean and sigma on every prompt of its own fold's setting, `fitted` those of
    the final one; `surface` has the objective on all prompts of every setting tried.
    """

    rule: str
    by_fold: tuple[Setting, ...]
    final: Setting
    held: Array
    fitted: Array
    surface: tuple[tuple[Setting, float], ...]


def crossfit(
    rule: str,
    size: str,
    trials: Sequence[Trial],
    objective: Objective,
    folds: Integers,
    scales: Sequence[Scale],
    report: Report = lambda done: None,
) -> Fitted:
    """The `Fitted` settings of a rule for prompts in folds (P,), on its grid of this size.

    `scales` are those of the prompts without each fold, and of all: neither the choice nor the grid
    of a fold sees its prompts.
    """
    count = len(scales) - 1
    training = np.stack([*(folds != fold for fold in range(count)), folds >= 0]).astype(np.float64)
    best: dict[int, Setting] = {}
    for scale in dict.fromkeys(scales):
        settings = grid(rule, scale, size)
        places = [place for place, each in enumerate(scales) if each == scale]
        merit, sigma = merits(trials, settings, objective, training[places], report)
        for row, place in enumerate(places):
            best[place] = settings[objective.best(merit[row], sigma[row])]
        if count in places:
            surface = tuple(zip(settings, merit[-1].tolist(), strict=True))
    chosen = [best[place] for place in range(count + 1)]
    judged = judged_by_all(trials, chosen)
    held = judged[:, :, folds, np.arange(len(folds))]
    return Fitted(rule, tuple(chosen[:-1]), chosen[-1], held, judged[:, :, -1], surface)
