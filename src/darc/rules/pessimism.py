"""Best-of-N with a chi-square penalty, by rejection sampling."""

import numpy as np

from darc.core.arrays import check_level
from darc.core.draws import uniforms
from darc.registry import rule
from darc.selection.pools import Pools
from darc.selection.rule import Choice, largest

MOST = 1e200


@rule(
    "pessimism", because="been accepted first, by a weight that rises with its mean", unasked=False
)
def pessimism(pools: Pools, *, b: float = 1.0) -> Choice:
    """A candidate accepted with probability w / max w, w = max(0, (mean - t) / b), mean w = 1.

    Candidates are offered in a random order, seeded per prompt; the larger b, the nearer to a plain
    draw, and 0 is Best-of-K. Huang et al., Is Best-of-N the best of them? (arXiv 2503.21878).
    """
    level, eligible, mean = min(check_level("b", b), MOST), pools.eligible, pools.statistics.mean
    if level == 0:
        return largest(pools, mean)
    size = eligible.shape[1]
    top = np.max(np.where(eligible, mean, -np.inf), axis=1, keepdims=True)
    gap = np.where(eligible, mean - top, -np.inf)
    # Of the first j by mean each gives a lower bound of t, and the right j gives t itself.
    ordered = -np.sort(-gap, axis=1)
    total = np.cumsum(np.where(np.isinf(ordered), 0.0, ordered), axis=1)
    number = eligible.sum(axis=1, keepdims=True)
    first = np.arange(1, size + 1)
    bounds = np.where(first <= number, (total - level * number) / first, -np.inf)
    t = bounds.max(axis=1, keepdims=True)
    accepted = np.where(eligible, np.maximum(gap - t, 0.0) / -t, 0.0)
    lots = uniforms(pools.seeds, 2 * size)
    offered = np.where(lots[:, size:] < accepted, lots[:, :size], np.inf)
    return Choice(offered.argmin(axis=1), np.where(eligible, accepted, np.nan), eligible)
