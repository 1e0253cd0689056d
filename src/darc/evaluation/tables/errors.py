"""Table 7: gains over Best-of-K by how far the proxy's sigma is from people's."""

import numpy as np

from darc.evaluation.frame import Frame
from darc.evaluation.join import Joined
from darc.evaluation.metrics import aggregated, pooled_units, taken
from darc.evaluation.study import Study
from darc.evaluation.tables.buckets import BUCKETS, bucket_columns, bucket_masks, bucket_rows
from darc.evaluation.tables.common import described
from darc.typing import Array, Mask


def sigma_errors(joined: Joined, study: Study, rescaled: bool = False) -> Array:
    """|proxy - human| sigma of Best-of-K's choice, (R, P).

    Rescaled, each sigma is in deviations of all its samples; of several scorers it always is.
    """
    sides = []
    for source in (joined.proxy, joined.human):
        one = rescaled and len(source.scorers) == 1
        scale = pooled_units(source.samples)[1][0] if one else 1.0
        sides.append(taken(aggregated(source.samples).sigma / scale, study.choice[:, 0]))
    return np.abs(sides[0] - sides[1])


def quantile_masks(values: Array, buckets: int = BUCKETS) -> tuple[list[Mask], Array]:
    """Parts of the prompts of each split (R, P) between quantiles of its values, and those edges.

    An edge belongs to the part below it, so ties leave the parts unequal; NaN is in none. The edges
    (R, buckets + 1) include both ends.
    """
    known = ~np.isnan(values)
    edges = np.full((len(values), buckets + 1), np.nan)
    for row, own, there in zip(edges, values, known, strict=True):
        if there.any():
            row[:] = np.quantile(own[there], np.linspace(0, 1, buckets + 1))
    place = np.sum(values[:, :, None] > edges[:, None, 1:-1], axis=2)
    return [known & (place == number) for number in range(buckets)], edges


def error_table(joined: Joined, study: Study) -> Frame:
    """Fifths of the prompts by the proxy's error, in two forms; `study` is the joined one.

    "raw" is the paper's: the plain difference of the sigmas, cut at its quantiles. "rescaled" has
    each sigma in units of its own samples, and parts of equal size.
    """
    raw, rescaled = (sigma_errors(joined, study, rescaled=form) for form in (False, True))
    by_quantile, edges = quantile_masks(raw)
    equal = bucket_masks(rescaled, list(study.source.prompt_ids))
    rows = [
        (study.source.name, form, *row)
        for form, masks, values in (("raw", by_quantile, raw), ("rescaled", equal, rescaled))
        for row in bucket_rows(study, masks, values)
    ]
    ends = ", ".join(f"{edge:.4g}" for edge in edges[0])
    return Frame.of(
        "errors",
        "Gains over Best-of-K by the error of the proxy's sigma",
        ("source", "form", *bucket_columns(study, "error")),
        rows,
        f"{described(study)} Q5 has the largest error. Raw, as in the paper: the difference of the "
        f"sigmas as they are, for a proxy on people's scale, cut at its quantiles {ends}, so that "
        "ties leave buckets unequal. Rescaled: each sigma in units of the deviation of all its "
        "samples (as several scorers' always are), in buckets of equal size.",
    )
