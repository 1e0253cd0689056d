"""What every setting of a grid would choose."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from darc.evaluation.tuning.setting import Setting
from darc.selection.decide import decide
from darc.selection.pools import Pools

Integers = NDArray[np.int64]
Report = Callable[[int], None]


def choices(
    pools: Pools, settings: Sequence[Setting], report: Report = lambda done: None
) -> NDArray[np.int32]:
    """The candidate that each setting chooses for each prompt, (G, P), by the rules' own functions.

    The statistics are computed once for every beta, and each setting is then a few array operations
    over (P, K): O(B P M K n + G P K) for B betas. `report(1)` follows every setting.
    """
    result = np.empty((len(settings), len(pools.samples)), dtype=np.int32)
    by_beta: dict[float | None, list[int]] = {}
    for place, setting in enumerate(settings):
        by_beta.setdefault(setting.beta, []).append(place)
    for beta, places in by_beta.items():
        shared = pools if beta is None else replace(pools, beta=beta)
        for place in places:
            rule = settings[place].bound()
            if rule.calibrate is None:
                result[place] = rule.choose(shared).index
            else:  # It is fitted to the prompts at hand, and refuses side inputs it has no use for.
                result[place] = decide(rule, replace(shared, side={})).index
            report(1)
    return result
