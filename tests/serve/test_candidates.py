from typing import Any

import pytest

from darc.models.remote.errors import OverLimit
from darc.serve.candidates import Work
from darc.serve.requests import Forms, read_prompt
from darc.serve.settings import ServeSettings


def work(**budget: Any) -> Work:
    method = Forms(ServeSettings()).method({"budget": budget})
    return Work(method, read_prompt([{"role": "user", "content": "Hi"}]), "r", {})


def test_calls_are_counted_by_stage_even_if_they_fail() -> None:
    one = work()
    meter = one.stages["scores"]
    for answer in ({"usage": {"total_tokens": 4}}, None, {"usage": None}):
        meter.begin("url")
        meter.add(answer)
    assert (meter.calls, meter.usage) == (3, {"total_tokens": 4})
    none = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    assert one.usage() == {**none, "upstream": {"calls": 3, "tokens": 4}}


def test_limits_hold_for_all_stages_together() -> None:
    one = work(upstream_calls=3)
    for stage in ("candidates", "rewrites", "scores"):
        one.stages[stage].begin("url")
    with pytest.raises(OverLimit, match="used its 3 calls; raise max_calls"):
        one.stages["candidates"].begin("url")
    assert [each.calls for each in one.stages.values()] == [1, 1, 1]
