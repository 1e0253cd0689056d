"""Whatever the OpenAPI document allows is accepted, and what it forbids makes no 500."""

from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.fakes import FakeServer
from tests.gateway.running import Running, running

from darc.gateway.openapi import document
from darc.gateway.requests import Forms
from darc.gateway.settings import ServeSettings

schemathesis = pytest.importorskip("schemathesis")

CASES = settings(
    derandomize=True,
    max_examples=30,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def test_document_names_every_endpoint() -> None:
    paths = document(Forms(ServeSettings()), "1")["paths"]
    assert {"/v1/chat/completions", "/v1/models", "/v1/select", "/metrics"} <= paths.keys()


def test_what_is_allowed_is_accepted_and_nothing_makes_a_500(openai_server: FakeServer) -> None:
    modes = schemathesis.GenerationMode
    accepted: list[int] = []
    answered: list[int] = []
    with running(openai_server, k=2, attempts=1, max_k=4, max_n_aug=2) as gateway:
        gateway.ready()
        served = httpx.get(f"{gateway.url}/openapi.json").json()
        for result in schemathesis.openapi.from_dict(served).get_all_operations():
            operation = result.ok()
            strategy = operation.as_strategy(generation_mode=modes.POSITIVE)
            check(gateway, strategy, accepted, allowed=True)
            if operation.method == "post":
                strategy = operation.as_strategy(generation_mode=modes.NEGATIVE)
                check(gateway, strategy, answered, allowed=False)
    assert len(accepted) + len(answered) > 150
    assert accepted.count(200) > 60
    assert 400 in answered


def test_document_that_promises_too_much_is_found(openai_server: FakeServer) -> None:
    with running(openai_server, k=2, attempts=1, max_k=4, max_n_aug=2) as gateway:
        gateway.ready()
        served = httpx.get(f"{gateway.url}/openapi.json").json()
        chat = served["paths"]["/v1/chat/completions"]["post"]["requestBody"]["content"]
        name = chat["application/json"]["schema"]["$ref"].rpartition("/")[2]
        schema = served["components"]["schemas"][name]
        schema["required"].append("n")
        schema["properties"]["n"] = {"type": "integer", "minimum": 0, "maximum": 1}
        (operation,) = (
            result.ok()
            for result in schemathesis.openapi.from_dict(served).get_all_operations()
            if result.ok().path == "/v1/chat/completions"
        )
        strategy = operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE)
        with pytest.raises(AssertionError, match="n should be greater than or equal to 1"):
            check(gateway, strategy, [], allowed=True)


def check(gateway: Running, strategy: Any, answered: list[int], *, allowed: bool) -> None:
    @CASES
    @given(case=strategy)
    def run(case: Any) -> None:
        answer = case.call(base_url=gateway.url, timeout=60)
        answered.append(answer.status_code)
        told = (answer.text, case.as_curl_command())
        if answer.status_code == 504:
            assert answer.json()["error"]["code"] == "budget", told
            return
        assert answer.status_code < 500, told
        # What is passed on, such as tools, is for the backend to judge.
        if allowed and not is_ragged(case.body) and "cannot be read: " not in answer.text:
            assert answer.status_code == 200, told
        if answer.status_code >= 400:
            assert answer.json()["error"]["message"]

    run()


def is_ragged(body: Any) -> bool:
    """Whether scores are no block of numbers, which no schema can say."""
    scores = body.get("scores") if isinstance(body, dict) else None
    return scores is not None and shape(scores) is None


def shape(value: Any) -> tuple[int, ...] | None:
    if not isinstance(value, list):
        return ()
    inner = {shape(each) for each in value}
    only = inner.pop() if len(inner) == 1 else None
    return None if only is None else (len(value), *only)
