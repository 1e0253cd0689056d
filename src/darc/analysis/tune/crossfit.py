"""Methods chosen on some prompts and measured on the others."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from darc.analysis.bootstrap import average, over_splits
from darc.analysis.tune.grid import BEST_OF_K
from darc.analysis.tune.objective import Objective
from darc.analysis.tune.trials import MethodsTried, Trial, ignore_tried
from darc.decide.method import Method
from darc.decide.statistics import draws
from darc.decide.statistics.draws import prompt_seeds
from darc.typing import Array, Integers

# How many outcomes are held in memory at a time.
CELLS_AT_ONCE = 1_000_000


def fold_numbers(prompt_ids: Sequence[str], folds: int, seed: int) -> Integers:
    """The fold of every prompt, (P,): of equal sizes but for one, by (seed, prompt_id) alone."""
    return draws.folds(prompt_seeds(seed, (f"fold {name}" for name in prompt_ids)), folds)


def merits(
    trials: Iterable[Trial],
    methods: Sequence[Method],
    objective: Objective,
    training: Array,
    report: MethodsTried = ignore_tried,
) -> tuple[Array, Array]:
    """The objective of each method on weighted prompts, over all trials. O(R G (P K + F P)).

    Args:
        trials: The splits.
        methods: G methods.
        objective: What to measure.
        training: Weights of the prompts, (F, P).
        report: Called after every method and trial.

    Returns:
        Objectives and average sigmas, (F, G) each; sigmas are NaN where there is no risk cap.
    """
    step = max(1, CELLS_AT_ONCE // training.shape[1])
    blocks = [slice(start, start + step) for start in range(0, len(methods), step)]
    merit_by_trial = []
    sigma_by_trial = []
    for trial in trials:
        among = trial.usable[None]
        merit = np.full((len(training), len(methods)), np.nan)
        sigma = np.full((len(training), len(methods)), np.nan)
        for block in blocks:
            means, sigmas = trial.judged(methods[block], report)
            outcome = objective.outcome(means, sigmas)[None]
            merit[:, block] = objective.over(outcome, among, training)[:, 0]
            if objective.risk_cap is not None:
                sigma[:, block] = average(sigmas[None], among, training)[:, 0]
        merit_by_trial.append(merit)
        sigma_by_trial.append(sigma)
    return (
        over_splits(np.stack(merit_by_trial, axis=1)),
        over_splits(np.stack(sigma_by_trial, axis=1)),
    )


@dataclass(frozen=True)
class FittedRule:
    """The methods of one rule that were chosen."""

    #: The method chosen without each fold, (F,).
    by_fold: tuple[Method, ...]
    #: The method chosen on all prompts.
    final: Method
    #: The objective on all prompts of every method that was tried.
    surface: tuple[tuple[Method, float], ...] = ()


@dataclass(frozen=True, eq=False)
class Crossfit:
    """The chosen methods of Best-of-K and A rules, and how they do on R splits of P prompts."""

    #: Best-of-K, and then each rule, (1 + A,).
    rules: tuple[FittedRule, ...]
    #: The mean and the sigma on each prompt by the method chosen without its fold, (R, 1 + A, P).
    held_out_mean: Array
    held_out_sigma: Array
    #: The mean and the sigma on each prompt by the method chosen on all, (R, 1 + A, P).
    final_mean: Array
    final_sigma: Array


def crossfit(
    grids: Sequence[Sequence[Sequence[Method]]],
    draw_trials: Callable[[], Iterable[Trial]],
    objective: Objective,
    folds: Integers,
    report: MethodsTried = ignore_tried,
) -> Crossfit:
    """Choose a method of each rule without each fold of the prompts, and on all of them.

    Neither the choice nor the grid of a fold sees its prompts.

    Args:
        grids: For each of A rules, the methods to try without each of F folds, and on all prompts.
        draw_trials: Draws the splits; it is called twice.
        objective: What to raise.
        folds: The fold of every prompt, (P,).
        report: Called after every method and trial.
    """
    by_text = {
        method.text: method for rule_grids in grids for grid in rule_grids for method in grid
    }
    # Methods of one beta, of whatever rule, share its statistics.
    methods = sorted(by_text.values(), key=lambda method: method.beta)
    column = {method.text: index for index, method in enumerate(methods)}
    fold_count = len(grids[0]) - 1
    training = np.ones((fold_count + 1, len(folds)))
    for fold in range(fold_count):
        training[fold] = folds != fold
    merit, sigma = merits(draw_trials(), methods, objective, training, report)
    rules = [FittedRule(by_fold=(BEST_OF_K,) * fold_count, final=BEST_OF_K)]
    for rule_grids in grids:
        chosen = []
        for fold, grid in enumerate(rule_grids):
            columns = [column[method.text] for method in grid]
            best = objective.best(merit[fold, columns], sigma[fold, columns])
            chosen.append(grid[best])
        final_grid = rule_grids[-1]
        surface = tuple((method, float(merit[-1, column[method.text]])) for method in final_grid)
        rules.append(FittedRule(tuple(chosen[:-1]), chosen[-1], surface))
    return _measured(rules, draw_trials(), folds)


def _measured(rules: Sequence[FittedRule], trials: Iterable[Trial], folds: Integers) -> Crossfit:
    """How the chosen methods do on every split."""
    methods = [method for rule in rules for method in (*rule.by_fold, rule.final)]
    prompts = np.arange(len(folds))
    held_out = []
    final = []
    for trial in trials:
        judged = trial.judged(methods).reshape(2, len(rules), -1, len(folds))
        held_out.append(np.ascontiguousarray(judged[:, :, folds, prompts]))
        final.append(judged[:, :, -1].copy())
    held_out_mean, held_out_sigma = np.stack(held_out, axis=1)
    final_mean, final_sigma = np.stack(final, axis=1)
    return Crossfit(tuple(rules), held_out_mean, held_out_sigma, final_mean, final_sigma)
