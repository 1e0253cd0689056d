"""A rule applied to pools."""

from collections.abc import Sequence

import numpy as np

from darc.core.risk import small_sample
from darc.errors import InputError
from darc.selection.decision import Decisions
from darc.selection.pools import Pools
from darc.selection.rule import Rule


def decide(
    rule: Rule,
    pools: Pools,
    candidate_ids: Sequence[Sequence[str]] | None = None,
    sample: str = "sample",
) -> Decisions:
    """The `Decisions` of a rule; a rule that is fitted to a batch is fitted here."""
    pools.check()
    for name in pools.side:
        if name not in (*rule.required(), *rule.takes):
            raise InputError(f"rule {rule.name!r} does not use {name!r}", "leave it out")
    pools = pools.keeping_few() if rule.few else pools
    bound = rule.bind()
    if rule.calibrate is not None:
        bound = bound.bind(**rule.calibrate(pools, bound.parameters))
    choice = bound.choose(pools)
    statistics, rows = pools.statistics, np.arange(len(choice.index))
    flags = {
        **choice.flags,
        "few_samples": np.any(pools.left_out, axis=1),
        "constant_scorer": np.any(statistics.constant, axis=1),
    }
    if rule.by_value:
        sigma, count = statistics.sigma[rows, choice.index], statistics.count[rows, choice.index]
        flags["small_sample"] = small_sample(pools.beta, sigma, count)
    return Decisions(bound, pools, choice, flags, candidate_ids, sample)
