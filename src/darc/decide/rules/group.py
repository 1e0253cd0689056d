"""A soft minimum over groups of raters, where there is more to it than noise."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from darc.decide.choice import Choice, largest
from darc.decide.ids import Ids
from darc.decide.model.severity import FEWEST_DF
from darc.decide.pools import Pools
from darc.decide.registry import rule
from darc.decide.rules.welfare import averaged
from darc.decide.statistics.arrays import check_number
from darc.decide.statistics.risk import entropic_value
from darc.errors import InputError
from darc.typing import Array, Number


@rule(
    "group",
    explanation=(
        "the largest soft minimum over groups, who differ on it {ratio:.2g} times as much as "
        "candidates do"
    ),
    instead={"no_groups": "the largest mean"},
    evaluated_by_default=False,
    uses_raters=True,
    calibrate=lambda pools, p: {"learnt": p["learnt"] or learn_groups(pools)},
)
def group(
    pools: Pools, *, floor: Number | None = None, learnt: Mapping[str, Any] | None = None
) -> Choice:
    """Largest soft minimum (gamma) over groups of raters of their means, as far as these are known.

    A group's mean is drawn towards the candidate's own plus what the group usually adds, by how far
    ratings vary and groups differ on candidates. With a `floor` only candidates count that no group
    has below it. Where groups differ on candidates less than candidates differ, the minimum is of
    noise: the mean decides, and the flag `no_groups` is set. What is `learnt` of the groups comes
    from the first batch of prompts.
    """
    found = learnt or learn_groups(pools)
    mean, count, ids = _group_means(pools)
    usual = pools.statistics.mean[..., None] + [found["effects"].get(n, 0.0) for n in ids.names]
    spread = found["groups"] if found["ratio"] >= 1 else 0.0
    trust = spread * count / np.maximum(spread * count + found["within"], 1e-300)
    means = usual + np.where(count > 0, trust * (mean - usual), 0.0)
    edge = -np.inf if floor is None else check_number("floor", floor) - pools.tolerance
    feasible = np.asarray(pools.eligible & ~(np.min(means, axis=2) < edge))
    unmet = ~np.any(feasible, axis=1)
    return largest(
        pools,
        entropic_value(means, pools.gamma) if spread > 0 else pools.statistics.mean,
        np.where(unmet[:, None], pools.eligible, feasible),
        flags={"no_groups": np.full(len(mean), spread == 0), "below_floor": unmet},
        facts={"ratio": np.full(len(mean), found["ratio"])},
    )


def learn_groups(pools: Pools) -> dict[str, Any]:
    """What groups differ by in a batch of prompts, by moments.

    `effects` is what each adds to a candidate's mean, `groups` the variance of what it adds to one
    candidate beyond that, `within` the variance of its ratings of one, and `ratio` that of `groups`
    to the variance of candidates' means within prompts, 0 below 10 degrees of freedom.
    """
    mean, count, ids = _group_means(pools)
    known, middle = np.asarray(count > 0), pools.statistics.mean
    padded = np.append(mean, np.full_like(mean[..., :1], np.nan), axis=2)
    left = averaged(pools) - np.take_along_axis(padded, ids.codes, axis=2)
    within = float(np.nansum(left**2)) / max(int((count - known).sum()), 1)
    above = np.where(known, mean - middle[..., None], 0.0)
    effects = above.sum(axis=(0, 1)) / np.maximum(known.sum(axis=(0, 1)), 1)
    seen = known.any(axis=2)
    df = int(known.sum() - seen.sum()) - len(ids.names) + 1
    apart = float((np.where(known, above - effects, 0.0) ** 2).sum()) / max(df, 1)
    groups = max(0.0, apart - within * float((1 / count[known]).mean()))
    centre = np.where(seen, middle, 0.0).sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
    gaps = np.where(seen, middle - centre[:, None], 0.0)
    spread = float((gaps**2).sum()) / max(int(seen.sum() - np.any(seen, axis=1).sum()), 1)
    own = spread - within * float((1 / count.sum(axis=2)[seen]).mean())
    ratio = groups / max(own, 1e-6 * spread, 1e-300) if df >= FEWEST_DF else 0.0
    names = zip(ids.names, effects.tolist(), strict=True)
    return {"effects": dict(names), "groups": groups, "within": within, "ratio": ratio}


def _group_means(pools: Pools) -> tuple[Array, Array, Ids]:
    """The mean and number of each group's samples, (P, K, G), and the group of each (P, K, n)."""
    samples, ids = averaged(pools), pools.raters and pools.raters.grouped()
    if ids is None or not np.any((ids.codes >= 0) & ~np.isnan(samples)):
        raise InputError(
            "rule 'group' needs the groups of raters",
            "give a column rater_group, or rater_ids=... and rater_groups={rater: group}",
        )
    member = (ids.codes[..., None] == np.arange(len(ids.names))) & ~np.isnan(samples)[..., None]
    count = member.sum(axis=2)
    total = np.where(member, samples[..., None], 0.0).sum(axis=2)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan), count, ids
