"""Candidates from several models."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.fakes import FakeServer, Fault
from tests.serve.running import QUESTION, Running, read_audit, running, settings_for

from darc.errors import InputError
from darc.serve.backend_addresses import parse_backends
from darc.serve.model_mix import divide_candidates

LARGE = "large"
SMALL = "small"
K = 8


@pytest.fixture
def small_server() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


@pytest.fixture
def mixed(openai_server: FakeServer, small_server: FakeServer) -> Iterator[Running]:
    with running(openai_server, backend=both(openai_server, small_server), k=K) as gateway:
        yield gateway


def both(large: FakeServer, small: FakeServer) -> tuple[str, str]:
    return f"openai:{LARGE}@{large.url}=0.75", f"openai:{SMALL}@{small.url}=0.25"


def post(gateway: Running, path: str = "chat/completions", **body: Any) -> httpx.Response:
    sent = {"model": "any", "messages": QUESTION, **body}
    return httpx.post(f"{gateway.url}/v1/{path}", json=sent, timeout=30)


def models_of(darc: dict[str, Any]) -> list[str]:
    return [row["model"] for row in darc["candidates"] for _ in range(row.get("copies", 1))]


def written_by(server: FakeServer) -> int:
    return sum(body.get("n") or 1 for body in server.bodies)


def test_shares_are_kept_and_repeat_with_the_seed() -> None:
    counts = Counter(divide_candidates([0.75, 0.25], K, 3))
    assert counts == {0: 6, 1: 2}
    assert divide_candidates([1, 1, 1], K, 5) == divide_candidates([1, 1, 1], K, 5)
    orders = {tuple(divide_candidates([1, 1], K, seed)) for seed in range(20)}
    assert len(orders) > 10
    seeds = 400
    numbers = [divide_candidates([0.9, 0.1], 4, seed).count(1) for seed in range(-5, seeds - 5)]
    assert set(numbers) == {0, 1}
    assert sum(numbers) / seeds == pytest.approx(0.4, abs=0.08)


def test_backends_are_read() -> None:
    texts = ["openai:A@http://a:1,key_env=KEY_A=3", "openai:B@http://b:1|http://c:1=1"]
    first, second = parse_backends(texts, "KEY")
    assert (first.model, first.url, first.key_env, first.share) == (
        "A", "http://a:1/v1", "KEY_A", 0.75,
    )  # fmt: skip
    assert (second.url, second.key_env) == ("http://b:1/v1|http://c:1/v1", "KEY")
    equal = parse_backends(["openai:A@http://a:1", "openai:B@http://a:1"], "KEY")
    assert [address.share for address in equal] == [0.5, 0.5]


@pytest.mark.parametrize(
    ("texts", "named"),
    [
        (["openai:A@http://a:1", "http://b:1"], "http://b:1/v1"),
        (["openai:A@http://a:1", "openai:A@http://b:1"], "model A"),
        (["openai:A@http://a:1=0.5", "openai:B@http://b:1"], "backend B"),
        (["openai:A@http://a:1=0.5", "openai:B@http://b:1=0"], "share"),
        (["openai:A@http://a:1,concurrency=64"], "concurrency"),
    ],
)
def test_what_cannot_be_mixed_is_refused(texts: list[str], named: str) -> None:
    with pytest.raises(InputError, match=named):
        parse_backends(texts, "KEY")


def test_candidates_are_divided_and_one_original_is_returned(
    mixed: Running, openai_server: FakeServer, small_server: FakeServer
) -> None:
    openai_server.reply = lambda body, index: f"large {body.get('seed')} {index}"
    small_server.reply = lambda body, index: f"small {body.get('seed')} {index}"
    answer = post(mixed, darc={"metadata": True}, seed=7).json()
    darc = answer["darc"]
    assert Counter(models_of(darc)) == {LARGE: 6, SMALL: 2}
    assert (written_by(openai_server), written_by(small_server)) == (6, 2)
    assert {body["model"] for body in openai_server.bodies} == {LARGE}
    assert {body["model"] for body in small_server.bodies} == {SMALL}
    assert answer["model"] == darc["model"] == models_of(darc)[darc["index"]]
    assert answer["choices"][0]["message"]["content"].startswith(answer["model"])
    by_model = answer["usage"]["upstream"]["models"]
    assert by_model[SMALL]["calls"] == 2
    assert sum(use["tokens"] for use in by_model.values()) == answer["usage"]["total_tokens"]
    assert {name for name, row in darc["models"].items() if row["chosen"]} == {answer["model"]}
    again = post(mixed, darc={"metadata": True}, seed=7).json()
    assert models_of(again["darc"]) == models_of(darc)
    assert again["choices"] == answer["choices"]


def test_one_call_per_model_where_servers_know_n(
    mixed: Running, openai_server: FakeServer, small_server: FakeServer
) -> None:
    assert post(mixed).status_code == 200
    assert [body["n"] for body in openai_server.bodies] == [6]
    assert [body["n"] for body in small_server.bodies] == [2]


def test_other_apis_streams_tools_and_n_are_mixed(
    mixed: Running, openai_server: FakeServer, small_server: FakeServer
) -> None:
    streamed = post(mixed, stream=True).text
    chunks = [json.loads(line[6:]) for line in streamed.splitlines() if line.startswith("data: {")]
    assert {chunk["model"] for chunk in chunks} <= {LARGE, SMALL}
    tool = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
    called = post(mixed, tools=[tool]).json()["choices"][0]["message"]["tool_calls"]
    assert called[0]["function"]["name"] == "weather"
    assert len(post(mixed, n=3).json()["choices"]) == 3
    response = post(mixed, "responses", input="Why?", messages=None).json()
    assert response["model"] in (LARGE, SMALL)
    message = post(mixed, "messages", max_tokens=50).json()
    assert message["model"] in (LARGE, SMALL)
    assert (written_by(openai_server), written_by(small_server)) == (5 * 6, 5 * 2)


def test_a_model_that_fails_is_flagged_or_the_end(
    mixed: Running, small_server: FakeServer, openai_server: FakeServer
) -> None:
    for fault in (Fault(status=500), Fault(status=404, message="no such model")):
        small_server.faults = [fault] * 40
        answer = post(mixed, darc={"metadata": True}, seed=1).json()
        assert f"model_failed:{SMALL}" in answer["darc"]["flags"]
        assert set(models_of(answer["darc"])) == {LARGE}
        closed = post(mixed, darc={"policy": "closed"}, seed=1)
        assert closed.status_code == 503
        assert SMALL in closed.json()["error"]["message"]
    openai_server.faults = [Fault(status=404, message="no such model")] * 40
    assert post(mixed, seed=1).status_code == 404


def test_a_model_that_fails_in_waves_is_flagged(mixed: Running, small_server: FakeServer) -> None:
    small_server.faults = [Fault(status=404)] * 40
    stop = "pandora:cost=0"
    answer = post(mixed, darc={"metadata": True, "stop": stop}, seed=1).json()
    assert f"model_failed:{SMALL}" in answer["darc"]["flags"]
    assert set(models_of(answer["darc"])) == {LARGE}


def test_a_request_chooses_models_of_the_operator(
    mixed: Running, openai_server: FakeServer, small_server: FakeServer
) -> None:
    darc = {"metadata": True, "models": [SMALL]}
    assert set(models_of(post(mixed, darc=darc).json()["darc"])) == {SMALL}
    assert not openai_server.received
    darc = {"metadata": True, "models": {SMALL: 3, LARGE: 1}}
    counts = Counter(models_of(post(mixed, darc=darc).json()["darc"]))
    assert counts == {SMALL: 6, LARGE: 2}
    one = post(mixed, darc={"k": 1, "models": [SMALL]}).json()
    assert one["model"] == SMALL


def test_a_request_chooses_models_that_the_backend_lists(openai_server: FakeServer) -> None:
    openai_server.models = ["a", "b"]
    with running(openai_server) as gateway:
        answer = post(gateway, darc={"metadata": True, "models": ["a", "b"]}).json()
        assert Counter(models_of(answer["darc"])) == {"a": 2, "b": 2}
        count = len(openai_server.received)
        for other in ("c", openai_server.url, f"openai:x@{openai_server.url}"):
            refused = post(gateway, darc={"models": [other]})
            assert refused.status_code == 400
            assert refused.json()["error"]["param"] == "darc.models"
        for wrong in ([], {"a": 0}, {"a": -1}, "a", [""], [1]):
            assert post(gateway, darc={"models": wrong}).status_code == 400
        assert len(openai_server.received) == count
    assert openai_server.paths.count("/v1/models") == 1


def test_single_answers_come_from_the_model_that_is_named(
    mixed: Running, openai_server: FakeServer, small_server: FakeServer
) -> None:
    assert post(mixed, temperature=0, model=SMALL).json()["model"] == SMALL
    assert post(mixed, temperature=0).json()["model"] == LARGE
    assert post(mixed, "messages", temperature=0, max_tokens=9, model=SMALL).json()["model"] == (
        SMALL
    )
    names = [model["id"] for model in httpx.get(f"{mixed.url}/v1/models").json()["data"]]
    assert {LARGE, SMALL} <= set(names)


def test_keys_of_clients_do_not_go_to_several_servers(
    mixed: Running, openai_server: FakeServer, small_server: FakeServer
) -> None:
    headers = {"authorization": "Bearer of-a-client"}
    body = {"model": "any", "messages": QUESTION}
    httpx.post(f"{mixed.url}/v1/chat/completions", json=body, headers=headers)
    received = [*openai_server.received, *small_server.received]
    assert received
    assert not any("authorization" in request.headers for request in received)


def test_metrics_and_the_audit_log_name_models(
    openai_server: FakeServer, small_server: FakeServer, tmp_path: Path
) -> None:
    audit = tmp_path / "audit.jsonl"
    backend = both(openai_server, small_server)
    with running(openai_server, backend=backend, k=K, audit=audit) as gateway:
        model = post(gateway, seed=1).json()["model"]
        metrics = httpx.get(f"{gateway.url}/metrics").text
    assert f'darc_model_choices_total{{model="{model}"}} 1.0' in metrics
    assert f'darc_model_candidates_total{{model="{SMALL}"}} 2.0' in metrics
    (row,) = read_audit(audit)
    assert row["model"] == model
    assert row["models"][SMALL]["candidates"] == 2
    assert row["models"][LARGE]["calls"] == 6
    assert Counter(candidate["model"] for candidate in row["candidates"]) == {LARGE: 6, SMALL: 2}


def test_the_first_backend_grades(openai_server: FakeServer, small_server: FakeServer) -> None:
    from darc.engine.parts import Parts
    from darc.parts.scorers.panel import Panel

    def grade(body: dict[str, Any], index: int) -> str:
        if "response_format" not in body:
            return f"answer {body.get('seed')} {index}"
        schema = body["response_format"]["json_schema"]["schema"]
        return json.dumps({"grades": [7] * schema["properties"]["grades"]["minItems"]})

    openai_server.reply = small_server.reply = grade
    panel = Parts(scorers=(), panel=Panel().first(4), n_aug=0)
    backend = both(openai_server, small_server)
    with running(openai_server, backend=backend, k=K, parts=panel) as gateway:
        answer = post(gateway, model=SMALL, darc={"metadata": True}).json()
    judging = [body for body in openai_server.bodies if "response_format" in body]
    assert len(judging) == 4
    assert {body["model"] for body in judging} == {LARGE}
    assert not [body for body in small_server.bodies if "response_format" in body]
    assert answer["usage"]["upstream"]["calls"] == 2 + 4


def test_answers_of_others_are_returned_where_the_first_backend_is_gone(
    small_server: FakeServer,
) -> None:
    from darc.engine.parts import Parts
    from darc.parts.scorers.panel import Panel

    gone = FakeServer()
    gone.close()
    panel = Parts(scorers=(), panel=Panel().first(4), n_aug=0)
    with running(small_server, backend=both(gone, small_server), k=K, parts=panel) as gateway:
        answer = post(gateway, darc={"metadata": True})
        assert answer.status_code == 200
        assert answer.json()["model"] == SMALL
        flags = answer.json()["darc"]["flags"]
        assert f"model_failed:{LARGE}" in flags
        assert "first_candidate" in flags
        assert post(gateway, darc={"policy": "closed"}).status_code == 503


def test_a_default_model_beside_several_backends_is_refused(openai_server: FakeServer) -> None:
    with pytest.raises(ValueError, match="--model"):
        settings_for(None, backend=both(openai_server, openai_server), model="other")
