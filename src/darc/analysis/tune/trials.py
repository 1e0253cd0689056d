"""Splits of ratings on which methods are tried."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from darc.decide.decide_all import decide_all
from darc.decide.method import Method
from darc.decide.model.calibration_file import Calibrations
from darc.decide.sample_batch import SampleBatch
from darc.decide.statistics.summary import batched
from darc.ratings.ratings import Halves, Ratings
from darc.typing import Array, Mask

# How many splits are drawn for one that has a usable prompt.
_MAX_ATTEMPTS = 5

#: Called with the number of methods that were tried since the last call.
MethodsTried = Callable[[int], None]


def ignore_tried(count: int) -> None:
    """Take no notice of how many methods were tried."""


def choices(
    batch: SampleBatch, methods: Sequence[Method], report: MethodsTried = ignore_tried
) -> NDArray[np.int32]:
    """The candidate that each method chooses for each prompt.

    The statistics are computed once for every beta, and each method is then a few array operations
    over (P, K): O(B P M K n + G P K) for B betas in a row. A rule that learns does so from the
    batch, for each method anew, unless it has a calibration.

    Args:
        batch: The samples of P prompts.
        methods: G methods, best sorted by beta.
        report: Called after every method.

    Returns:
        Indices of candidates, (G, P).
    """
    result = np.empty((len(methods), len(batch.samples)), dtype=np.int32)
    for row, outcome in zip(result, decide_all(methods, batch), strict=True):
        assert outcome.decisions is not None
        row[:] = outcome.decisions.index
        report(1)
    return result


@dataclass(frozen=True, eq=False)
class Trial:
    """One split into halves, of whose P prompts U count."""

    #: The samples of the selecting half, of the U prompts.
    batch: SampleBatch
    #: Seed of the rules that draw at random.
    seed: int
    #: The mean and the sigma of each candidate on the judging half, (U, K).
    mean: Array
    sigma: Array
    #: The prompts that count, (P,).
    usable: Mask

    def judged(self, methods: Sequence[Method], report: MethodsTried = ignore_tried) -> Array:
        """What methods choose, judged by the other half. O(G U K), and what `choices` costs.

        Returns:
            Mean and sigma of the choices, (2, G, P), NaN for prompts that do not count.
        """
        seeded = [replace(method, seed=self.seed) for method in methods]
        chosen = choices(self.batch, seeded, report)
        prompts = np.arange(len(self.mean))
        result = np.full((2, len(methods), len(self.usable)), np.nan)
        outcomes = np.stack([self.mean[prompts, chosen], self.sigma[prompts, chosen]])
        result[:, :, self.usable] = outcomes
        return result


def draw_trials(
    ratings: Ratings,
    needs_sigma: bool,
    splits: int = 10,
    seed: int = 0,
    split: str = "auto",
    calibrations: Calibrations | None = None,
) -> Iterator[Trial]:
    """Draw splits, one at a time; one in which no prompt counts is drawn again, a few times.

    Args:
        ratings: The ratings to split.
        needs_sigma: Whether a candidate must have a sigma on the judging half to take part.
        splits: How many splits to draw.
        seed: Seed of the first split.
        split: What is split, see `Ratings.split_unit`.
        calibrations: What methods go by that would learn otherwise.
    """
    unit = ratings.split_unit(split)
    systems = "all"
    if ratings.has_raters and calibrations is None:
        systems = "recurring"
    count = 0
    for split_seed in range(seed, seed + _MAX_ATTEMPTS * splits):
        trial = _trial_of(ratings.halves(unit, split_seed), needs_sigma, systems, split_seed)
        if trial is None:
            continue
        yield trial
        count += 1
        if count == splits:
            return


def _trial_of(halves: Halves, needs_sigma: bool, systems: str, seed: int) -> Trial | None:
    """The trial of some halves, None where no prompt counts.

    A candidate takes part where both halves know it. A prompt counts where two or more take part.
    """
    select = halves.select
    # Each prompt has its own units: pooled ones would let a prompt move those of another.
    judged = batched(halves.judge.samples, 0.0, 0.0, select.constants)
    needed = judged.mean
    if needs_sigma:
        needed = judged.sigma
    takes_part = ~np.isnan(needed) & select.present.any(axis=(1, 3))
    usable = takes_part.sum(axis=1) > 1
    if not usable.any():
        return None
    samples = np.where(takes_part[:, None, :, None], select.samples, np.nan)
    part = replace(select, samples=samples)
    return Trial(
        batch=part.sample_batch(np.flatnonzero(usable), systems),
        seed=seed,
        mean=judged.mean[usable],
        sigma=judged.sigma[usable],
        usable=usable,
    )
