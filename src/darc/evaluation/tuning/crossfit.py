"""A setting chosen on some prompts and measured on the others."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from darc.core import draws
from darc.core.draws import prompt_seeds
from darc.evaluation.bootstrap import average, over_splits
from darc.evaluation.tuning.choices import Report
from darc.evaluation.tuning.objective import Objective
from darc.evaluation.tuning.setting import Setting
from darc.evaluation.tuning.trials import Trial, judged_by_all
from darc.typing import Array, Integers, Mask

CELLS_AT_ONCE = 4_000_000


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

    `mean` and `sigma` (R, P) are the outcomes on every prompt of its own fold's setting, and
    `final_mean` and `final_sigma` those of the final one; `surface` has the objective on all
    prompts of every setting tried.
    """

    rule: str
    by_fold: tuple[Setting, ...]
    final: Setting
    mean: Array
    sigma: Array
    final_mean: Array
    final_sigma: Array
    surface: tuple[tuple[Setting, float], ...]


def crossfit(
    rule: str,
    trials: Sequence[Trial],
    objective: Objective,
    folds: Integers,
    grid_of: Callable[[Mask], tuple[Hashable, list[Setting]]],
    report: Report = lambda done: None,
) -> Fitted:
    """The `Fitted` settings of a rule for prompts in folds (P,).

    `grid_of(prompts)` gives the settings to try for a choice on these prompts, and a key that is
    equal for equal grids: neither the choice nor the grid of a fold sees its prompts.
    """
    count = int(folds.max()) + 1
    training = [folds != fold for fold in range(count)] + [np.ones(len(folds), dtype=bool)]
    by_key: dict[Hashable, tuple[list[Setting], list[int]]] = {}
    for place, prompts in enumerate(training):
        key, settings = grid_of(prompts)
        by_key.setdefault(key, (settings, []))[1].append(place)
    best: dict[int, Setting] = {}
    surface: tuple[tuple[Setting, float], ...] = ()
    for settings, places in by_key.values():
        weights = np.stack([training[place] for place in places]).astype(np.float64)
        merit, sigma = merits(trials, settings, objective, weights, report)
        for row, place in enumerate(places):
            best[place] = settings[objective.best(merit[row], sigma[row])]
        if count in places:
            surface = tuple(zip(settings, merit[-1].tolist(), strict=True))
    chosen = [best[place] for place in range(count + 1)]
    mean, spread = judged_by_all(trials, chosen)
    prompts_in_order = np.arange(len(folds))
    return Fitted(
        rule,
        tuple(chosen[:-1]),
        chosen[-1],
        mean[:, folds, prompts_in_order],
        spread[:, folds, prompts_in_order],
        mean[:, -1],
        spread[:, -1],
        surface,
    )
