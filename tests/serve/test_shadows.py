"""--shadow: ordinary answers, and what choosing would change, found out in the background."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.fakes import FakeServer, Fault
from tests.fakes.fast_server import ANSWER_BLOCK
from tests.serve.running import QUESTION, Running, read_audit, running, settings_for

from darc.engine.parts import Parts
from darc.parts.scorers.panel import Panel
from darc.serve.shadows import is_in_share

RATERS = 8
K = 4
ORDINARY = "a short answer"
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


def reply(body: dict[str, Any], index: int) -> str:
    """An ordinary answer, better ones for the pool, and grades by the length of the answer."""
    text = str(body["messages"][-1]["content"])
    answers = ANSWER_BLOCK.findall(text)
    if answers:
        return json.dumps({"grades": [3 if answer == ORDINARY else 8 for answer in answers]})
    if "seed" not in body:
        return ORDINARY
    return f"a longer and better answer, {body['seed']} {index}"


@pytest.fixture
def backend(openai_server: FakeServer) -> FakeServer:
    openai_server.reply = reply
    return openai_server


@pytest.fixture
def audit(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


@pytest.fixture
def gateway(backend: FakeServer, audit: Path) -> Iterator[Running]:
    with running(backend, **options(audit=audit)) as one:
        yield one


def options(**given: Any) -> dict[str, Any]:
    parts = Parts(scorers=(), panel=Panel().first(RATERS), n_aug=0)
    return {"k": K, "parts": parts, "shadow": 100.0, **given}


def post(gateway: Running, path: str = "chat/completions", **body: Any) -> httpx.Response:
    sent = {"model": "fake", "messages": QUESTION, **body}
    return httpx.post(f"{gateway.url}/v1/{path}", json=sent, timeout=30)


def count(gateway: Running, name: str) -> float:
    for line in httpx.get(f"{gateway.url}/metrics").text.splitlines():
        if line.startswith(f"{name} "):
            return float(line.rpartition(" ")[2])
    return 0.0


def wait_for(gateway: Running, name: str, number: float = 1.0) -> None:
    end = time.monotonic() + 10
    while count(gateway, name) < number:
        assert time.monotonic() < end, f"{name} is {count(gateway, name)}"
        time.sleep(0.02)


def done(gateway: Running, number: int = 1) -> None:
    wait_for(gateway, 'darc_shadows_total{result="done"}', number)


def test_the_share_is_a_matter_of_the_id() -> None:
    names = [f"request-{number}" for number in range(4000)]
    chosen = [name for name in names if is_in_share(name, 0.05)]
    assert len(chosen) / len(names) == pytest.approx(0.05, abs=0.01)
    assert chosen == [name for name in names if is_in_share(name, 0.05)]
    assert set(chosen) <= {name for name in names if is_in_share(name, 0.1)}
    assert all(is_in_share(name, 1.0) for name in names)


def test_the_ordinary_answer_is_returned_and_compared(
    gateway: Running, backend: FakeServer, audit: Path
) -> None:
    answer = post(gateway).json()
    assert answer["choices"][0]["message"]["content"] == ORDINARY
    assert "upstream" not in answer["usage"]
    done(gateway)
    (row,) = read_audit(audit)
    shadow = row["shadow"]
    assert shadow["changed"] is True
    assert shadow["answer"] == ORDINARY
    assert row["answer"].startswith("a longer and better answer")
    unhappy = shadow["unhappy"]
    assert unhappy["raters"] == RATERS
    assert (unhappy["ordinary"], unhappy["choice"]) == (RATERS, 0)
    assert (unhappy["fewer"], unhappy["more"]) == (RATERS, 0)
    assert (unhappy["mean_ordinary"], unhappy["mean_choice"]) == (3, 8)
    costs = shadow["cost"]
    assert costs["ordinary"]["calls"] == 1
    assert costs["choosing"]["calls"] == 1 + RATERS
    assert costs["comparing"]["calls"] == RATERS
    assert len(backend.received) == sum(cost["calls"] for cost in costs.values())
    assert all(cost["tokens"] > 0 and cost["seconds"] > 0 for cost in costs.values())
    assert len(row["scores"][0]) == K, "the decision can be evaluated like any other"
    assert count(gateway, "darc_shadow_changes_total") == 1
    assert count(gateway, 'darc_shadow_unhappy_total{answer="ordinary"}') == RATERS
    assert count(gateway, "darc_shadow_raters_total") == RATERS
    assert count(gateway, "darc_candidates_total") == 0


def test_half_of_the_raters_see_the_choice_first(gateway: Running, backend: FakeServer) -> None:
    post(gateway)
    done(gateway)
    firsts = []
    for body in backend.bodies[-RATERS:]:
        shown = ANSWER_BLOCK.findall(body["messages"][-1]["content"])
        assert len(shown) == 2
        firsts.append(shown[0] == ORDINARY)
    assert sum(firsts) == RATERS // 2


def test_an_answer_that_stays_the_same_is_not_graded_again(
    gateway: Running, backend: FakeServer, audit: Path
) -> None:
    backend.reply = lambda body, index: ORDINARY
    post(gateway)
    done(gateway)
    (row,) = read_audit(audit)
    assert row["shadow"]["changed"] is False
    assert row["shadow"]["unhappy"] is None
    assert "comparing" not in row["shadow"]["cost"]


def test_streams_pass_through_and_are_compared(gateway: Running, audit: Path) -> None:
    streamed = post(gateway, stream=True).text
    pieces = [json.loads(line[6:]) for line in streamed.splitlines() if line.startswith("data: {")]
    text = "".join(piece["choices"][0]["delta"].get("content", "") for piece in pieces)
    assert text == ORDINARY
    assert streamed.rstrip().endswith("data: [DONE]")
    done(gateway)
    (row,) = read_audit(audit)
    assert row["shadow"]["answer"] == ORDINARY


def test_other_apis_and_tools_are_tried_out(gateway: Running, audit: Path) -> None:
    message = post(gateway, "messages", max_tokens=50).json()
    assert message["content"][0]["text"].endswith(" 0")
    assert post(gateway, "responses", input="Why?", messages=None).status_code == 200
    called = post(gateway, tools=[TOOL]).json()["choices"][0]["message"]["tool_calls"]
    assert called[0]["function"]["name"] == "weather"
    done(gateway, 3)
    shadows = [row["shadow"] for row in read_audit(audit)]
    assert len(shadows) == 3
    assert any('"name": "weather"' in shadow["answer"] for shadow in shadows)


def test_only_a_share_is_tried_out(backend: FakeServer, audit: Path) -> None:
    with running(backend, **options(audit=audit, shadow=30.0)) as gateway:
        names = [f"request-{number}" for number in range(12)]
        expected = [name for name in names if is_in_share(name, 0.3)]
        for name in names:
            url = f"{gateway.url}/v1/chat/completions"
            body = {"model": "fake", "messages": QUESTION}
            answer = httpx.post(url, json=body, headers={"x-request-id": name})
            assert answer.json()["choices"][0]["message"]["content"] == ORDINARY
        done(gateway, len(expected))
    assert 0 < len(expected) < len(names)
    assert sorted(row["request_id"] for row in read_audit(audit)) == sorted(expected)


def test_answers_do_not_wait_and_the_number_of_shadows_is_bounded(backend: FakeServer) -> None:
    held = threading.Event()

    def slow(body: dict[str, Any], index: int) -> str:
        if "seed" in body:
            held.wait(10)
        return reply(body, index)

    backend.reply = slow
    with running(backend, **options(shadow_active=2)) as gateway:
        began = time.monotonic()
        for _ in range(5):
            assert post(gateway).json()["choices"][0]["message"]["content"] == ORDINARY
        assert time.monotonic() - began < 5
        assert count(gateway, "darc_shadows_running") == 2
        assert count(gateway, 'darc_shadows_total{result="dropped"}') == 3
        held.set()
        done(gateway, 2)


def test_shadows_end_with_the_gateway(backend: FakeServer, audit: Path) -> None:
    held = threading.Event()

    def slow(body: dict[str, Any], index: int) -> str:
        if "seed" in body:
            held.wait(30)
        return reply(body, index)

    backend.reply = slow
    gateway = Running(settings_for(backend, **options(audit=audit)))
    try:
        assert post(gateway).status_code == 200
        assert count(gateway, "darc_shadows_running") == 1
    finally:
        began = time.monotonic()
        gateway.close()
        seconds = time.monotonic() - began
        held.set()
    assert seconds < 10
    assert not read_audit(audit)


def test_live_requests_come_first(gateway: Running, backend: FakeServer) -> None:
    gate = gateway.gateway.gate
    gate.running += gateway.settings.active
    assert post(gateway).status_code == 200
    time.sleep(0.3)
    assert len(backend.received) == 1
    gate.running -= gateway.settings.active
    done(gateway)


def test_what_fails_in_a_shadow_reaches_nobody(gateway: Running, backend: FakeServer) -> None:
    failing = threading.Event()

    def broken(body: dict[str, Any], index: int) -> str:
        if "seed" in body:
            failing.set()
            raise ValueError("no")
        return reply(body, index)

    backend.reply = broken
    for _ in range(3):
        assert post(gateway).json()["choices"][0]["message"]["content"] == ORDINARY
    wait_for(gateway, 'darc_shadows_total{result="failed"}', 3)
    assert failing.is_set()
    assert httpx.get(f"{gateway.url}/readyz").status_code == 200


def test_the_budget_of_shadows_is_their_own(backend: FakeServer) -> None:
    with running(backend, **options(shadow_tokens=10)) as gateway:
        post(gateway)
        done(gateway)
        answer = post(gateway).json()
        assert answer["choices"][0]["message"]["content"] == ORDINARY
        wait_for(gateway, 'darc_shadows_total{result="over_budget"}')
        assert count(gateway, 'darc_shadows_total{result="done"}') == 1


def test_requests_without_a_choice_are_not_tried_out(gateway: Running, backend: FakeServer) -> None:
    assert post(gateway, temperature=0).status_code == 200
    assert post(gateway, darc={"k": 1}).status_code == 200
    backend.faults = [Fault(status=400)]
    assert post(gateway).status_code == 400
    time.sleep(0.3)
    assert len(backend.received) == 3


def test_a_request_is_told_that_choosing_is_tried_out(gateway: Running) -> None:
    answer = post(gateway, darc={"metadata": True}).json()
    assert answer["choices"][0]["message"]["content"] == ORDINARY
    assert "--shadow" in answer["darc"]["explanation"]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"parts": Parts(scorers=("form",), n_aug=1)}, "--panel"),
        ({"backend": ""}, "--backend"),
        ({"shadow": 0}, "shadow"),
        ({"shadow": 101}, "shadow"),
    ],
)
def test_what_cannot_be_tried_out_is_refused(
    backend: FakeServer, given: dict[str, Any], named: str
) -> None:
    with pytest.raises(ValueError, match=named):
        settings_for(backend, **options(**given))
