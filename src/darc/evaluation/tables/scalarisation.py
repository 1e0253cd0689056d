"""Table 8: absolute ratings (S0) beside each rater's own comparison with Best-of-K (S1)."""

import numpy as np

from darc.evaluation.frame import Frame
from darc.evaluation.ranks import spearman
from darc.evaluation.study import Study
from darc.evaluation.tables.common import compared, described, prompts_in, tally
from darc.typing import Array, Mask


def scalarisation_table(study: Study) -> Frame:
    """Win, tie, loss and mean difference under both, and the correlation of the two."""
    rows: list[tuple[object, ...]] = []
    for subset, among in study.subsets.items():
        forms = {"S0": study.reward - study.reward[:, :1], "S1": study.pairwise}
        likeness = [agreement(forms["S0"][:, a], forms["S1"][:, a], among) for a in _others(study)]
        for form, values in forms.items():
            there = among & ~np.isnan(values).all(axis=1)
            change, games = compared(study, values, there), tally(study.against(values), there)
            rows += [
                (
                    study.source.name,
                    subset,
                    study.methods[a],
                    form,
                    prompts_in(there),
                    *games[a],
                    *change.cells(a),
                    likeness[a - 1],
                )
                for a in _others(study)
            ]
    return Frame.of(
        "scalarisation",
        "Absolute ratings and pairwise comparisons against Best-of-K",
        (
            *("source", "subset", "method", "form", "prompts", "win", "tie", "loss"),
            *("delta", "low_delta", "high_delta", "spearman"),
        ),
        rows,
        f"{described(study)} S0 is the difference of held-out means. S1 is the share of those who "
        "judged both and prefer the choice (a tie counts half) less one half. Spearman is over "
        "prompts, between the two differences.",
    )


def agreement(left: Array, right: Array, among: Mask) -> float:
    """Spearman between (R, P) and (R, P) within each split, averaged over splits that have it."""
    found = []
    for x, y, mask in zip(left, right, among, strict=True):
        there = mask & ~np.isnan(x) & ~np.isnan(y)
        if there.sum() > 2:
            # Rounding must not order equal differences.
            found.append(float(spearman(np.round(x[there], 12), np.round(y[there], 12))))
    known = [value for value in found if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")


def _others(study: Study) -> range:
    return range(1, len(study.methods))
