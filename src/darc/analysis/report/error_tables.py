"""Gains over Best-of-K by the error of the proxy's sigma."""

import numpy as np

from darc.analysis.evaluate.contest import Contest
from darc.analysis.frame import Frame, table
from darc.analysis.metrics import aggregate, pooled_units, values_at
from darc.analysis.report.bucket_tables import BUCKETS, bucket_rows, equal_buckets
from darc.analysis.report.contest_columns import describe_contest
from darc.ratings.joining import JoinedRatings
from darc.ratings.ratings import Ratings
from darc.typing import Array, Integers, Mask


def error_table(joined: JoinedRatings, contest: Contest) -> Frame:
    """Fifths of the prompts by the proxy's error, raw and rescaled.

    Args:
        joined: A proxy's scores and people's ratings of the same candidates.
        contest: The contest in which the proxy selects and people judge.

    Returns:
        The table.
    """
    raw = sigma_errors(joined, contest)
    rescaled = sigma_errors(joined, contest, rescaled=True)
    by_quantile, edges = quantile_buckets(raw)
    equal = equal_buckets(rescaled, contest.ratings.prompt_ids)
    rows = [
        *bucket_rows(contest, by_quantile, "error", raw, form="raw"),
        *bucket_rows(contest, equal, "error", rescaled, form="rescaled"),
    ]
    ends = ", ".join(f"{edge:.4g}" for edge in edges[0])
    return table("errors", rows, described=describe_contest(contest), ends=ends)


def sigma_errors(joined: JoinedRatings, contest: Contest, rescaled: bool = False) -> Array:
    """The distance of the proxy's sigma from people's on Best-of-K's choice.

    Args:
        joined: A proxy's scores and people's ratings of the same candidates.
        contest: The contest in which the proxy selects and people judge.
        rescaled: Whether each sigma is in deviations of all its samples; of several scorers it
            always is.

    Returns:
        The distances (R, P).
    """
    best_of_k = contest.choice[:, 0]
    proxy = _chosen_sigma(joined.proxy, best_of_k, rescaled)
    human = _chosen_sigma(joined.human, best_of_k, rescaled)
    return np.abs(proxy - human)


def _chosen_sigma(ratings: Ratings, choice: Integers, rescaled: bool) -> Array:
    scale = 1.0
    if rescaled and len(ratings.scorers) == 1:
        scale = pooled_units(ratings.samples)[1][0]
    return values_at(aggregate(ratings.samples).sigma / scale, choice)


def quantile_buckets(values: Array, buckets: int = BUCKETS) -> tuple[list[Mask], Array]:
    """Divide the prompts of each split at the quantiles of their values.

    An edge belongs to the part below it, so ties leave the parts unequal.

    Args:
        values: One value per split and prompt (R, P); a prompt with NaN is in no part.
        buckets: The number of parts.

    Returns:
        The prompts of each part (R, P), and the edges (R, buckets + 1) with both ends.
    """
    has_value = ~np.isnan(values)
    edges = np.full((len(values), buckets + 1), np.nan)
    for split, (row, row_has_value) in enumerate(zip(values, has_value, strict=True)):
        if row_has_value.any():
            edges[split] = np.quantile(row[row_has_value], np.linspace(0, 1, buckets + 1))
    place = np.sum(values[:, :, None] > edges[:, None, 1:-1], axis=2)
    return [has_value & (place == number) for number in range(buckets)], edges
