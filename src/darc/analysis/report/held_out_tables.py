"""What the held-out samples of choices are: whether bounds hold, and how scores are spread."""

from collections import Counter
from collections.abc import Iterable

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
    """Densities of the choices' held-out samples on a common grid, by scorer on its raw scale."""
    rows: list[Record] = []
    for scorer in range(contest.rewards.shape[2]):
        grid, samples = _held_out_samples(contest, halves, scorer)
        name = ""
        if scorer < len(contest.ratings.scorers):
            name = contest.ratings.scorers[scorer]
        for method, counts in zip(contest.methods, samples, strict=True):
            if not counts:
                continue
            heights = density(np.repeat([*counts], [*counts.values()]), grid)
            for x, height in zip(grid, heights, strict=True):
                row: Record = {
                    "source": contest.ratings.name,
                    "scorer": name,
                    "method": method,
                    "x": x,
                    "density": height,
                }
                rows.append(row)
    return table("densities", rows)


def _held_out_samples(
    contest: Contest, halves: Iterable[Halves], scorer: int
) -> tuple[Array, list[Counter[float]]]:
    """The grid of one scorer, and the held-out samples of each method's choices.

    The same samples come back in many splits, so only different ones are kept, with how often they
    came.
    """
    low = np.inf
    high = -np.inf
    samples = [Counter[float]() for _ in contest.methods]
    prompts = np.arange(len(contest.ratings.prompt_ids))
    for half, choices in zip(halves, contest.choice, strict=True):
        judge = half.judge.samples[:, scorer]
        low = np.nanmin(judge, initial=low)
        high = np.nanmax(judge, initial=high)
        for counts, choice in zip(samples, choices, strict=True):
            chosen = judge[prompts, np.maximum(choice, 0)][choice >= 0]
            counts.update(chosen[~np.isnan(chosen)].tolist())
    return np.linspace(low, high, POINTS), samples


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
