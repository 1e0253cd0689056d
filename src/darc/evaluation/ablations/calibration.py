"""How often what is held out keeps the promise of the lower confidence bound."""

from collections.abc import Sequence

import numpy as np

from darc.evaluation.frame import Frame
from darc.evaluation.metrics import aggregated, lower_bound, taken
from darc.evaluation.split import Halves
from darc.evaluation.study import Study

DELTAS = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)


def calibration_table(study: Study, halves: Sequence[Halves]) -> Frame:
    """Share of choices whose held-out mean is at least the bound of the half that selected."""
    rows = []
    for delta in DELTAS:
        held = []
        for half, choice, reward in zip(halves, study.choice, study.reward, strict=True):
            at = aggregated(half.select)
            sizes = (at.count > 0).sum(axis=1).astype(np.float64)
            bound = taken(lower_bound(at, sizes, delta), choice)
            held.append(np.where(np.isnan(bound) | np.isnan(reward), np.nan, reward >= bound))
        array = np.stack(held)
        known = ~np.isnan(array)
        for a, method in enumerate(study.methods):
            count = int(known[:, a].sum())
            if count:
                share = float(array[:, a][known[:, a]].mean())
                rows.append((study.source.name, method, 1 - delta, share, count))
    return Frame.of(
        "calibration",
        "How often the held-out mean exceeds the lower confidence bound",
        ("source", "method", "nominal", "observed", "decisions"),
        rows,
        "The bound is mean - sigma sqrt(log(K/delta)/n), a heuristic; the held-out mean has noise "
        "of its own, so even a true bound would be missed at times.",
    )
