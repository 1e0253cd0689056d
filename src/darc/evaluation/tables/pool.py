"""Table 6: how much the samples of the raw pool disagree."""

import numpy as np

from darc.core import risk
from darc.evaluation.frame import Frame
from darc.evaluation.source import Source
from darc.typing import Array


def largest_variance(samples: Array) -> Array:
    """The largest variance (ddof = 1) over the candidates, (P, M), of samples (P, M, K, n)."""
    return np.asarray(np.fmax.reduce(risk.sigma(samples) ** 2, axis=2))


def pool_table(source: Source) -> Frame:
    """Mean, Q80 and Q90 over prompts of the largest variance, per scorer on its raw scale."""
    rows = []
    for name, values in zip(source.scorers, largest_variance(source.samples).T, strict=True):
        known = values[~np.isnan(values)]
        numbers = [float("nan")] * 4
        if known.size:
            edge = np.quantile(known, 0.8)
            numbers = [known.mean(), edge, np.quantile(known, 0.9), (known >= edge).mean()]
        rows.append((source.name, name, len(known), *map(float, numbers)))
    return Frame.of(
        "pool",
        "Disagreement on the raw pool: the largest variance among a prompt's candidates",
        ("source", "scorer", "prompts", "mean", "q80", "q90", "share_from_q80"),
        rows,
        "All samples of a candidate, nothing split.",
    )
