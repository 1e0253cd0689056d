"""Disagreement in the raw pool."""

import numpy as np

from darc.analysis.frame import Frame, Record, table
from darc.decide.statistics import risk
from darc.ratings.ratings import Ratings


def pool_table(ratings: Ratings) -> Frame:
    """Mean, Q80 and Q90 over prompts of the largest variance, per scorer on its raw scale."""
    largest = np.fmax.reduce(risk.sigma(ratings.samples) ** 2, axis=2)
    rows = []
    for scorer, values in zip(ratings.scorers, largest.T, strict=True):
        variances = values[~np.isnan(values)]
        row: Record = {
            "source": ratings.name,
            "scorer": scorer,
            "prompts": len(variances),
            "mean": np.nan,
            "q80": np.nan,
            "q90": np.nan,
            "share_from_q80": np.nan,
        }
        if variances.size:
            q80, q90 = np.quantile(variances, [0.8, 0.9])
            row["mean"] = variances.mean()
            row["q80"] = q80
            row["q90"] = q90
            row["share_from_q80"] = (variances >= q80).mean()
        rows.append(row)
    return table("pool", rows)
