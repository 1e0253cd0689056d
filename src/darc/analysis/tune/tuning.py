"""A rule and its parameters chosen on ratings, with the gain measured on prompts held out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from darc.analysis.bootstrap import average, largest, over_splits
from darc.analysis.evaluate.methods import ready_methods
from darc.analysis.tune.crossfit import Crossfit, crossfit, fold_numbers
from darc.analysis.tune.gains import Gains, differences, gains
from darc.analysis.tune.grid import grid, scale_of, tunable
from darc.analysis.tune.objective import Objective
from darc.analysis.tune.trials import Trial, draw_trials
from darc.decide.method import Method, parse_methods
from darc.decide.model.calibration_file import Calibrations
from darc.decide.registry import DEFAULT_RULE
from darc.decide.tuning_grid import Scale
from darc.errors import InputError, UnknownName
from darc.ratings.ratings import Ratings
from darc.typing import Array, Integers, Mask

#: Called with the number of methods that were tried, and of how many.
Progress = Callable[[int, int | None], None]


def ignore_progress(done: int, total: int | None) -> None:
    """Take no notice of the progress."""


@dataclass(frozen=True)
class TunedRule:
    """What tuning one rule gives, against Best-of-K on the judging halves."""

    #: The name of the rule.
    rule: str
    #: The rule with the parameters that were chosen on all prompts.
    setting: Method
    #: The gain of choosing parameters so, on prompts that had no part in the choice.
    gain: float
    #: The ends of its interval.
    low: float
    high: float
    #: The gain of `setting` on the prompts it was chosen on.
    in_sample: float
    #: The change of the held-out mean and the ends of its interval.
    mean: float
    mean_low: float
    mean_high: float
    #: The average held-out sigma and the upper end of its interval.
    sigma: float
    sigma_high: float
    #: The methods chosen without each fold.
    by_fold: tuple[Method, ...]
    #: The gain on all prompts of every method that was tried.
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
    """The rules by their held-out gain, beside Best-of-K."""

    #: The name of the ratings.
    name: str
    objective: Objective
    #: The rules, the one with the largest gain first.
    rows: tuple[TunedRule, ...]
    #: Best-of-K's objective and its average sigma.
    baseline: float
    sigma: float
    #: Why a rule was not tuned, by its name.
    not_tuned: dict[str, str]
    #: The number of prompts that count, and of those that no split can use.
    prompts: int
    left_out: int
    #: How many samples most candidates have in the selecting half.
    selects: float
    #: The number of folds of prompts, and of splits into halves.
    folds: int
    splits: int
    #: The number of methods that were tried.
    tried: int
    seed: int


@dataclass(frozen=True)
class _TrialPlan:
    """How splits are drawn."""

    ratings: Ratings
    objective: Objective
    splits: int
    seed: int
    split: str
    calibrations: Calibrations | None

    def draw(self) -> Iterator[Trial]:
        """The splits, drawn one at a time."""
        return draw_trials(
            self.ratings,
            self.objective.needs_risk,
            self.splits,
            self.seed,
            self.split,
            self.calibrations,
        )


@dataclass(frozen=True, eq=False)
class _TrialSizes:
    """What is known of the splits before anything is tried on them."""

    #: The prompts that count in each split, (R, P).
    usable: Mask
    #: How many samples most candidates have in the selecting half.
    selects: float


def tune(
    ratings: Ratings,
    objective: Objective | None = None,
    *,
    rules: Sequence[str] | None = None,
    size: str = "coarse",
    folds: int = 5,
    splits: int = 10,
    seed: int = 0,
    split: str = "auto",
    calibrations: Calibrations | None = None,
    caution: str | None = None,
    progress: Progress = ignore_progress,
) -> Tuned:
    """Tune every rule that can be tuned, or those named.

    Methods are compared on the judging halves of splits of the samples; for every fold of the
    prompts a method is chosen on the others. The candidates of a prompt are put in a random order
    first, drawn from the seed.

    Args:
        ratings: The ratings.
        objective: What to raise; without it the tradeoff, or the mean where no half has a sigma
            to judge by.
        rules: The names of the rules.
        size: How fine the grids are, "coarse" or "fine".
        folds: The number of folds of the prompts.
        splits: The number of splits of the samples into halves.
        seed: Seed of the splits, the folds and the order of candidates.
        split: What is split into halves, see `Ratings.split_unit`.
        calibrations: What rules that learn go by; without it they learn from a split's selecting
            half alone.
        caution: The caution of the rules that have one, of which at least one must be tuned.
        progress: Called after every method that was tried.

    Returns:
        For each rule its best setting and the held-out gain over Best-of-K.

    Raises:
        InputError: If the ratings are too few, or a rule cannot be tuned on them.
    """
    ratings = ratings.shuffled(seed)
    if folds < 2 or splits < 1:
        raise InputError(f"{folds} folds and {splits} splits", "use at least 2 and 1")
    names, not_tuned = _rules_to_tune(ratings, rules)
    parameters = {}
    if caution is not None:
        parameters["caution"] = caution
    # This refuses a caution or calibrations that no rule takes.
    parse_methods(names, parameters, calibrations=calibrations)
    objectives = [objective] if objective else [Objective(), Objective("mean")]
    plans = [
        _TrialPlan(ratings, candidate, splits, seed, split, calibrations)
        for candidate in objectives
    ]
    plan, sizes = _first_usable(plans)
    usable = np.any(sizes.usable, axis=0)
    _check_size(ratings, usable, plan.objective, folds)
    prompts = np.flatnonzero(usable)
    prompt_ids = [ratings.prompt_ids[prompt] for prompt in prompts.tolist()]
    fold_of_prompt = fold_numbers(prompt_ids, folds, seed)
    training_sets = [prompts[fold_of_prompt != fold] for fold in range(folds)]
    scales = [_scale_on(ratings, part) for part in (*training_sets, prompts)]

    def ready_grid(rule: str, scale: Scale) -> list[Method]:
        methods = grid(rule, scale, size, parameters)
        calibrated = [method.with_calibrations(calibrations) for method in methods]
        return ready_methods(calibrated, ratings)

    grids = [[ready_grid(name, scale) for scale in scales] for name in names]
    texts = {method.text for rule_grids in grids for part in rule_grids for method in part}
    counter = _Counter(progress, len(sizes.usable) * len(texts))
    result = crossfit(
        grids,
        lambda: (replace(trial, usable=trial.usable[usable]) for trial in plan.draw()),
        plan.objective,
        fold_of_prompt,
        counter.add,
    )
    among = sizes.usable[:, usable]
    once = np.ones((1, len(prompts)))
    outcome = plan.objective.outcome(result.held_out_mean, result.held_out_sigma)
    baseline = float(over_splits(plan.objective.over(outcome, among, once))[0, 0])
    sigma = float(over_splits(average(result.held_out_sigma, among, once))[0, 0])
    return Tuned(
        name=ratings.name,
        objective=plan.objective,
        rows=_tuned_rules(plan.objective, result, among, seed, baseline, sigma),
        baseline=baseline,
        sigma=sigma,
        not_tuned=not_tuned,
        prompts=len(prompts),
        left_out=len(usable) - len(prompts),
        selects=sizes.selects,
        folds=folds,
        splits=len(sizes.usable),
        tried=sum(len(rule.surface) for rule in result.rules),
        seed=seed,
    )


class _Counter:
    """Counts what is done, and reports it."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def add(self, count: int) -> None:
        """Count some more."""
        self._done += count
        self._progress(self._done, self._total)


def _first_usable(plans: Sequence[_TrialPlan]) -> tuple[_TrialPlan, _TrialSizes]:
    """The first plan that has a usable prompt, or else the last, with what is known of it."""
    for plan in plans:
        sizes = _trial_sizes(plan)
        if sizes.usable.any():
            break
    return plan, sizes


def _trial_sizes(plan: _TrialPlan) -> _TrialSizes:
    """Draw all splits once, to see which prompts count."""
    usable = []
    counts = []
    for trial in plan.draw():
        usable.append(trial.usable)
        # The samples of each candidate from the scorer that has the most.
        count = (~np.isnan(trial.batch.samples)).sum(axis=3).max(axis=1)
        counts.append(count[count > 0])
    if not usable:
        return _TrialSizes(np.zeros((0, len(plan.ratings.prompt_ids)), dtype=bool), 0.0)
    return _TrialSizes(np.array(usable), float(np.median(np.concatenate(counts))))


def _scale_on(ratings: Ratings, prompts: Integers) -> Scale:
    """The scale of the samples of some prompts."""
    side = {name: array[prompts] for name, array in ratings.side.items()}
    return scale_of(ratings.samples[prompts], side, normalized=len(ratings.scorers) > 1)


def _tuned_rules(
    objective: Objective, result: Crossfit, among: Mask, seed: int, baseline: float, sigma: float
) -> tuple[TunedRule, ...]:
    """What each rule gains, the largest first.

    Args:
        objective: What is raised.
        result: The chosen methods and their outcomes.
        among: The prompts that count in each split, (R, P).
        seed: Seed of the bootstrap.
        baseline: Best-of-K's objective.
        sigma: Best-of-K's average sigma.
    """
    prompts = among.shape[1]
    names = [rule.final.rule.name for rule in result.rules[1:]]
    default = names.index(DEFAULT_RULE) if DEFAULT_RULE in names else None

    def gains_in(over: Callable[[Array, Mask, Array], Array], values: Array) -> Gains:
        """The gains in what `over` makes of values (R, 1 + A, P)."""
        size = largest(values)
        return gains(
            lambda counts: over(values, among, counts), size, prompts, seed, default=default
        )

    outcome = objective.outcome(result.held_out_mean, result.held_out_sigma)
    final = objective.outcome(result.final_mean, result.final_sigma)
    in_objective = gains_in(objective.over, outcome)
    in_mean = gains_in(average, result.held_out_mean)
    in_sigma = gains_in(average, result.held_out_sigma)
    final_values = objective.over(final, among, np.ones((1, prompts)))
    in_sample = differences(final_values, largest(outcome))[0]
    rows = []
    for index, rule in enumerate(result.rules[1:]):
        row = TunedRule(
            rule=rule.final.rule.name,
            setting=rule.final,
            gain=float(in_objective.gain[index]),
            low=float(in_objective.low[index]),
            high=float(in_objective.high[index]),
            in_sample=float(in_sample[index]),
            mean=float(in_mean.gain[index]),
            mean_low=float(in_mean.low[index]),
            mean_high=float(in_mean.high[index]),
            sigma=sigma + float(in_sigma.gain[index]),
            sigma_high=sigma + float(in_sigma.high[index]),
            by_fold=rule.by_fold,
            surface=tuple((method, merit - baseline) for method, merit in rule.surface),
        )
        rows.append(row)
    return tuple(sorted(rows, key=lambda row: -row.gain))


def _rules_to_tune(
    ratings: Ratings, names: Sequence[str] | None
) -> tuple[list[str], dict[str, str]]:
    """The rules to tune, and why the others cannot be."""
    tunable_rules, absent = tunable(len(ratings.scorers), ratings.side)
    if not names:
        return tunable_rules, absent
    for name in names:
        if name in absent:
            raise InputError(f"rule {name!r} {absent[name]}, and {ratings.name} has none")
        if name not in tunable_rules:
            raise UnknownName("rule to tune", name, [*tunable_rules, *absent])
    return list(dict.fromkeys(names)), {}


def _check_size(ratings: Ratings, usable: Mask, objective: Objective, folds: int) -> None:
    """Raise an `InputError` where there are too few ratings to tune on."""
    if ratings.shape[2] < 2:
        message = f"{ratings.name} has one candidate per prompt"
        raise InputError(message, "give two or more to choose")
    count = int(usable.sum())
    if not count:
        needed = "two ratings per candidate"
        hint = "gather more ratings"
        if objective.needs_risk:
            needed = "two ratings to judge by, so four or more ratings per candidate"
            hint = "use --objective cvar"
        raise InputError(
            f"{ratings.name} cannot be split into halves that select and judge: the objective "
            f"{objective.name!r} needs {needed}",
            hint,
        )
    if count < 2 * folds:
        noun = "prompt" if count == 1 else "prompts"
        hint = f"give at least {2 * folds} with two candidates and enough ratings each"
        if count >= 4:
            hint += ", or fewer --folds"
        raise InputError(
            f"{ratings.name} has {count} {noun} to tune on, not enough for {folds} folds", hint
        )
