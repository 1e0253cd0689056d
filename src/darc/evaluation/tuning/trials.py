"""Splits of a source into samples to select by and samples to judge by."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from darc.core.draws import prompt_seeds
from darc.core.statistics import batched
from darc.engine.deciding import Calibrations
from darc.evaluation.methods import clipped, ids_of, learnt_before, normalization
from darc.evaluation.source import Source
from darc.evaluation.split import choose_split, draw_halves
from darc.evaluation.tuning.choices import Report, choices
from darc.evaluation.tuning.setting import Setting
from darc.selection.pools import Pools
from darc.typing import Array, Mask

ATTEMPTS = 5


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

    def judged(
        self, settings: Sequence[Setting], report: Report = lambda done: None
    ) -> tuple[Array, Array]:
        """Mean and sigma on the evaluation half of what settings choose, (G, P); NaN if unusable.

        O(G U K), and what `choices` costs.
        """
        chosen = choices(self.pools, settings, report, self.calibration)
        rows = np.arange(len(self.mean))
        found = self.mean[rows, chosen], self.sigma[rows, chosen]
        if self.usable.all():
            return found
        mean, sigma = np.full((2, len(settings), len(self.usable)), np.nan)
        mean[:, self.usable], sigma[:, self.usable] = found
        return mean, sigma

    def among(self, prompts: Mask) -> "Trial":
        """The trial without the prompts that are not wanted (P,), all of them unusable."""
        return replace(self, usable=self.usable[prompts])


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
        normalize=normalization(source),
        drawn=prompt_seeds(seed, source.prompt_ids)[usable],
        side={name: array[usable] for name, array in source.side.items()},
        **ids_of(source, halves.select_givers, np.flatnonzero(usable), learnt is None),
    )
    return Trial(pools, judged.mean[usable], judged.sigma[usable], usable, learnt)


def judged_by_all(trials: Sequence[Trial], settings: Sequence[Setting]) -> tuple[Array, Array]:
    """Mean and sigma (R, G, P) on the evaluation halves of what a few settings choose."""
    pairs = [trial.judged(settings) for trial in trials]
    return np.stack([mean for mean, _ in pairs]), np.stack([sigma for _, sigma in pairs])
