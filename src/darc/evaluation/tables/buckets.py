"""Table 3: gains over Best-of-K by how much people disagree on its choice."""

import numpy as np

from darc.evaluation.frame import Frame
from darc.evaluation.study import Study
from darc.evaluation.tables.common import compared, compared_tail, described, prompts_in, tally
from darc.typing import Array, Mask

BUCKETS = 5


def bucket_masks(values: Array, prompt_ids: list[str], buckets: int = BUCKETS) -> list[Mask]:
    """Equal parts of the prompts of each split by rising values (R, P), ties by id; NaN in none."""
    masks = [np.zeros(values.shape, dtype=bool) for _ in range(buckets)]
    for r, row in enumerate(values):
        known = np.flatnonzero(~np.isnan(row))
        order = np.array(sorted(known, key=lambda p: (row[p], prompt_ids[p])), dtype=np.int64)
        for mask, part in zip(masks, np.array_split(order, buckets), strict=True):
            mask[r, part] = True
    return masks


def bucket_rows(study: Study, masks: list[Mask], values: Array) -> list[tuple[object, ...]]:
    """One row a bucket and method, from `bucket` on."""
    rows: list[tuple[object, ...]] = []
    for number, among in enumerate(masks, 1):
        if not among.any():
            continue
        middle = float(np.nanmean(np.where(among, values, np.nan)))
        reward, tradeoff = (compared(study, v, among) for v in (study.reward, study.tradeoff))
        worst = compared_tail(study, among)
        games = tally(study.signs, among)
        rows += [
            (
                f"Q{number}",
                method,
                prompts_in(among),
                middle,
                *reward.cells(a),
                *games[a],
                float(tradeoff.value[a]),
                *tradeoff.cells(a),
                *worst.cells(a),
            )
            for a, method in enumerate(study.methods)
            if a > 0
        ]
    return rows


def bucket_columns(study: Study, measure: str) -> tuple[str, ...]:
    """The columns of `bucket_rows`."""
    tail = study.settings.tail_name
    return (
        *("bucket", "method", "prompts", measure, "delta", "low_delta", "high_delta"),
        *("win", "tie", "loss", "tradeoff"),
        *(f"{part}{name}" for name in ("tradeoff", tail) for part in ("delta_", "low_", "high_")),
    )


def bucket_table(study: Study) -> Frame:
    """Fifths of the prompts by the baseline's sigma on the selection half.

    Where a proxy selects and people judge, also by people's sigma.
    """
    measures = {"the selecting half": study.disagreement}
    note = f"{described(study)} Q5 has the largest disagreement, measured on the half that selects."
    if study.split == "joined":
        measures = {"the proxy": study.disagreement, "people": study.judged_disagreement}
        note = (
            f"{described(study)} Q5 has the largest disagreement by the proxy, or by people. "
            "People's is of the ratings that also judge, so that a part of the losses in Q1 and of "
            "the gains in Q5 is regression to the mean."
        )
    rows: list[tuple[object, ...]] = []
    for by, disagreement in measures.items():
        values = np.where(study.kept, disagreement, np.nan)
        masks = bucket_masks(values, list(study.source.prompt_ids))
        rows += [(study.source.name, by, *row) for row in bucket_rows(study, masks, values)]
    return Frame.of(
        "buckets",
        "Gains over Best-of-K by the disagreement on its choice",
        ("source", "by", *bucket_columns(study, "disagreement")),
        rows,
        note,
    )
