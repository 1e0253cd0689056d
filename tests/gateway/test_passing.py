import json
from typing import Any

import httpx
import pytest
from tests.fakes import FakeServer, Fault
from tests.gateway.running import QUESTION, Running

BODY: dict[str, Any] = {"model": "fake", "messages": QUESTION, "temperature": 0}


def post(gateway: Running, body: Any, **given: Any) -> httpx.Response:
    return httpx.post(f"{gateway.url}/v1/chat/completions", json=body, timeout=20, **given)


def test_bytes_status_and_headers_are_the_backends(
    gateway: Running, openai_server: FakeServer
) -> None:
    direct = httpx.post(f"{openai_server.url}/v1/chat/completions", json=BODY)
    through = post(gateway, BODY)
    assert through.content == direct.content
    assert through.headers["content-type"] == direct.headers["content-type"]
    one, two = openai_server.received
    assert one.body == two.body


def test_stream_is_passed_as_it_is(gateway: Running, openai_server: FakeServer) -> None:
    body = {**BODY, "stream": True}
    direct = httpx.post(f"{openai_server.url}/v1/chat/completions", json=body)
    assert post(gateway, body).content == direct.content


def test_model_prefix_and_method_are_taken_off(gateway: Running, openai_server: FakeServer) -> None:
    post(gateway, {"model": "darc-tau/fake", "messages": QUESTION, "n": 2, "darc": {"k": 1}})
    assert openai_server.bodies == [{"model": "fake", "messages": QUESTION, "n": 2}]


def test_metadata_is_added_where_it_is_asked_for(gateway: Running) -> None:
    asked = {**BODY, "darc": {"metadata": True}}
    assert post(gateway, asked).json()["darc"]["k"] == 1
    events = post(gateway, {**asked, "stream": True}).text.strip().split("\n\n")
    assert events[-1] == "data: [DONE]"
    last = json.loads(events[-2].removeprefix("data: "))
    assert (last["darc"]["k"], last["choices"]) == (1, [])
    assert last["id"] == json.loads(events[0].removeprefix("data: "))["id"]


@pytest.mark.parametrize("status", [400, 404, 418, 500])
def test_errors_keep_their_bytes(gateway: Running, openai_server: FakeServer, status: int) -> None:
    openai_server.faults = [Fault(status=status, headers={"X-Upstream": "yes"})] * 2
    answer = post(gateway, BODY)
    assert (answer.status_code, answer.headers["x-upstream"]) == (status, "yes")
    assert answer.json()["error"]["message"] == "it broke"


def test_faults_are_tried_again(gateway: Running, openai_server: FakeServer) -> None:
    for fault in (Fault(status=429), Fault(status=503), Fault("reset")):
        openai_server.faults = [fault]
        assert post(gateway, BODY).status_code == 200


def test_stream_that_breaks_off_ends_with_an_error(
    gateway: Running, openai_server: FakeServer
) -> None:
    openai_server.faults = [Fault("cut")]
    text = post(gateway, {**BODY, "stream": True}).text
    assert text.startswith('data: {"id": "x"')
    last = text.strip().split("\n\n")[-1]
    assert json.loads(last.removeprefix("data: "))["error"]["code"] == "upstream_broke_off"
    assert "[DONE]" not in text


def test_key_of_the_client_goes_on_where_there_is_no_other(
    gateway: Running, openai_server: FakeServer
) -> None:
    key = {"Authorization": "Bearer mine", "Cookie": "a=b", "OpenAI-Project": "p"}
    post(gateway, BODY, headers=key)
    post(gateway, {**BODY, "temperature": 1}, headers=key)
    for received in openai_server.received:
        assert received.headers["authorization"] == "Bearer mine"
        assert received.headers["openai-project"] == "p"
        assert "cookie" not in received.headers


def test_other_methods_and_queries_pass(gateway: Running, openai_server: FakeServer) -> None:
    answer = httpx.get(f"{gateway.url}/v1/files?limit=3")
    assert answer.status_code == 404
    assert "/v1/files?limit=3" in answer.json()["error"]["message"]
    httpx.post(f"{gateway.url}/v1/embeddings", json={"input": "x"})
    assert openai_server.received[-1].path == "/v1/embeddings"
