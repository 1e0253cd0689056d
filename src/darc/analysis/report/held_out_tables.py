"""What the held-out samples of choices are: whether bounds hold, and how scores are spread."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from darc.analysis.evaluate.contest import Contest
from darc.analysis.frame import Frame, Record, table
from darc.analysis.metrics import aggregate, lower_bound, values_at
from darc.ratings.ratings import Halves
from darc.typing import Array

# The failure probabilities of the bounds.
DELTAS = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)
# The number of points of a density.
POINTS = 101


def calibration_table(contest: Contest, halves: Iterable[Halves]) -> Frame:
    """The share of choices whose held-out mean is at least the bound of the selecting half."""
    shape = (len(DELTAS), len(contest.methods))
    held = np.zeros(shape, dtype=np.int64)
    judged = np.zeros(shape, dtype=np.int64)
    for half, choice, reward in zip(halves, contest.choice, contest.reward, strict=True):
        statistics = aggregate(half.select.samples)
        candidates = (statistics.count > 0).sum(axis=1).astype(np.float64)
        for place, delta in enumerate(DELTAS):
            bound = values_at(lower_bound(statistics, candidates, delta), choice)
            held[place] += (reward >= bound).sum(axis=1)
            judged[place] += (~np.isnan(bound) & ~np.isnan(reward)).sum(axis=1)
    rows: list[Record] = []
    for place, delta in enumerate(DELTAS):
        for method_place, method in enumerate(contest.methods):
            decisions = judged[place, method_place]
            if not decisions:
                continue
            row: Record = {
                "source": contest.ratings.name,
                "method": method,
                "nominal": 1 - delta,
                "observed": held[place, method_place] / decisions,
                "decisions": decisions,
            }
            rows.append(row)
    return table("calibration", rows)


def density_table(contest: Contest, halves: Iterable[Halves]) -> Frame:
    """Densities of the choices' held-out samples, with their means and standard deviations.

    Scorers are on their raw scales, each with a grid of its own that methods and subsets share.
    """
    rows: list[Record] = []
    for scorer in range(contest.rewards.shape[2]):
        samples = _held_out_samples(contest, halves, scorer)
        for (subset, method), counts in samples.counts.items():
            if not counts:
                continue
            values = np.repeat([*counts], [*counts.values()])
            head: Record = {
                "source": contest.ratings.name,
                "scorer": samples.scorer,
                "subset": subset,
                "method": method,
                "mean": float(values.mean()),
                "sigma": float(values.std(ddof=1)) if values.size > 1 else float("nan"),
            }
            heights = density(values, samples.grid)
            for x, height in zip(samples.grid, heights, strict=True):
                rows.append({**head, "x": x, "density": height})
    return table("densities", rows)


@dataclass(frozen=True)
class _HeldOutSamples:
    """The held-out samples of one scorer.

    The same samples come back in many splits, so only different ones are kept, with how often they
    came.
    """

    scorer: str
    grid: Array
    #: By subset and method.
    counts: dict[tuple[str, str], Counter[float]]


def _held_out_samples(contest: Contest, halves: Iterable[Halves], scorer: int) -> _HeldOutSamples:
    low = np.inf
    high = -np.inf
    name = ""
    subsets = contest.subsets
    counts = {
        (subset, method): Counter[float]() for subset in subsets for method in contest.methods
    }
    prompts = np.arange(len(contest.ratings.prompt_ids))
    for split, (half, choices) in enumerate(zip(halves, contest.choice, strict=True)):
        judge = half.judge.samples[:, scorer]
        low = np.nanmin(judge, initial=low)
        high = np.nanmax(judge, initial=high)
        if scorer < len(half.judge.scorers):
            name = half.judge.scorers[scorer]
        for method, choice in zip(contest.methods, choices, strict=True):
            chosen = judge[prompts, np.maximum(choice, 0)]
            for subset, mask in subsets.items():
                values = chosen[mask[split] & (choice >= 0)]
                counts[subset, method].update(values[~np.isnan(values)].tolist())
    return _HeldOutSamples(name, np.linspace(low, high, POINTS), counts)


def density(values: Array, grid: Array) -> Array:
    """Gaussian kernel density with Silverman's bandwidth, O(grid x different values).

    Args:
        values: The values (n,).
        grid: Where the density is wanted (g,).

    Returns:
        The density (g,).
    """
    points, counts = np.unique(values, return_counts=True)
    width = _bandwidth(values, grid)
    heights = np.array([np.exp(-0.5 * ((x - points) / width) ** 2) @ counts for x in grid])
    return heights / (values.size * width * np.sqrt(2 * np.pi))


def _bandwidth(values: Array, grid: Array) -> float:
    """Silverman's bandwidth, or a narrow one for values that are all equal."""
    spread = 0.0
    if values.size > 1:
        spread = float(values.std(ddof=1))
    low, high = np.quantile(values, [0.25, 0.75])
    if high > low:
        spread = min(spread, (high - low) / 1.349)
    if spread <= 0:
        return 0.01 * max(1.0, float(np.ptp(grid)))
    return float(0.9 * spread * values.size**-0.2)
