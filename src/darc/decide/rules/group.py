"""A soft minimum over groups of raters, where there is more to it than noise."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
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

# Keeps divisions by nothing finite.
TINY = 1e-300
# The least variance of candidates' means, as a share of what is seen.
SMALLEST_SHARE = 1e-6


@dataclass(frozen=True)
class GroupDifferences:
    """By how much groups of raters differ."""

    #: What each group adds to a candidate's mean, by its name.
    effects: Mapping[str, float]
    #: The variance of what a group adds to one candidate beyond that.
    groups: float
    #: The variance of a group's ratings of one candidate.
    within: float
    #: `groups` over the variance of candidates' means within prompts; 0 if it is not measurable.
    ratio: float


def _fit_groups(pools: Pools, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Learn from the pools by how much groups differ, unless it is given."""
    if parameters["learnt"] is not None:
        return {}
    return {"learnt": asdict(learn_groups(pools))}


@rule(
    "group",
    explanation=(
        "the largest soft minimum over groups, who differ on it {ratio:.2g} times as much as "
        "candidates do"
    ),
    instead={"no_groups": "the largest mean"},
    evaluated_by_default=False,
    uses_raters=True,
    calibrate=_fit_groups,
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
    differences = GroupDifferences(**learnt) if learnt else learn_groups(pools)
    mean, count, ids = _group_means(pools)
    effects = [differences.effects.get(name, 0.0) for name in ids.names]
    expected = pools.statistics.mean[..., None] + effects
    between = differences.groups if differences.ratio >= 1 else 0.0
    trust = between * count / np.maximum(between * count + differences.within, TINY)
    means = expected + np.where(count > 0, trust * (mean - expected), 0.0)
    feasible = pools.eligible
    if floor is not None:
        edge = check_number("floor", floor) - pools.tolerance
        feasible = np.asarray(pools.eligible & ~(np.min(means, axis=2) < edge))
    unmet = ~np.any(feasible, axis=1)
    objective = pools.statistics.mean
    if between > 0:
        objective = np.asarray(entropic_value(means, pools.gamma))
    return largest(
        pools,
        objective,
        np.where(unmet[:, None], pools.eligible, feasible),
        flags={"no_groups": np.full(len(mean), between == 0), "below_floor": unmet},
        facts={"ratio": np.full(len(mean), differences.ratio)},
    )


def learn_groups(pools: Pools) -> GroupDifferences:
    """Estimate by moments, from a batch of prompts, by how much groups differ.

    The ratio is 0 below `FEWEST_DF` degrees of freedom.
    """
    mean, count, ids = _group_means(pools)
    has_ratings = np.asarray(count > 0)
    candidate_mean = pools.statistics.mean
    # The last column is where the code of an unknown group points to.
    padded = np.append(mean, np.full_like(mean[..., :1], np.nan), axis=2)
    residuals = averaged(pools) - np.take_along_axis(padded, ids.codes, axis=2)
    within = float(np.nansum(residuals**2)) / max(int((count - has_ratings).sum()), 1)
    above = np.where(has_ratings, mean - candidate_mean[..., None], 0.0)
    effects = above.sum(axis=(0, 1)) / np.maximum(has_ratings.sum(axis=(0, 1)), 1)
    seen = has_ratings.any(axis=2)
    df = int(has_ratings.sum() - seen.sum()) - len(ids.names) + 1
    squares = float((np.where(has_ratings, above - effects, 0.0) ** 2).sum())
    between = max(0.0, squares / max(df, 1) - within * float((1 / count[has_ratings]).mean()))
    ratio = 0.0
    if df >= FEWEST_DF:
        ratio = between / _candidate_variance(candidate_mean, count, within)
    by_name = dict(zip(ids.names, effects.tolist(), strict=True))
    return GroupDifferences(effects=by_name, groups=between, within=within, ratio=ratio)


def _candidate_variance(mean: Array, count: Array, within: float) -> float:
    """The variance of candidates' means (P, K) within prompts, without that of their ratings."""
    seen = np.asarray((count > 0).any(axis=2))
    centre = np.where(seen, mean, 0.0).sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
    gaps = np.where(seen, mean - centre[:, None], 0.0)
    df = max(int(seen.sum() - np.any(seen, axis=1).sum()), 1)
    spread = float((gaps**2).sum()) / df
    own_variance = spread - within * float((1 / count.sum(axis=2)[seen]).mean())
    return max(own_variance, SMALLEST_SHARE * spread, TINY)


def _group_means(pools: Pools) -> tuple[Array, Array, Ids]:
    """The mean and number of each group's samples, (P, K, G), and the group of each (P, K, n)."""
    samples = averaged(pools)
    ids = None if pools.raters is None else pools.raters.grouped()
    if ids is None or not np.any((ids.codes >= 0) & ~np.isnan(samples)):
        raise InputError(
            "rule 'group' needs the groups of raters",
            "give a column rater_group, or rater_ids=... and rater_groups={rater: group}",
        )
    member = (ids.codes[..., None] == np.arange(len(ids.names))) & ~np.isnan(samples)[..., None]
    count = member.sum(axis=2)
    total = np.where(member, samples[..., None], 0.0).sum(axis=2)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return mean, count, ids
