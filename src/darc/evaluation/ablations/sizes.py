"""Smaller pools: fewer candidates, or fewer samples to select by."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from darc.evaluation.ablations.knobs import ablation_frame
from darc.evaluation.frame import Frame
from darc.evaluation.methods import methods
from darc.evaluation.source import Source
from darc.evaluation.split import Halves, choose_split
from darc.evaluation.study import Settings, study_of
from darc.evaluation.tables.common import compared, compared_tail, prompts_in

RULES = ("entropic", "epsilon")
MOST = 6


def fewer_candidates(halves: Halves, size: int, seed: int) -> Halves:
    """The halves with a random `size` of each prompt's candidates, chosen without their scores."""
    there = ~np.isnan(halves.select).all(axis=(1, 3))
    keys = np.random.default_rng([seed, size, 1]).random(there.shape)
    order = np.argsort(np.where(there, keys, np.inf), axis=1, kind="stable")
    place = np.argsort(order, axis=1, kind="stable")
    gone = (place >= size)[:, None, :, None]
    return replace(
        halves,
        select=np.where(gone, np.nan, halves.select),
        judge=np.where(gone, np.nan, halves.judge),
    )


def fewer_samples(halves: Halves, size: int, seed: int) -> Halves:
    """The halves with at most `size` samples to select by, of the same places in a prompt."""
    prompts, _, _, most = halves.select.shape
    order = np.argsort(np.random.default_rng([seed, 2]).random((prompts, most)), axis=1)
    moved = np.take_along_axis(halves.select, order[:, None, None, :], axis=3)
    packed = np.take_along_axis(moved, np.argsort(np.isnan(moved), axis=3, kind="stable"), axis=3)
    return replace(halves, select=np.ascontiguousarray(packed[..., :size]))


def sizes_up_to(most: int, fewest: int) -> list[int]:
    """About six sizes from `fewest` to `most`, roughly doubling."""
    if most <= fewest:
        return [most] if most == fewest else []
    steps = np.geomspace(fewest, most, MOST).round().astype(int)
    return sorted(set(steps.tolist()))


def size_table(source: Source, halves: Sequence[Halves], settings: Settings) -> Frame:
    """Gains over Best-of-K of the same pool, as candidates or samples become fewer."""
    _, _, candidates, samples = halves[0].select.shape
    samples = max(half.select.shape[3] for half in halves)
    cuts: list[tuple[str, list[int], Callable[[Halves, int, int], Halves]]] = [
        ("K", sizes_up_to(candidates, 2), fewer_candidates),
        ("samples", sizes_up_to(samples, 1), fewer_samples),
    ]
    specs = methods(RULES, settings.beta, settings.gamma)
    split = choose_split(source, settings.split)
    rows: list[tuple[object, ...]] = []
    for knob, sizes, cut in cuts:
        for size in sizes:
            smaller = [cut(half, size, settings.seed + r) for r, half in enumerate(halves)]
            study = study_of(source, smaller, settings, specs, split)
            for subset, among in study.subsets.items():
                tradeoff = compared(study, study.tradeoff, among)
                worst = compared_tail(study, among)
                for a, method in enumerate(study.methods[1:], 1):
                    head = (source.name, knob, size, method, subset, prompts_in(among))
                    rows.append((*head, *tradeoff.cells(a), *worst.cells(a)))
    return ablation_frame(rows, settings.tail_name)
