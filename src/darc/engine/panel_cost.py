"""How many calls and tokens the grades of a panel take."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import default_rng

from darc.decide.method import Method
from darc.engine.adaptive_panel import adaptive_asking, asking_model, asks_adaptively
from darc.engine.tools import Tools
from darc.parts.scorers.list_judge import ListJudge
from darc.parts.scorers.pair_judge import number_of_pairs
from darc.parts.scorers.panel import Panel
from darc.parts.scorers.panel_settings import LISTWISE, PAIRWISE

#: How long answers are taken to be, in tokens.
ANSWER_TOKENS = 320
_CHARACTERS_PER_TOKEN = 4
# Instructions, the question, the description of the rater and the reply.
_TOKENS_AROUND_ANSWERS = 550
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
    """What the grades of a decision take."""

    #: The largest number of calls. In a listwise panel it holds even if judges fail.
    most: int
    #: The number of calls on average.
    average: int
    #: How many tokens judges read and write in `average` calls, about.
    tokens: int


def estimate_panel_cost(tools: Tools, method: Method, k: int, wave: int | None = None) -> PanelCost:
    """Estimate what the grades of a decision among k answers take.

    The average of raters who see one answer at a time is that of simulated grades: answers differ
    by a standard deviation of 1.5, and raters by as much again.

    Args:
        tools: The tools of an engine with a panel.
        method: How the engine decides.
        k: How many answers there are.
        wave: How many grades the search asks for at a time, by default one per answer.

    Returns:
        The calls and tokens, for answers of `ANSWER_TOKENS` tokens to a short question.
    """
    panel = tools.panel
    assert panel is not None
    if panel.mode == LISTWISE:
        return _cost_of_lists(tools, method, k)
    if panel.mode == PAIRWISE:
        most = 2 * number_of_pairs(k) * len(tools.scorers)
        return PanelCost(most, most, most * (_TOKENS_AROUND_ANSWERS + 2 * ANSWER_TOKENS))
    calls = _cost_of_grades(tools, panel, method, k, wave)
    tokens = calls.average * (_TOKENS_AROUND_ANSWERS + ANSWER_TOKENS)
    return replace(calls, tokens=tokens)


def _cost_of_lists(tools: Tools, method: Method, k: int) -> PanelCost:
    """One call per list of answers and rater who is asked, and one that may be repeated."""
    answers = ["x" * (_CHARACTERS_PER_TOKEN * ANSWER_TOKENS)] * k
    calls = 0
    for scorer in tools.scorers:
        assert isinstance(scorer.part, ListJudge)
        calls += len(scorer.part.parts(answers))
    most = calls + 1
    raters = len(tools.scorers)
    if asks_adaptively(method, tools.empty_scores((), 0)):
        raters = -(-_adaptive_calls(tools, method, k) // k)
        calls = -(-calls * raters // len(tools.scorers))
    tokens = calls * _TOKENS_AROUND_ANSWERS + raters * k * ANSWER_TOKENS
    return PanelCost(most=most, average=calls, tokens=tokens)


def _adaptive_calls(tools: Tools, method: Method, k: int) -> int:
    """How many grades are asked for on average by what they are worth, as the calibration says."""
    empty = tools.empty_scores((), 0)
    raters = empty.values.shape[2]
    scores = replace(empty, values=np.zeros((1, k, raters)))
    model = asking_model(method, scores)
    random = default_rng(0)
    asked = 0
    for pool in range(_MAX_POOLS):
        answers = random.normal(0, np.sqrt(model.noise.candidates), (k, 1))
        grades = answers + random.normal(0, np.sqrt(model.noise.rating), (k, raters))
        asking = adaptive_asking(method, str(pool), scores)
        seen = np.full((k, raters), np.nan)
        while pairs := asking.ask():
            for pair in pairs:
                seen[pair] = grades[pair] + model.severity[pair[1]]
            asking.tell(seen)
        asked += int(np.isfinite(seen).sum())
    return -(-asked // _MAX_POOLS)


def _cost_of_grades(
    tools: Tools, panel: Panel, method: Method, k: int, wave: int | None
) -> PanelCost:
    """One call per rater and answer, as far as the search needs them."""
    raters = len(panel)
    most = k * raters * panel.repeats
    batch = wave or k
    empty = tools.empty_scores((), 0)
    if asks_adaptively(method, empty):
        return PanelCost(most, _adaptive_calls(tools, method, k), 0)
    if panel.repeats > 1 or not method.can_search(empty) or k * raters <= batch:
        return PanelCost(most, most, 0)
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
    return PanelCost(most, -(-calls // pools), 0)
