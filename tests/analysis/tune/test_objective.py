import numpy as np
import pytest

from darc.analysis.tune.objective import Objective
from darc.errors import DarcError

MEAN = np.array([[5.0, 3.0, 4.0, 9.0]])
SIGMA = np.array([[1.0, 0.0, 2.0, 4.0]])
ALL = np.ones((1, 4), dtype=bool)
ONCE = np.ones((1, 4))


def value(objective: Objective) -> float:
    outcome = objective.outcome(MEAN, SIGMA)[None]
    return float(objective.over(outcome, ALL, ONCE)[0, 0, 0])


def test_objectives_by_hand() -> None:
    assert value(Objective("tradeoff")) == pytest.approx((3.0 + 3.0 + 0.0 + 1.0) / 4)
    assert value(Objective("tradeoff", lam=0.0)) == pytest.approx(21 / 4)
    assert value(Objective("cvar")) == 3.0
    assert value(Objective("cvar", share=0.5)) == 3.5
    assert value(Objective("mean")) == pytest.approx(21 / 4)


def test_best_of_settings() -> None:
    merit = np.array([1.0, 3.0, 3.0, np.nan])
    sigma = np.array([0.5, 2.0, 1.0, 0.1])
    assert Objective("mean").best(merit, sigma) == 1
    assert Objective("mean", risk_cap=1.0).best(merit, sigma) == 2
    assert Objective("mean", risk_cap=0.7).best(merit, sigma) == 0
    assert Objective("mean", risk_cap=0.01).best(merit, sigma) == 3


@pytest.mark.parametrize(
    "arguments",
    [{"name": "median"}, {"risk_cap": 1.0}, {"name": "mean", "risk_cap": -1.0}, {"lam": -1.0}],
)
def test_refusals(arguments: dict[str, float]) -> None:
    with pytest.raises(DarcError):
        Objective(**arguments)  # type: ignore[arg-type]
