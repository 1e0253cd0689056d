"""Table 10: how far the ranking of methods hangs on lambda."""

import numpy as np

from darc.evaluation.frame import Frame
from darc.evaluation.study import Study
from darc.evaluation.tables.common import mean_of

FACTORS = (0.5, 1.0, 2.0)


def sensitivity_table(study: Study) -> Frame:
    """Tradeoff and rank (1 is best, equals share the better rank) at 0.5, 1 and 2 times lambda."""
    rows = []
    for subset, among in study.subsets.items():
        for factor in FACTORS:
            lam = factor * study.lam
            tradeoff = np.round(mean_of(study.weighed(factor), among), 12)
            for a, method in enumerate(study.methods):
                known = not np.isnan(tradeoff[a])
                rank = 1 + int((tradeoff > tradeoff[a]).sum()) if known else None
                rows.append((study.source.name, subset, method, factor, lam, tradeoff[a], rank))
    return Frame.of(
        "sensitivity",
        "Ranking of the methods by tradeoff as lambda changes",
        ("source", "subset", "method", "factor", "lambda", "tradeoff", "rank"),
        rows,
    )
