from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.decide.search.test_lazy import ask_of
from tests.helpers import Array

import darc
from darc.decide.search import plans
from darc.decide.search.rows import BARRED, SURE, Row, View
from darc.decide.statistics import risk

# The plans of rules in other packages, who need not know how a row bounds its objective.
OWN_PLANS: dict[str, plans.Plan] = {
    "entropic": plans.by_row(lambda row, _: own_top(row, risk.entropic_value)),
    "mean": plans.by_row(lambda row, _: own_top(row, risk.mean)),
    "cvar": plans.by_row(lambda row, p: own_top(row, lambda s: risk.cvar(s, p["alpha"]))),
}


def own_top(row: Row, statistic: Callable[[Array], Array]) -> float:
    """A statistic with every unseen sample at its upper bound."""
    seen = np.array([[*samples] for samples in row.samples])
    top = np.repeat(np.array(row.frame.high)[:, None], row.unseen, axis=1)
    each = statistic(np.concatenate([seen, top], axis=1)) if row.total else np.array([np.nan])
    return float(risk.entropic_value(each) if statistic is risk.entropic_value else each.mean())


def own_tau(view: View, parameters: Any) -> list[float]:
    limit = parameters["tau"] + view.tolerance
    rows = view.rows
    barred = [standing is BARRED for standing in view.standing]
    possible = [
        row.least_premium <= limit and row.total > 1 and not out
        for row, out in zip(rows, barred, strict=True)
    ]
    some = any(possible)
    upper = [row.best_under(limit, "value") if some else row.top.value for row in rows]
    known = [
        bound
        for bound, fine, standing in zip(upper, possible, view.standing, strict=True)
        if standing is SURE and (fine or not some)
    ]
    best = max(known, default=plans.NEVER)
    return [
        bound
        if row.unseen and (fine or not some) and bound >= best - view.tolerance
        else plans.NEVER
        for row, bound, fine in zip(rows, upper, possible, strict=True)
    ]


@pytest.mark.parametrize("rule", [*OWN_PLANS, "tau"])
@pytest.mark.parametrize("scorers", [1, 3])
def test_a_plan_of_ones_own_asks_the_same(rule: str, scorers: int) -> None:
    generator = np.random.default_rng(5)
    plan = {**OWN_PLANS, "tau": own_tau}[rule]
    options: dict[str, Any] = {"tau": 0.4} if rule == "tau" else {}
    options["normalize"] = "none" if scorers == 1 else ([0.0, 1.0, -1.0], [1.0, 2.0, 0.5])
    function = darc.Rule("own", darc.rules.get(rule).function, plan=plan)
    for _ in range(12):
        scores = np.clip(generator.normal(size=(scorers, 6, 5)) * 2, -10, 10)
        scores[:, generator.random((6, 5)) < 0.1] = np.nan
        asked: list[list[list[tuple[int, int]]]] = []
        for chosen in (rule, function):
            search = darc.lazy_search(6, 5, chosen, **options)
            answer = ask_of(scores)
            asked.append([])
            while pairs := search.ask(2):
                asked[-1].append(pairs)
                search.tell(pairs, answer(pairs))
            assert search.decision().index == darc.select(scores, rule, **options).index
        assert asked[0] == asked[1]
