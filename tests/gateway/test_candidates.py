import pytest

from darc.gateway.bodies import Budget
from darc.gateway.candidates import Spent
from darc.models.remote.problems import OverLimit


def test_calls_are_counted_by_stage_even_if_they_fail() -> None:
    spent = Spent(Budget())
    meter = spent.stages["scores"]
    for answer in ({"usage": {"total_tokens": 4}}, None, {"usage": None}):
        meter.begin("url")
        meter.add(answer)
    assert spent.items()["scores"] == {"calls": 3, "total_tokens": 4}
    none = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    assert spent.total() == {**none, "upstream": {"calls": 3, "tokens": 4}}


def test_limits_hold_for_all_stages_together() -> None:
    spent = Spent(Budget(upstream_calls=3))
    for stage in ("candidates", "rewrites", "scores"):
        spent.stages[stage].begin("url")
    with pytest.raises(OverLimit, match="used its 3 calls; raise max_calls"):
        spent.stages["candidates"].begin("url")
    assert [spent.items()[name]["calls"] for name in spent.items()] == [1, 1, 1]
