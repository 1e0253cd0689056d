"""How many grades of a panel a decision takes."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import default_rng

from darc.decide.method import Method
from darc.engine.tools import Tools

# The average is estimated from simulated pools of grades: at most 20 of them, fewer where a pool
# is large.
_MAX_POOLS = 20
_MIN_POOLS = 4
_MAX_GRADES = 2560
# The mean of the simulated grades, and the standard deviation of answers and of raters.
_MEAN_GRADE = 6.5
_SPREAD = 1.5


@dataclass(frozen=True)
class PanelCost:
    """The number of grades that a decision takes."""

    most: int
    average: int


def estimate_panel_cost(tools: Tools, method: Method, k: int, wave: int | None = None) -> PanelCost:
    """Estimate how many grades a decision among k answers takes.

    The average is that of simulated grades: answers differ by a standard deviation of 1.5, and
    raters by as much again.

    Args:
        tools: The tools of an engine with a panel.
        method: How the engine decides.
        k: How many answers there are.
        wave: How many grades the search asks for at a time, by default one per answer.

    Returns:
        The largest number of grades and the average one.
    """
    panel = tools.panel
    assert panel is not None
    raters = len(panel)
    most = k * raters * panel.repeats
    batch = wave or k
    empty = tools.empty_scores((), 0)
    if panel.repeats > 1 or not method.can_search(empty) or k * raters <= batch:
        return PanelCost(most, most)
    scores = replace(empty, values=np.zeros((1, k, raters)))
    random = default_rng(0)
    pools = max(_MIN_POOLS, min(_MAX_POOLS, _MAX_GRADES // most))
    calls = 0
    for _ in range(pools):
        answers = random.normal(_MEAN_GRADE, _SPREAD, (k, 1))
        grades = answers + random.normal(0, _SPREAD, (k, raters))
        grades = np.clip(np.round(grades), *empty.bounds[0])
        search = method.search(scores)
        while pairs := search.ask(batch):
            search.tell(pairs, [grades[pair] for pair in pairs])
        calls += search.calls
    return PanelCost(most, -(-calls // pools))
