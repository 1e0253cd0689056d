"""A setting chosen on some prompts and measured on the others."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from darc.analysis.bootstrap import average, over_splits, tail
from darc.analysis.tune.grid import BEST_OF_K
from darc.decide.decide_all import decide_all
from darc.decide.method import Method
from darc.decide.model.calibration_file import Calibrations
from darc.decide.sample_batch import SampleBatch
from darc.decide.statistics import draws
from darc.decide.statistics.arrays import check_level, check_share
from darc.decide.statistics.draws import prompt_seeds
from darc.decide.statistics.summary import batched
from darc.errors import InputError, UnknownName
from darc.ratings.ratings import Ratings
from darc.typing import Array, Integers, Mask

ATTEMPTS = 5
CELLS_AT_ONCE = 1_000_000
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
    batch: SampleBatch,
    methods: Sequence[Method],
    report: Report = lambda done: None,
) -> NDArray[np.int32]:
    """The candidate that each method chooses for each prompt, (G, P).

    The statistics are computed once for every beta, and each method is then a few array operations
    over (P, K): O(B P M K n + G P K) for B betas in a row. A rule that learns does so from the
    batch, for each method anew, unless it has a calibration. `report(1)` follows every method.
    """
    result = np.empty((len(methods), len(batch.samples)), dtype=np.int32)
    for row, outcome in zip(result, decide_all(methods, batch), strict=True):
        assert outcome.decisions is not None
        row[:] = outcome.decisions.index
        report(1)
    return result


@dataclass(frozen=True, eq=False)
class Trial:
    """One split: the samples of the selection half, and mean and sigma (U, K) on the other half.

    They are of the U prompts that count in this split, marked in `usable` (P,).
    """

    batch: SampleBatch
    seed: int
    mean: Array
    sigma: Array
    usable: Mask

    def judged(self, settings: Sequence[Method], report: Report = lambda done: None) -> Array:
        """Mean and sigma, (2, G, P), on the evaluation half of what settings choose.

        NaN for prompts that do not count. O(G U K), and what `choices` costs.
        """
        seeded = [replace(method, seed=self.seed) for method in settings]
        chosen = choices(self.batch, seeded, report)
        rows = np.arange(len(self.mean))
        result = np.full((2, len(settings), len(self.usable)), np.nan)
        result[:, :, self.usable] = self.mean[rows, chosen], self.sigma[rows, chosen]
        return result


def draw_trials(
    source: Ratings,
    needs_sigma: bool,
    repeats: int = 10,
    seed: int = 0,
    split: str = "auto",
    calibrations: Calibrations | None = None,
) -> Iterator[Trial]:
    """Trials of `repeats` splits, drawn one at a time.

    A candidate takes part where both halves know it: it has a sample that selects and a mean, or
    with `needs_sigma` a sigma, that judges. A prompt counts where at least two take part, and a
    split in which none does is drawn again, up to `ATTEMPTS` times a repeat.
    """
    way = source.split_unit(split)
    learning = source.has_raters and calibrations is None
    for drawn in range(seed, seed + ATTEMPTS * repeats):
        halves = source.halves(way, drawn)
        # Pooling over prompts would let one prompt move the units of another.
        judged = batched(halves.judge.samples, 0.0, 0.0, source.constants)
        known = ~np.isnan(judged.sigma if needs_sigma else judged.mean)
        part = known & halves.select.present.any(axis=(1, 3))
        usable = part.sum(axis=1) > 1
        if not usable.any():
            continue
        samples = np.where(part[:, None, :, None], halves.select.samples, np.nan)
        select = replace(halves.select, samples=samples)
        systems = "recurring" if learning else "all"
        batch = select.sample_batch(np.flatnonzero(usable), systems)
        yield Trial(batch, drawn, judged.mean[usable], judged.sigma[usable], usable)
        repeats -= 1
        if not repeats:
            return


def fold_numbers(prompt_ids: Sequence[str], folds: int, seed: int) -> Integers:
    """The fold of every prompt, (P,): of equal sizes but for one, by (seed, prompt_id) alone."""
    return draws.folds(prompt_seeds(seed, (f"fold {name}" for name in prompt_ids)), folds)


def merits(
    trials: Iterable[Trial],
    settings: Sequence[Method],
    objective: Objective,
    training: Array,
    report: Report = lambda done: None,
) -> tuple[Array, Array]:
    """Objective and average sigma (F, G) of settings on weighted prompts (F, P), over all trials.

    O(R G (P K + F P)); at most `CELLS_AT_ONCE` outcomes are held at a time.
    """
    step = max(1, CELLS_AT_ONCE // training.shape[1])
    parts = [slice(start, start + step) for start in range(0, len(settings), step)]
    found = []
    for trial in trials:
        among, row = trial.usable[None], np.full((2, len(training), len(settings)), np.nan)
        for part in parts:
            means, sigmas = trial.judged(settings[part], report)
            outcome = objective.outcome(means, sigmas)[None]
            row[0][:, part] = objective.over(outcome, among, training)[:, 0]
            if objective.risk_cap is not None:
                row[1][:, part] = average(sigmas[None], among, training)[:, 0]
        found.append(row)
    merit, sigma = np.stack(found, axis=2)
    return over_splits(merit), over_splits(sigma)


class Fitted(NamedTuple):
    """The settings of A rules after Best-of-K: of every fold, chosen on the others, and of all.

    `chosen` (1 + A, F + 1) has the folds' settings of each and, last, the one chosen on all. `held`
    (2, R, 1 + A, P) is mean and sigma on every prompt of its own fold's setting, `final` those of
    the last one; `surfaces` have the objective on all prompts of every setting tried, for each.
    """

    chosen: list[list[Method]]
    held: Array
    final: Array
    surfaces: list[list[tuple[Method, float]]]


def crossfit(
    grids: Sequence[Sequence[Sequence[Method]]],
    trials: Callable[[], Iterable[Trial]],
    objective: Objective,
    folds: Integers,
    report: Report = lambda done: None,
) -> Fitted:
    """The `Fitted` settings of rules for prompts in folds (P,).

    `grids` (A, F + 1) are the settings of each rule that are tried without each fold, and on all:
    neither the choice nor the grid of a fold sees its prompts. The trials are gone over twice.
    """
    every = {setting.text: setting for own in grids for tried in own for setting in tried}
    # Settings of one beta, of whatever rule, share its statistics.
    settings = sorted(every.values(), key=lambda method: method.beta)
    column = {setting.text: place for place, setting in enumerate(settings)}
    last = len(grids[0]) - 1
    training = np.stack([*(folds != fold for fold in range(last)), folds >= 0]).astype(np.float64)
    merit, sigma = merits(trials(), settings, objective, training, report)
    chosen, surfaces = [[BEST_OF_K] * (last + 1)], []
    for own in grids:
        columns = [[column[setting.text] for setting in tried] for tried in own]
        places = [objective.best(merit[f, at], sigma[f, at]) for f, at in enumerate(columns)]
        chosen.append([tried[place] for tried, place in zip(own, places, strict=True)])
        surfaces.append(list(zip(own[-1], merit[-1, columns[-1]].tolist(), strict=True)))
    flat = [setting for own in chosen for setting in own]
    held, final = [], []
    for trial in trials():
        judged = trial.judged(flat).reshape(2, len(chosen), last + 1, len(folds))
        held.append(np.ascontiguousarray(judged[:, :, folds, np.arange(len(folds))]))
        final.append(judged[:, :, -1].copy())
    return Fitted(chosen, np.stack(held, axis=1), np.stack(final, axis=1), surfaces)
