"""The tables of single scorers and held-out samples: verdicts, bounds kept, densities."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from darc.evaluation.contest import (
    Contest,
    ContestSettings,
    Report,
    contest_of,
    halves_of_seeds,
)
from darc.evaluation.frame import Frame
from darc.evaluation.metrics import aggregated, lower_bound, taken
from darc.evaluation.rule_tables import compared, prompts_in, tally
from darc.evaluation.source import Source
from darc.evaluation.split import Halves
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


def scorer_table(contest: Contest) -> Frame:
    """Win, tie, loss and mean difference by each aggregate and scorer; empty for one scorer."""
    rows: list[tuple[object, ...]] = []
    if contest.rewards.shape[2] > 1:
        verdicts = aggregated_deltas(contest.rewards, contest.scales, contest.settings.gamma)
        verdicts = {f"all: {name}": delta for name, delta in verdicts.items()}
        for m, name in enumerate(contest.source.scorers):
            verdicts[name] = contest.rewards[:, :, m]
        for subset, among in contest.subsets.items():
            for name, values in verdicts.items():
                rows += _rows(contest, (contest.source.name, subset, name), values, among)
    return Frame.of(
        "scorers",
        "Verdicts of the scorers against Best-of-K",
        (*COLUMNS, *DELTAS),
        rows,
        "A scorer's own rows are on its raw scale; aggregates are in its pooled deviations on the "
        "half that judges.",
    )


def held_out_scorer_table(
    source: Source, settings: ContestSettings, report: Report | None = None
) -> Frame:
    """Selection by all scorers but one, judged by that one, on its raw scale."""
    rows: list[tuple[object, ...]] = []
    for m, name in enumerate(source.scorers if len(source.scorers) > 1 else ()):
        others = [o for o in range(len(source.scorers)) if o != m]
        kept = with_scorers(source, others)
        specs = settings.methods
        halves = _judged_by(halves_of_seeds(source, settings, report), others, m)
        contest = contest_of(kept, halves, settings, specs, "sample")
        for subset, among in contest.subsets.items():
            rows += _rows(contest, (source.name, subset, name), contest.reward, among)
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
    contest: Contest, head: tuple[str, ...], values: Array, among: Mask
) -> list[tuple[object, ...]]:
    change, games = compared(contest, values, among), tally(contest.against(values), among)
    return [
        (*head, method, prompts_in(among), *games[a], *change.cells(a))
        for a, method in enumerate(contest.methods)
        if a > 0
    ]


CALIBRATION_DELTAS = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)


def calibration_table(contest: Contest, halves: Sequence[Halves]) -> Frame:
    """Share of choices whose held-out mean is at least the bound of the half that selected."""
    rows = []
    for delta in CALIBRATION_DELTAS:
        held = []
        for half, choice, reward in zip(halves, contest.choice, contest.reward, strict=True):
            at = aggregated(half.select)
            sizes = (at.count > 0).sum(axis=1).astype(np.float64)
            bound = taken(lower_bound(at, sizes, delta), choice)
            held.append(np.where(np.isnan(bound) | np.isnan(reward), np.nan, reward >= bound))
        array = np.stack(held)
        known = ~np.isnan(array)
        for a, method in enumerate(contest.methods):
            count = int(known[:, a].sum())
            if count:
                share = float(array[:, a][known[:, a]].mean())
                rows.append((contest.source.name, method, 1 - delta, share, count))
    return Frame.of(
        "calibration",
        "How often the held-out mean exceeds the lower confidence bound",
        ("source", "method", "nominal", "observed", "decisions"),
        rows,
        "The bound is mean - sigma sqrt(log(K/delta)/n), a heuristic; the held-out mean has noise "
        "of its own, so even a true bound would be missed at times.",
    )


POINTS = 101


def density(values: Array, grid: Array) -> Array:
    """Gaussian kernel density of (n,) on a grid (g,), with Silverman's bandwidth. O(g u)."""
    points, times = np.unique(values, return_counts=True)
    deviation = float(values.std(ddof=1)) if values.size > 1 else 0.0
    low, high = np.quantile(values, [0.25, 0.75])
    spread = min(deviation, (high - low) / 1.349) if high > low else deviation
    width = 0.9 * spread * values.size**-0.2 if spread > 0 else 0.01 * max(1.0, np.ptp(grid))
    bells = np.exp(-0.5 * ((grid[:, None] - points) / width) ** 2)
    return np.asarray(bells @ times / (values.size * width * np.sqrt(2 * np.pi)))


def density_table(contest: Contest, halves: Sequence[Halves]) -> Frame:
    """Densities on a common grid, by scorer on its raw scale, over all splits."""
    rows: list[tuple[object, ...]] = []
    places = np.arange(len(contest.source.prompt_ids))
    for m in range(contest.rewards.shape[2]):
        every = np.concatenate([half.judge[:, m].ravel() for half in halves])
        every = every[~np.isnan(every)]
        grid = np.linspace(every.min(), every.max(), POINTS)
        scorer = contest.source.scorers[m] if m < len(contest.source.scorers) else ""
        for a, method in enumerate(contest.methods):
            found = [
                half.judge[places, m, np.maximum(choice[a], 0)][choice[a] >= 0].ravel()
                for half, choice in zip(halves, contest.choice, strict=True)
            ]
            values = np.concatenate(found)
            values = values[~np.isnan(values)]
            if values.size:
                heights = density(values, grid)
                rows += [
                    (contest.source.name, scorer, method, x, y)
                    for x, y in zip(grid, heights, strict=True)
                ]
    columns = ("source", "scorer", "method", "x", "density")
    return Frame.of("densities", "Held-out samples of the choices", columns, rows)
