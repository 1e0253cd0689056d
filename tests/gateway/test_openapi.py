"""Whatever the OpenAPI document allows, and forbids, is answered without a 500."""

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.fakes import FakeServer
from tests.gateway.running import Running, running

from darc.gateway.openapi import document
from darc.gateway.settings import Settings

schemathesis = pytest.importorskip("schemathesis")

CASES = settings(
    derandomize=True,
    max_examples=40,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def test_document_names_every_endpoint() -> None:
    paths = document(Settings(), "1")["paths"]
    assert {"/v1/chat/completions", "/v1/models", "/v1/select", "/metrics"} <= paths.keys()


def test_nothing_makes_a_500(openai_server: FakeServer) -> None:
    found = schemathesis.openapi.from_dict(document(Settings(), "1"))
    modes = schemathesis.GenerationMode
    answered: list[int] = []
    with running(openai_server, k=2, attempts=1) as gateway:
        gateway.ready()
        for result in found.get_all_operations():
            operation = result.ok()
            allowed = [modes.POSITIVE]
            if operation.method == "post":
                allowed.append(modes.NEGATIVE)
            for mode in allowed:
                check(gateway, operation.as_strategy(generation_mode=mode), answered)
    assert len(answered) > 200
    assert {200, 400} <= set(answered)


def check(gateway: Running, strategy: Any, answered: list[int]) -> None:
    @CASES
    @given(case=strategy)
    def run(case: Any) -> None:
        answer = case.call(base_url=gateway.url)
        answered.append(answer.status_code)
        assert answer.status_code < 500, (case.as_curl_command(), answer.text)
        if answer.status_code >= 400:
            assert answer.json()["error"]["message"]

    run()
