from typing import Any

import pytest

from darc.models.remote.errors import OverLimit
from darc.serve.job import Job
from darc.serve.prompts import read_prompt
from darc.serve.requests import RequestReader
from darc.serve.settings import ServeSettings


def make_job(**budget: Any) -> Job:
    method = RequestReader(ServeSettings()).read_method({"budget": budget})
    return Job(method, read_prompt([{"role": "user", "content": "Hi"}]), "r", {})


def test_calls_are_counted_by_stage_even_if_they_fail() -> None:
    job = make_job()
    meter = job.stage_meters["scores"]
    for answer in ({"usage": {"total_tokens": 4}}, None, {"usage": None}):
        meter.begin("url")
        meter.add(answer)
    assert (meter.calls, meter.usage) == (3, {"total_tokens": 4})
    none = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    assert job.usage() == {**none, "upstream": {"calls": 3, "tokens": 4}}


def test_limits_hold_for_all_stages_together() -> None:
    job = make_job(upstream_calls=3)
    for stage in ("candidates", "rewrites", "scores"):
        job.stage_meters[stage].begin("url")
    with pytest.raises(OverLimit, match="used its 3 calls; raise max_calls"):
        job.stage_meters["candidates"].begin("url")
    assert [meter.calls for meter in job.stage_meters.values()] == [1, 1, 1]
