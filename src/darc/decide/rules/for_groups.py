"""Choices for a group of raters, for a mix of groups, or for the group that is served worst."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from darc.decide.choice import Choice, largest
from darc.decide.evidence.groups import (
    GAINING_COUNT,
    GAINING_RATIO,
    LEAST_RATIO,
    GroupModel,
    GroupPosterior,
    group_posterior,
    learn_group_model,
    parse_mix,
)
from darc.decide.ids import UNKNOWN, Ids
from darc.decide.model.calibration import DEFAULT, Calibration, Given
from darc.decide.pools import Pools
from darc.decide.registry import rule
from darc.decide.rules.welfare import averaged
from darc.decide.statistics.arrays import check_number
from darc.errors import InputError
from darc.typing import Array, Mask, Number

# A group's mean may be below the limit with this probability at most.
CHANCE = 0.1


def _learn(pools: Pools, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Learn from the pools by how much groups differ, unless a calibration knows it."""
    calibration = parameters["calibration"]
    if isinstance(calibration, Calibration) and calibration.groups is not None:
        return {}
    ids = _groups_of(pools, None)
    model = learn_group_model(averaged(pools), ids.codes, ids.names)
    return {"calibration": Calibration(groups=model)}


@rule(
    "for_groups",
    explanation="the largest expected mean for {whom}",
    instead={"no_groups": "the largest expected mean for all raters"},
    evaluated_by_default=False,
    uses_raters=True,
    allow_few_samples=True,
    calibrate=_learn,
)
def for_groups(
    pools: Pools,
    *,
    group: str = "",
    mix: str | None = None,
    worst: bool = False,
    floor: Number | None = None,
    calibration: Given = None,
) -> Choice:
    """Largest expected mean for a `group`, a `mix` of groups, or the `worst` served group.

    A group's mean is drawn towards the candidate's mean plus what the group usually adds, by how
    far groups were found to differ on candidates. Without any of the three, groups count by their
    ratings. With a `floor` only candidates count that no group has below it with a probability of
    more than 10 %. How far groups differ comes from a `calibration`, else from the first batch of
    prompts; where that is not known, or for the worst group where it is little, the mean for all
    raters decides and the flag `no_groups` is set.
    """
    if sum([group != "", mix is not None, worst]) > 1:
        raise InputError("group, mix and worst exclude each other", "give one of them")
    model = None
    if isinstance(calibration, Calibration):
        model = calibration.groups
    ids = _groups_of(pools, model)
    is_known = model is not None
    if model is None:
        model = _alike(pools, ids)
    posterior = group_posterior(averaged(pools), ids.codes, ids.names, model)
    shares = _shares(ids, posterior, str(group), mix)
    objective = posterior.mixed(shares)
    has_groups = is_known
    if worst:
        has_groups = is_known and model.ratio >= LEAST_RATIO
        if has_groups:
            objective = posterior.worst()
    feasible = pools.eligible
    unmet = np.zeros(len(objective), dtype=bool)
    if floor is not None:
        limit = check_number("floor", floor)
        is_low = (posterior.chance_below(limit) > CHANCE) & posterior.takes_part[:, None]
        is_fine = ~np.any(is_low, axis=2)
        feasible = np.asarray(pools.eligible & is_fine)
        unmet = ~np.any(feasible, axis=1)
        feasible = np.where(unmet[:, None], pools.eligible, feasible)
    prompts = len(objective)
    return largest(
        pools,
        np.where(pools.eligible, objective, np.nan),
        feasible,
        flags={
            "no_groups": np.full(prompts, not has_groups),
            "below_floor": unmet,
            "few_per_group": _is_doubtful(posterior, pools, model, worst and has_groups),
        },
        facts={
            "whom": np.full(prompts, _whom(str(group), mix, worst)),
            "ratio": np.full(prompts, model.ratio),
            "group_names": np.tile(np.array(ids.names), (prompts, 1)),
            "group_means": posterior.mean,
        },
    )


def _groups_of(pools: Pools, model: GroupModel | None) -> Ids:
    """The group of each sample, (P, K, n); the names are those of the model and of the pools."""
    raters = pools.raters
    if raters is not None and model is not None:
        raters = Ids(raters.codes, raters.names, {**model.members, **raters.groups})
    ids = None if raters is None else raters.grouped()
    samples = averaged(pools)
    if ids is None or not np.any((ids.codes >= 0) & ~np.isnan(samples)):
        raise InputError(
            "rule 'for_groups' needs the groups of raters",
            "give a column rater_group, or rater_ids=... and rater_groups={rater: group}",
        )
    if model is None:
        return ids
    names = tuple(sorted({*ids.names, *model.effects}))
    table = np.array([*(names.index(name) for name in ids.names), UNKNOWN])
    return Ids(table[ids.codes], names)


def _alike(pools: Pools, ids: Ids) -> GroupModel:
    """A model in which groups do not differ, for when nothing is known of them."""
    samples = averaged(pools)
    count = (~np.isnan(samples)).sum(axis=2)
    mean = np.nan_to_num(pools.statistics.mean)
    squares = np.nansum((samples - mean[..., None]) ** 2)
    variance = float(squares / max(int(np.maximum(count - 1, 0).sum()), 1))
    (candidates, _), _ = DEFAULT.candidates
    return GroupModel(
        effects=dict.fromkeys(ids.names, 0.0),
        groups=0.0,
        candidates=max(candidates * variance, 1e-6),
        ratings=max(variance, 1e-6),
    )


def _shares(ids: Ids, posterior: GroupPosterior, group: str, mix: str | None) -> Array:
    """The share of each group that the choice is for, (G,).

    Raises:
        InputError: If nobody is in a group.
    """
    if group:
        shares = {group: 1.0}
    elif mix is not None:
        shares = parse_mix(mix)
    else:
        return np.asarray(posterior.count.sum(axis=(0, 1)), dtype=np.float64)
    for name in shares:
        if name not in ids.names:
            raise InputError(
                f"there is no group {name!r} of raters", f"the groups are {', '.join(ids.names)}"
            )
    return np.array([shares.get(name, 0.0) for name in ids.names])


def _is_doubtful(
    posterior: GroupPosterior, pools: Pools, model: GroupModel, for_worst: bool
) -> Mask:
    """Where a choice for the worst group has not been found to gain, (P,)."""
    prompts = len(posterior.mean)
    if not for_worst:
        return np.zeros(prompts, dtype=bool)
    has_few = (posterior.count < GAINING_COUNT) & posterior.takes_part[:, None]
    has_few = has_few & pools.eligible[..., None]
    return np.asarray(np.any(has_few, axis=(1, 2)) | (model.ratio < GAINING_RATIO))


def _whom(group: str, mix: str | None, worst: bool) -> str:
    """Whom the choice is for, in words."""
    if group:
        return f"the group {group}"
    if worst:
        return "the group that it serves worst"
    if mix is not None:
        parts = [f"{share:g} {name}" for name, share in parse_mix(mix).items()]
        return f"a mix of groups ({', '.join(parts)})"
    return "all groups by their ratings"
