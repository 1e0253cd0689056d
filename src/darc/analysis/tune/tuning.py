"""A rule and its strengths chosen on a source, with the gain measured on prompts held out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from darc.analysis.bootstrap import (
    DRAWS,
    average,
    draw_counts,
    largest,
    noise_band,
    over_splits,
    resampled,
    unrounded,
)
from darc.analysis.evaluate.methods import ready_methods
from darc.analysis.tune.crossfit import Fitted, Objective, crossfit, draw_trials, fold_numbers
from darc.analysis.tune.grid import grid, scale_of, tunable
from darc.decide.method import Method, parse_methods
from darc.decide.model.calibration_file import Calibrations
from darc.errors import InputError, UnknownName
from darc.ratings.ratings import Ratings
from darc.typing import Array, Mask

Progress = Callable[[int, int | None], None]


class Gains(NamedTuple):
    """Gain (A,) of each rule over the first one's outcome, and the interval's ends (A,) each."""

    gain: Array
    low: Array
    high: Array


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
    counts = draw_counts(prompts, draws, seed)
    drawn = resampled(lambda part: differences(statistic(part), size), counts)
    margin = noise_band(whole, drawn, np.asarray(size))
    return Gains(whole, whole - margin, whole + margin)


def differences(values: Array, size: float) -> Array:
    """(B, R, 1 + A) to the gains (B, A) over the first, averaged over the splits.

    What is within rounding of 0 is 0: equal choices gain nothing.
    """
    merged = over_splits(values)
    return unrounded(merged[:, 1:] - merged[:, :1], np.asarray(size))


@dataclass(frozen=True)
class TunedRule:
    """What tuning one rule gives.

    `gain` with its interval is that of choosing the rule's setting so, measured on prompts that had
    no part in the choice; `in_sample` is the final setting's own gain on the prompts it was chosen
    on. `mean` is the change of the held-out mean and `sigma` the average held-out sigma, both with
    intervals. All are against Best-of-K on the evaluation halves.
    """

    rule: str
    setting: Method
    gain: float
    low: float
    high: float
    in_sample: float
    mean: float
    mean_low: float
    mean_high: float
    sigma: float
    sigma_high: float
    by_fold: tuple[Method, ...]
    surface: tuple[tuple[Method, float], ...]

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
    `left_out` prompts that no split can use, and `selects` is how many samples most candidates have
    in the selection half.
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
    source: Ratings,
    objective: Objective | None = None,
    *,
    rules: Sequence[str] | None = None,
    size: str = "coarse",
    folds: int = 5,
    repeats: int = 10,
    seed: int = 0,
    split: str = "auto",
    calibrations: Calibrations | None = None,
    caution: str | None = None,
    progress: Progress = lambda done, total: None,
) -> Tuned:
    """What tuning every rule that can be tuned, or those named, gives on a source.

    Settings are compared on the evaluation halves of `repeats` splits of the samples; for every one
    of `folds` folds of prompts a setting is chosen on the others. The candidates of a prompt are
    put in a random order first, drawn from the seed. Rules that learn go by the `calibrations`, or
    else learn from a split's selecting half alone. `caution` is that of the rules that have one, of
    which at least one must be tuned. `progress(done, total)` counts settings tried.
    Without an objective it is the tradeoff, or the mean where no half has a sigma to judge by.
    """
    source = source.shuffled(seed)
    if folds < 2 or repeats < 1:
        raise InputError(f"{folds} folds and {repeats} repeats", "use at least 2 and 1")
    names, absent = _rules(source, rules)
    shared = {} if caution is None else {"caution": caution}
    parse_methods(names, shared, calibrations=calibrations)
    for aim in (objective,) if objective else (Objective(), Objective("mean")):
        drawn = partial(draw_trials, source, aim.needs_risk, repeats, seed, split, calibrations)
        seen = [
            (trial.usable, (~np.isnan(trial.batch.samples)).sum(axis=3).max(axis=1))
            for trial in drawn()
        ]
        if seen:
            break
    among: Mask = np.array([each for each, _ in seen])
    usable: Mask = np.any(among, axis=0)
    _check(source, usable, aim, folds)
    kept = np.flatnonzero(usable)
    numbers = fold_numbers([source.prompt_ids[place] for place in kept.tolist()], folds, seed)
    scales = [
        scale_of(
            source.samples[part],
            {name: array[part] for name, array in source.side.items()},
            len(source.scorers) > 1,
        )
        for part in (*(kept[numbers != fold] for fold in range(folds)), kept)
    ]
    grids = [
        [_ready_grid(source, calibrations, grid(name, scale, size, shared)) for scale in scales]
        for name in names
    ]
    tried = {setting.text for own in grids for settings in own for setting in settings}
    done = count(1)
    fitted = crossfit(
        grids,
        lambda: (replace(trial, usable=trial.usable[usable]) for trial in drawn()),
        aim,
        numbers,
        lambda more: progress(next(done), len(seen) * len(tried)),
    )
    rows, baseline, sigma = _rows(aim, fitted, among[:, usable], seed)
    return Tuned(
        source.name,
        aim,
        rows,
        baseline,
        sigma,
        absent,
        len(kept),
        len(usable) - len(kept),
        float(np.median(np.concatenate([each[each > 0] for _, each in seen]))),
        folds,
        len(seen),
        sum(len(surface) for surface in fitted.surfaces),
        seed,
    )


def _ready_grid(
    source: Ratings, calibrations: Calibrations | None, methods: Sequence[Method]
) -> list[Method]:
    """The methods of a grid with what they have learnt before."""
    return ready_methods([method.with_calibrations(calibrations) for method in methods], source)


def _rows(
    aim: Objective, fitted: Fitted, among: Mask, seed: int
) -> tuple[tuple[TunedRule, ...], float, float]:
    """What each rule gains, the largest first; Best-of-K's objective and average sigma."""
    mean, sigma = fitted.held
    outcome, once = aim.outcome(mean, sigma), np.ones((1, among.shape[1]))

    def gained(over: Callable[[Array, Mask, Array], Array], values: Array) -> Gains:
        size = largest(values)
        return gains(lambda counts: over(values, among, counts), size, among.shape[1], seed)

    risks = gained(average, sigma)
    merit = float(over_splits(aim.over(outcome, among, once))[0, 0])
    risk = float(over_splits(average(sigma, among, once))[0, 0])
    final = aim.over(aim.outcome(*fitted.final), among, once)
    in_sample = differences(final, largest(outcome))[0]
    sigmas = risk + risks.gain, risk + risks.high
    columns = (*gained(aim.over, outcome), in_sample, *gained(average, mean), *sigmas)
    rows = zip(
        *([own[-1].rule.name for own in fitted.chosen[1:]], [own[-1] for own in fitted.chosen[1:]]),
        *(column.tolist() for column in columns),
        [tuple(own[:-1]) for own in fitted.chosen[1:]],
        [tuple((setting, each - merit) for setting, each in own) for own in fitted.surfaces],
        strict=True,
    )
    return tuple(sorted((TunedRule(*row) for row in rows), key=lambda row: -row.gain)), merit, risk


def _rules(source: Ratings, wanted: Sequence[str] | None) -> tuple[list[str], dict[str, str]]:
    """The rules to tune, and those that cannot be, with the reason."""
    known, absent = tunable(len(source.scorers), source.side)
    for name in wanted or ():
        if name in absent:
            raise InputError(f"rule {name!r} {absent[name]}, and {source.name} has none")
        if name not in known:
            raise UnknownName("rule to tune", name, [*known, *absent])
    return list(dict.fromkeys(wanted or known)), {} if wanted else absent


def _check(source: Ratings, usable: Mask, aim: Objective, folds: int) -> None:
    """Raise an `InputError` where a source is too small to tune on."""
    if source.shape[2] < 2:
        raise InputError(f"{source.name} has one candidate a prompt", "give two or more to choose")
    count = int(usable.sum())
    if not count:
        least, hint = "two ratings a candidate", "gather more ratings"
        if aim.needs_risk:
            least = "two ratings to judge by, so four or more ratings a candidate"
            hint = "use --objective cvar"
        raise InputError(
            f"{source.name} cannot be split into halves that select and judge: the objective "
            f"{aim.name!r} needs {least}",
            hint,
        )
    if count < 2 * folds:
        raise InputError(
            f"{source.name} has {count} prompt{'s' if count != 1 else ''} to tune on, not enough "
            f"for {folds} folds",
            f"give at least {2 * folds} with two candidates and enough ratings each"
            + (", or fewer --folds" if count >= 4 else ""),
        )
