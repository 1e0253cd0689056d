"""Table 5: every scorer's own verdict, their aggregates, and scorers that did not select."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from darc.evaluation.frame import Frame
from darc.evaluation.source import Source
from darc.evaluation.split import Halves
from darc.evaluation.study import Report, Settings, Study, halves_of_seeds, study_of
from darc.evaluation.tables.common import compared, prompts_in, tally
from darc.typing import Array, Mask

COLUMNS = ("source", "subset", "scorer", "method", "prompts", "win", "tie", "loss")
DELTAS = ("delta", "low_delta", "high_delta")


def aggregated_deltas(rewards: Array, scales: Array, gamma: float) -> dict[str, Array]:
    """Differences to Best-of-K over all scorers, (R, A, P) by the name of the aggregate.

    `rewards` (R, A, M, P) are on raw scales, `scales` (R, M) make them comparable; "mean - std" is
    the mean less gamma standard deviations (ddof = 0) over the scorers.
    """
    delta = (rewards - rewards[:, :1]) / scales[:, None, :, None]
    mean = delta.mean(axis=2)
    hedged = mean - gamma * delta.std(axis=2)
    return {"mean": mean, "min": delta.min(axis=2), f"mean - {gamma:g} std": hedged}


def scorer_table(study: Study) -> Frame:
    """Win, tie, loss and mean difference by each aggregate and scorer; empty for one scorer."""
    rows: list[tuple[object, ...]] = []
    if study.rewards.shape[2] > 1:
        verdicts = aggregated_deltas(study.rewards, study.scales, study.settings.gamma)
        verdicts = {f"all: {name}": delta for name, delta in verdicts.items()}
        for m, name in enumerate(study.source.scorers):
            verdicts[name] = study.rewards[:, :, m]
        for subset, among in study.subsets.items():
            for name, values in verdicts.items():
                rows += _rows(study, (study.source.name, subset, name), values, among)
    return Frame.of(
        "scorers",
        "Verdicts of the scorers against Best-of-K",
        (*COLUMNS, *DELTAS),
        rows,
        "A scorer's own rows are on its raw scale; aggregates are in its pooled deviations on the "
        "half that judges.",
    )


def held_out_scorer_table(
    source: Source, settings: Settings, report: Report | None = None
) -> Frame:
    """Selection by all scorers but one, judged by that one, on its raw scale."""
    rows: list[tuple[object, ...]] = []
    for m, name in enumerate(source.scorers if len(source.scorers) > 1 else ()):
        others = [o for o in range(len(source.scorers)) if o != m]
        kept = with_scorers(source, others)
        specs = settings.methods
        halves = _judged_by(halves_of_seeds(source, settings, report), others, m)
        study = study_of(kept, halves, settings, specs, "sample")
        for subset, among in study.subsets.items():
            rows += _rows(study, (source.name, subset, name), study.reward, among)
    return Frame.of(
        "held_out_scorers",
        "Selection by the other scorers, judged by the one left out",
        (*COLUMNS, *DELTAS),
        rows,
    )


def with_scorers(source: Source, wanted: list[int]) -> Source:
    """The source with some of its scorers only."""
    constants = source.constants
    return replace(
        source,
        scorers=[source.scorers[m] for m in wanted],
        samples=source.samples[:, wanted],
        givers=source.givers[:, wanted],
        bounds=None if source.bounds is None else [source.bounds[m] for m in wanted],
        constants=None
        if constants is None
        else ([constants[0][m] for m in wanted], [constants[1][m] for m in wanted]),
    )


def _judged_by(halves: Iterable[Halves], others: list[int], judge: int) -> Iterable[Halves]:
    part = slice(judge, judge + 1)
    for half in halves:
        yield replace(
            half,
            select=np.ascontiguousarray(half.select[:, others]),
            select_givers=half.select_givers[:, others],
            judge=half.judge[:, part],
            givers=half.givers[:, part],
        )


def _rows(
    study: Study, head: tuple[str, ...], values: Array, among: Mask
) -> list[tuple[object, ...]]:
    change, games = compared(study, values, among), tally(study.against(values), among)
    return [
        (*head, method, prompts_in(among), *games[a], *change.cells(a))
        for a, method in enumerate(study.methods)
        if a > 0
    ]
