"""What every setting of a grid would choose."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.evaluation.tuning.setting import Setting
from darc.selection.pools import Pools

Report = Callable[[int], None]


def choices(
    pools: Pools,
    settings: Sequence[Setting],
    report: Report = lambda done: None,
    calibration: Any = None,
) -> NDArray[np.int32]:
    """The candidate that each setting chooses for each prompt, (G, P), by the rules' own functions.

    The statistics are computed once for every beta, and each setting is then a few array operations
    over (P, K): O(B P M K n + G P K) for B betas. A rule that learns does so from the pools, for
    each setting anew, unless it has a `calibration`. `report(1)` follows every setting.
    """
    result = np.empty((len(settings), len(pools.samples)), dtype=np.int32)
    by_beta: dict[float | None, list[int]] = {}
    for place, setting in enumerate(settings):
        by_beta.setdefault(setting.beta, []).append(place)
    for beta, places in by_beta.items():
        shared = pools if beta is None else replace(pools, beta=beta)
        for place in places:
            rule = settings[place].bound()
            if "calibration" in rule.defaults and calibration is not None:
                rule = rule.bind(calibration=calibration)
            if rule.calibrate is not None:
                rule = rule.bind(**rule.calibrate(shared, rule.parameters))
            result[place] = rule.choose(shared.keeping_few() if rule.few else shared).index
            report(1)
    return result
