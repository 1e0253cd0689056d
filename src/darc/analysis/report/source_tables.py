"""The table that puts the methods of several sources beside the base's Best-of-K."""

from collections.abc import Callable, Sequence

import numpy as np

from darc.analysis.bootstrap import average, estimate, tail
from darc.analysis.evaluate.base_subset import base_places, is_beside
from darc.analysis.evaluate.contest import Contest
from darc.analysis.frame import Frame, Record, table
from darc.analysis.report.contest_columns import method_rows
from darc.typing import Array


def source_table(contests: Sequence[Contest]) -> Frame:
    """The change of each method of each source against Best-of-K of the first one.

    Changes are of the same prompts, with 95 % intervals from resamples of the prompts.

    Args:
        contests: Contests on the same high-variance prompts; the first is the base. Those of other
            prompts are left out.

    Returns:
        One row per subset, source and method; no rows without a second source.
    """
    rows: list[Record] = []
    if not contests:
        return table("base_changes", rows, base="")
    base = contests[0]
    beside = [contest for contest in contests if is_beside(contest, base)]
    if len(beside) > 1:
        for subset in base.subsets:
            for contest in beside:
                if subset in contest.subsets:
                    rows += _source_rows(contest, base, subset)
    return table("base_changes", rows, base=base.ratings.name)


def _source_rows(contest: Contest, base: Contest, subset: str) -> list[Record]:
    places = base_places(contest, base)
    among = contest.subsets[subset] & base.usable[:, places]

    def paired(values: Array, base_values: Array) -> Callable[[Array], Array]:
        difference = values - base_values[:, :1, places]
        return lambda counts: average(difference, among, counts)

    def tails(counts: Array) -> Array:
        share = contest.settings.tail
        base_tail = tail(base.outcome[:, :1, places], among, counts, share)
        return np.asarray(tail(contest.outcome, among, counts, share) - base_tail)

    statistics = {
        "reward": paired(contest.reward, base.reward),
        "risk": paired(contest.risk, base.risk),
        "tradeoff": paired(contest.tradeoff, base.tradeoff),
        contest.settings.tail_name: tails,
    }
    columns: dict[str, Array] = {}
    for name, statistic in statistics.items():
        delta, (low, high) = estimate(statistic, contest.counts)
        columns |= {f"delta_{name}": delta, f"low_{name}": low, f"high_{name}": high}
    return method_rows(contest, among, columns, subset=subset)
