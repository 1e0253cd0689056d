"""Table 7: gains over Best-of-K by how far the proxy's sigma is from people's."""

import numpy as np

from darc.evaluation.frame import Frame
from darc.evaluation.join import Joined
from darc.evaluation.metrics import aggregated, pooled_units, taken
from darc.evaluation.source import Array
from darc.evaluation.study import Study
from darc.evaluation.tables.buckets import bucket_columns, bucket_masks, bucket_rows
from darc.evaluation.tables.common import described


def sigma_errors(joined: Joined, study: Study) -> Array:
    """|proxy - human| sigma of Best-of-K's choice, (R, P), in deviations of all samples of each."""
    sides = []
    for source in (joined.proxy, joined.human):
        scale = pooled_units(source.samples)[1][0] if len(source.scorers) == 1 else 1.0
        sides.append(taken(aggregated(source.samples).sigma / scale, study.choice[:, 0]))
    return np.abs(sides[0] - sides[1])


def error_table(joined: Joined, study: Study) -> Frame:
    """Fifths of the prompts by the proxy's error; `study` is the joined one."""
    values = sigma_errors(joined, study)
    masks = bucket_masks(values, list(study.source.prompt_ids))
    return Frame.of(
        "errors",
        "Gains over Best-of-K by the error of the proxy's sigma",
        ("source", *bucket_columns(study, "error")),
        [(study.source.name, *row) for row in bucket_rows(study, masks, values)],
        f"{described(study)} Q5 has the largest error; each sigma is in units of the deviation of "
        "all its samples.",
    )
