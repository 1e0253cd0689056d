"""Gains over Best-of-K by the disagreement on its choice."""

from collections.abc import Sequence

import numpy as np

from darc.analysis.evaluate.contest import Contest
from darc.analysis.frame import WORDS, Frame, Record, table
from darc.analysis.report.contest_columns import (
    Columns,
    change_columns,
    describe_contest,
    mean_over_prompts,
    method_rows,
    tail_change_columns,
    win_columns,
)
from darc.typing import Array, Mask

BUCKETS = 5


def bucket_table(contest: Contest) -> Frame:
    """Fifths of the prompts by the baseline's sigma on the selection half.

    If a proxy selects and people judge, also by people's sigma.
    """
    if contest.split == "joined":
        form = "joined"
        measures = {"the proxy": contest.disagreement, "people": contest.judged_disagreement}
    else:
        form = "halves"
        measures = {"the selecting half": contest.disagreement}
    rows: list[Record] = []
    for by, disagreement in measures.items():
        values = np.where(contest.usable, disagreement, np.nan)
        masks = equal_buckets(values, contest.ratings.prompt_ids)
        rows += bucket_rows(contest, masks, "disagreement", values, by=by)
    measured = WORDS["tables"]["buckets"][form]
    return table("buckets", rows, described=describe_contest(contest), measured=measured)


def equal_buckets(values: Array, prompt_ids: Sequence[str], buckets: int = BUCKETS) -> list[Mask]:
    """Divide the prompts of each split into equal parts by rising values.

    Args:
        values: One value per split and prompt (R, P); a prompt with NaN is in no part.
        prompt_ids: The ids of the prompts, by which ties are broken.
        buckets: The number of parts.

    Returns:
        The prompts of each part (R, P).
    """
    masks = [np.zeros(values.shape, dtype=bool) for _ in range(buckets)]
    for split, row in enumerate(values):
        prompts = np.flatnonzero(~np.isnan(row)).tolist()
        prompts.sort(key=lambda prompt: (row[prompt], prompt_ids[prompt]))
        order = np.array(prompts, dtype=np.int64)
        for mask, part in zip(masks, np.array_split(order, buckets), strict=True):
            mask[split, part] = True
    return masks


def bucket_rows(
    contest: Contest, masks: Sequence[Mask], measure: str, values: Array, **head: object
) -> list[Record]:
    """Gains over Best-of-K in each bucket.

    Args:
        contest: The contest.
        masks: The prompts of each bucket (R, P).
        measure: What the buckets are by, the name of a column.
        values: The measure of each split and prompt (R, P).
        **head: Cells that come first, the same in all rows.

    Returns:
        One row per bucket that has prompts and method other than Best-of-K.
    """
    rows: list[Record] = []
    for number, among in enumerate(masks, 1):
        if not among.any():
            continue
        average = float(np.nanmean(np.where(among, values, np.nan)))
        columns: Columns = {
            measure: [average] * len(contest.methods),
            **change_columns(contest, contest.reward, among),
            **win_columns(contest.against(contest.reward), among),
            "tradeoff": mean_over_prompts(contest.tradeoff, among),
            **change_columns(contest, contest.tradeoff, among, "tradeoff"),
            **tail_change_columns(contest, among),
        }
        rows += method_rows(contest, among, columns, 1, **head, bucket=f"Q{number}")
    return rows
