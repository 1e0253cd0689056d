"""Where the held-out samples of each method's choices lie."""

from collections.abc import Sequence

import numpy as np

from darc.evaluation.frame import Frame
from darc.evaluation.split import Halves
from darc.evaluation.study import Study
from darc.typing import Array

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


def density_table(study: Study, halves: Sequence[Halves]) -> Frame:
    """Densities on a common grid, by scorer on its raw scale, over all splits."""
    rows: list[tuple[object, ...]] = []
    places = np.arange(len(study.source.prompt_ids))
    for m in range(study.rewards.shape[2]):
        every = np.concatenate([half.judge[:, m].ravel() for half in halves])
        every = every[~np.isnan(every)]
        grid = np.linspace(every.min(), every.max(), POINTS)
        scorer = study.source.scorers[m] if m < len(study.source.scorers) else ""
        for a, method in enumerate(study.methods):
            found = [
                half.judge[places, m, np.maximum(choice[a], 0)][choice[a] >= 0].ravel()
                for half, choice in zip(halves, study.choice, strict=True)
            ]
            values = np.concatenate(found)
            values = values[~np.isnan(values)]
            if values.size:
                heights = density(values, grid)
                rows += [
                    (study.source.name, scorer, method, x, y)
                    for x, y in zip(grid, heights, strict=True)
                ]
    columns = ("source", "scorer", "method", "x", "density")
    return Frame.of("densities", "Held-out samples of the choices", columns, rows)
