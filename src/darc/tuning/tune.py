"""A rule and its strengths chosen on a source, with the gain measured on prompts held out."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from darc.engine.deciding import Calibrations, parse_rules
from darc.errors import InputError, UnknownName
from darc.evaluation.bootstrap import (
    DRAWS,
    average,
    draw_counts,
    largest,
    noise_band,
    over_splits,
    unrounded,
)
from darc.evaluation.source import Source, shuffled
from darc.selection.rule import Scale
from darc.tuning.crossfit import (
    Fitted,
    Objective,
    Trial,
    crossfit,
    draw_trials,
    fold_numbers,
    judged_by_all,
)
from darc.tuning.grid import BEST_OF_K, Setting, grid, scale_of, tunable
from darc.typing import Array, Mask

CELLS_AT_ONCE = 8_000_000


@dataclass(frozen=True, eq=False)
class Gains:
    """Gain (A,) of each rule over the first one's outcome, and the interval's ends (A,) each."""

    gain: Array
    low: Array
    high: Array

    def of(self, place: int) -> tuple[float, float, float]:
        """A rule's gain and interval."""
        return float(self.gain[place]), float(self.low[place]), float(self.high[place])


def gains(
    statistic: Callable[[Array], Array], size: float, prompts: int, seed: int, draws: int = DRAWS
) -> Gains:
    """The `Gains` by a paired bootstrap over prompts.

    `statistic(counts)` gives (B, R, 1 + A) for prompts' weights (B, P), the baseline first, and
    `size` is the largest |value| that goes into it. The intervals are gain -+ `noise_band`, the
    same as that of `darc eval`: with probability 95 % all of them hold, so that the best of several
    rules is not taken for better than it is. O(draws R A P).
    """
    whole = differences(statistic(np.ones((1, prompts))), size)[0]
    step = max(1, CELLS_AT_ONCE // prompts)
    parts = [
        differences(statistic(draw_counts(prompts, min(step, draws - start), seed + start)), size)
        for start in range(0, draws, step)
    ]
    margin = noise_band(whole, np.concatenate(parts), np.asarray(size))
    return Gains(whole, whole - margin, whole + margin)


def differences(values: Array, size: float) -> Array:
    """(B, R, 1 + A) to the gains (B, A) over the first, averaged over the splits.

    What is within rounding of 0 is 0: equal choices gain nothing.
    """
    merged = over_splits(values)
    return unrounded(merged[:, 1:] - merged[:, :1], np.asarray(size))


Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class TunedRule:
    """What tuning one rule gives.

    `gain` with its interval is that of choosing the rule's setting so, measured on prompts that had
    no part in the choice; `in_sample` is the final setting's own gain on the prompts it was chosen
    on. `mean` is the change of the held-out mean and `sigma` the average held-out sigma, both with
    intervals. All are against Best-of-K on the evaluation halves.
    """

    rule: str
    setting: Setting
    gain: float
    low: float
    high: float
    in_sample: float
    mean: float
    mean_low: float
    mean_high: float
    sigma: float
    sigma_high: float
    by_fold: tuple[Setting, ...]
    surface: tuple[tuple[Setting, float], ...]

    @property
    def optimism(self) -> float:
        """By how much the in-sample gain exceeds the held-out one."""
        return self.in_sample - self.gain

    def as_json(self) -> dict[str, Any]:
        """The setting and what it gained."""
        return {
            "rule": self.rule,
            "setting": self.setting.text,
            "gain": self.gain,
            "interval": [self.low, self.high],
            "mean": self.mean,
            "mean_interval": [self.mean_low, self.mean_high],
        }


@dataclass(frozen=True)
class Tuned:
    """The rules by their held-out gain, the largest first, beside Best-of-K.

    `baseline` is Best-of-K's objective and `sigma` its average sigma; `tried` counts settings,
    `left_out` prompts that no
    split can use, and `selects` is how many samples most candidates have in the selection half.
    """

    name: str
    objective: Objective
    rows: tuple[TunedRule, ...]
    baseline: float
    sigma: float
    not_tuned: dict[str, str]
    prompts: int
    left_out: int
    selects: float
    folds: int
    repeats: int
    tried: int
    seed: int


def tune(
    source: Source,
    objective: Objective | None = None,
    *,
    rules: Sequence[str] | None = None,
    size: str = "coarse",
    folds: int = 5,
    repeats: int = 10,
    seed: int = 0,
    split: str = "auto",
    calibrations: Calibrations | None = None,
    progress: Progress = lambda done, total: None,
) -> Tuned:
    """What tuning every rule that can be tuned, or those named, gives on a source.

    Settings are compared on the evaluation halves of `repeats` splits of the samples; for every one
    of `folds` folds of prompts a setting is chosen on the others. The candidates of a prompt are
    put in a random order first, drawn from the seed. Rules that learn go by the `calibrations`, or
    else learn from a split's selecting half alone. `progress(done, total)` counts settings tried.
    Without an objective it is the tradeoff, or the mean where no half has a sigma to judge by.
    """
    source, aim = shuffled(source, seed), objective or Objective()
    if folds < 2 or repeats < 1:
        raise InputError(f"{folds} folds and {repeats} repeats", "use at least 2 and 1")
    names, absent = _rules(source, rules)
    parse_rules(names, {}, calibrations=calibrations)
    trials = draw_trials(source, aim.needs_risk, repeats, seed, split, calibrations)
    if objective is None and not trials:
        aim = Objective("mean")
        trials = draw_trials(source, aim.needs_risk, repeats, seed, split, calibrations)
    usable = np.zeros(len(source.prompt_ids), dtype=bool)
    usable = np.logical_or.reduce([usable, *(trial.usable for trial in trials)])
    _check(source, usable, aim, folds)
    samples = source.samples[usable]
    side = {name: array[usable] for name, array in source.side.items()}
    trials = [trial.among(usable) for trial in trials]
    numbers = fold_numbers(
        [name for name, use in zip(source.prompt_ids, usable, strict=True) if use], folds, seed
    )

    def scale(prompts: Mask) -> Scale:
        own = {name: array[prompts] for name, array in side.items()}
        return scale_of(samples[prompts], own, samples.shape[1] > 1)

    scales = {
        prompts.tobytes(): scale(prompts)
        for prompts in [*(numbers != fold for fold in range(folds)), numbers >= 0]
    }
    total = len(trials) * sum(
        len(grid(name, one, size)) for name in names for one in set(scales.values())
    )
    done = 0

    def report(more: int) -> None:
        nonlocal done
        done += more
        progress(done, total)

    fitted = []
    for name in names:

        def grid_of(prompts: Mask, name: str = name) -> tuple[Hashable, list[Setting]]:
            found = scales[prompts.tobytes()]
            return found, grid(name, found, size)

        fitted.append(crossfit(name, trials, aim, numbers, grid_of, report))
    return _tuned(source, aim, trials, fitted, absent, seed, folds, int((~usable).sum()))


def _tuned(
    source: Source,
    aim: Objective,
    trials: Sequence[Trial],
    fitted: Sequence[Fitted],
    absent: dict[str, str],
    seed: int,
    folds: int,
    left_out: int,
) -> Tuned:
    mean, sigma = judged_by_all(trials, [BEST_OF_K])
    among = np.stack([trial.usable for trial in trials])
    held = np.stack([mean[:, 0], *(each.mean for each in fitted)], axis=1)
    spread = np.stack([sigma[:, 0], *(each.sigma for each in fitted)], axis=1)
    final = np.stack([mean[:, 0], *(each.final_mean for each in fitted)], axis=1)
    final_spread = np.stack([sigma[:, 0], *(each.final_sigma for each in fitted)], axis=1)
    outcome, final_outcome = aim.outcome(held, spread), aim.outcome(final, final_spread)
    prompts, once = among.shape[1], np.ones((1, among.shape[1]))
    size = largest(outcome)
    found = gains(lambda counts: aim.over(outcome, among, counts), size, prompts, seed)
    means = gains(lambda counts: average(held, among, counts), largest(held), prompts, seed)
    risks = gains(lambda counts: average(spread, among, counts), largest(spread), prompts, seed)
    baseline = over_splits(aim.over(outcome, among, once))[0, 0]
    in_sample = differences(aim.over(final_outcome, among, once), size)[0]
    sigma_of_best = float(over_splits(average(spread, among, once))[0, 0])
    rows = [
        TunedRule(
            each.rule,
            each.final,
            *found.of(place),
            float(in_sample[place]),
            *means.of(place),
            sigma_of_best + float(risks.gain[place]),
            sigma_of_best + float(risks.high[place]),
            each.by_fold,
            tuple((setting, merit - float(baseline)) for setting, merit in each.surface),
        )
        for place, each in enumerate(fitted)
    ]
    return Tuned(
        source.name,
        aim,
        tuple(sorted(rows, key=lambda row: -row.gain)),
        float(baseline),
        sigma_of_best,
        absent,
        prompts,
        left_out,
        _typical_count(trials),
        folds,
        len(trials),
        sum(len(each.surface) for each in fitted),
        seed,
    )


def _typical_count(trials: Sequence[Trial]) -> float:
    counts = [(~np.isnan(trial.pools.samples)).sum(axis=3).max(axis=1) for trial in trials]
    return float(np.median(np.concatenate([count[count > 0] for count in counts])))


def _rules(source: Source, wanted: Sequence[str] | None) -> tuple[list[str], dict[str, str]]:
    """The rules to tune, and those that cannot be, with the reason."""
    known, absent = tunable(len(source.scorers), source.side)
    for name in wanted or ():
        if name in absent:
            raise InputError(f"rule {name!r} {absent[name]}, and {source.name} has none")
        if name not in known:
            raise UnknownName("rule to tune", name, [*known, *absent])
    return list(dict.fromkeys(wanted or known)), {} if wanted else absent


def _check(source: Source, usable: Mask, aim: Objective, folds: int) -> None:
    """Raise an `InputError` where a source is too small to tune on."""
    if source.shape[2] < 2:
        raise InputError(f"{source.name} has one candidate a prompt", "give two or more to choose")
    if not usable.any():
        least = (
            "two ratings to judge by, so four or more ratings a candidate"
            if aim.needs_risk
            else "two ratings a candidate"
        )
        raise InputError(
            f"{source.name} cannot be split into halves that select and judge: the objective "
            f"{aim.name!r} needs {least}",
            "use --objective cvar" if aim.needs_risk else "gather more ratings",
        )
    count = int(usable.sum())
    if count < 2 * folds:
        raise InputError(
            f"{source.name} has {count} prompt{'s' if count != 1 else ''} to tune on, not enough "
            f"for {folds} folds",
            f"give at least {2 * folds} with two candidates and enough ratings each"
            + (", or fewer --folds" if count >= 4 else ""),
        )
