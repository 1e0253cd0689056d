"""Table 10: how far the ranking of methods hangs on lambda."""

import numpy as np

from darc.core import risk
from darc.evaluation.frame import Frame
from darc.evaluation.study import Study
from darc.evaluation.tables.common import mean_of
from darc.typing import Array

FACTORS = (0.5, 1.0, 2.0)
RAW, Z_SCORED = 5.0, 3.0


def sensitivity_table(study: Study) -> Frame:
    """Tradeoff and rank (1 is best, equals share the better rank) as lambda changes.

    The form "raw" has 0.5, 1 and 2 times lambda and the paper's diagnostic of lambda 5, the form
    "z-scored" the one of lambda 3.
    """
    forms: list[tuple[str, float | None, float, Array]] = [
        ("raw", factor, factor * study.lam, study.weighed(factor)) for factor in FACTORS
    ]
    forms.append(("raw", None, RAW, study.reward - RAW * study.risk))
    forms.append(("z-scored", None, Z_SCORED, z_scored(study)))
    rows = []
    for subset, among in study.subsets.items():
        for form, factor, lam, values in forms:
            tradeoff = np.round(mean_of(values, among), 12) + 0.0
            for a, method in enumerate(study.methods):
                known = not np.isnan(tradeoff[a])
                rank = 1 + int((tradeoff > tradeoff[a]).sum()) if known else None
                head = (study.source.name, subset, method, form, factor, lam)
                rows.append((*head, tradeoff[a], rank))
    return Frame.of(
        "sensitivity",
        "Ranking of the methods by tradeoff as lambda changes",
        ("source", "subset", "method", "form", "factor", "lambda", "tradeoff", "rank"),
        rows,
        "Without a factor: the paper's diagnostics. Z-scored: reward and sigma, each less its mean "
        "and in its deviations over the prompts for Best-of-K's choice: free of the scale.",
    )


def z_scored(study: Study, lam: float = Z_SCORED) -> Array:
    """z(reward) - lambda z(sigma), (R, A, P), by Best-of-K's mean and deviation over prompts."""
    sides = []
    for values in (study.reward, study.risk):
        base = values[:, 0]
        location, scale = risk.mean(base), np.nan_to_num(risk.sigma(base))
        scale = np.where(scale > 0, scale, 1.0)
        sides.append((values - location[:, None, None]) / scale[:, None, None])
    return np.asarray(sides[0] - lam * sides[1])
