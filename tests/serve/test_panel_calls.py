"""What the default panel of eight raters costs a gateway, and what raters are sent."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.fakes import FakeServer, Fault
from tests.fakes.fast_server import ANSWER_BLOCK
from tests.fakes.openai_server import error
from tests.serve.running import QUESTION, Running, parts, running

import darc

K = 8
RATERS = 8
MOST_CALLS = 17
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


def is_judging(body: dict[str, Any]) -> bool:
    return bool(ANSWER_BLOCK.search(str(body["messages"][-1]["content"])))


def answers_shown(body: dict[str, Any]) -> list[str]:
    return ANSWER_BLOCK.findall(body["messages"][-1]["content"])


def reply(body: dict[str, Any], index: int) -> str:
    if is_judging(body):
        return json.dumps({"grades": [5 + len(text) % 5 for text in answers_shown(body)]})
    return f"Two tides, says candidate {body['seed'] + index}" + "." * (index % 3)


class JudgesFail(FakeServer):
    """A server whose judges fail, all of them or those of some raters, in some way."""

    def __init__(self) -> None:
        super().__init__()
        self.judge_fault: Fault | None = None
        self.failing = 0
        self.ignores.add("n")

    def chat(self, body: dict[str, Any]) -> tuple[int, Any]:
        if is_judging(body) and self.judge_fault is not None:
            with self.lock:
                self.failing -= 1
                is_failing = self.failing >= 0
            if is_failing:
                return self.judge_fault.status, error(self.judge_fault.message)
        return super().chat(body)


@pytest.fixture
def backend() -> Iterator[JudgesFail]:
    with JudgesFail() as server:
        server.reply = reply
        yield server


@pytest.fixture
def gateway(backend: JudgesFail) -> Iterator[Running]:
    panel = parts(scorers=(), panel=darc.Panel(), n_aug=0)
    with running(backend, parts=panel, k=K, attempts=6) as one:
        # The first request finds out what the backend understands.
        assert post(one).status_code == 200
        backend.received.clear()
        yield one


def post(gateway: Running, **body: Any) -> httpx.Response:
    sent = {"model": "fake", "messages": QUESTION, "darc": {"metadata": True}, **body}
    return httpx.post(f"{gateway.url}/v1/chat/completions", json=sent, timeout=60)


def judging(backend: FakeServer) -> list[dict[str, Any]]:
    return [body for body in backend.bodies if is_judging(body)]


def test_an_answer_takes_as_many_calls_as_the_start_says(
    gateway: Running, backend: JudgesFail
) -> None:
    answer = post(gateway).json()
    assert len(backend.received) == K + RATERS == MOST_CALLS - 1
    assert answer["usage"]["upstream"]["calls"] == K + RATERS


@pytest.mark.parametrize("status", [400, 404, 408, 429, 500, 503])
@pytest.mark.parametrize("failing", [1, 3, 100])
def test_failing_judges_take_one_more_call_in_all(
    gateway: Running, backend: JudgesFail, status: int, failing: int
) -> None:
    backend.judge_fault = Fault(status=status, message="it broke")
    backend.failing = failing
    answer = post(gateway)
    assert answer.status_code == 200
    assert len(backend.received) <= MOST_CALLS
    result = answer.json()
    assert result["usage"]["upstream"]["calls"] == len(backend.received)
    flags = result["darc"]["flags"]
    if failing == 1 and status not in (400, 404):
        assert not any(flag.startswith("missing_grades") for flag in flags)
    else:
        assert flags


def test_raters_read_the_answers_first_in_two_orders_and_their_view_last(
    gateway: Running, backend: JudgesFail
) -> None:
    post(gateway)
    bodies = judging(backend)
    assert len(bodies) == RATERS
    orders = [tuple(answers_shown(body)) for body in bodies]
    assert sorted(orders.count(order) for order in set(orders)) == [RATERS // 2] * 2
    first, second = set(orders)
    assert first == second[::-1]
    system = {body["messages"][0]["content"] for body in bodies}
    assert len(system) == 1
    texts = [body["messages"][-1]["content"] for body in bodies]
    for order in set(orders):
        same_order = [text for text, shown in zip(texts, orders, strict=True) if shown == order]
        material = {text[: text.rindex("[END ANSWER")] for text in same_order}
        assert len(material) == 1
        assert "Why are there two tides?" in material.pop()
        views = {text[text.rindex("[END ANSWER") :] for text in same_order}
        assert len(views) == RATERS // 2


def test_the_schema_has_as_many_grades_as_answers(gateway: Running, backend: JudgesFail) -> None:
    post(gateway)
    for body in judging(backend):
        schema = body["response_format"]["json_schema"]
        grades = schema["schema"]["properties"]["grades"]
        assert schema["strict"] is True
        assert grades["minItems"] == grades["maxItems"] == len(answers_shown(body)) == K


def test_a_backend_without_schemas_is_told_in_words(backend: JudgesFail) -> None:
    backend.refuses.add("response_format")
    panel = parts(scorers=(), panel=darc.Panel(), n_aug=0)
    with running(backend, parts=panel, k=K) as gateway:
        first = post(gateway)
        assert first.json()["darc"]["panel"]["failed"] == []
        backend.received.clear()
        assert post(gateway).json()["darc"]["panel"]["failed"] == []
    assert len(backend.received) == K + RATERS
    for body in judging(backend):
        assert "response_format" not in body
        words = body["messages"][-1]["content"].rpartition("[END ANSWER")[2]
        places = re.findall(r"grade of ANSWER (\d+)", words)
        assert [int(place) for place in places] == list(range(1, K + 1))


@pytest.mark.parametrize("kind", ["text", "json"])
def test_equal_answers_are_graded_once(gateway: Running, backend: JudgesFail, kind: str) -> None:
    def repeat(body: dict[str, Any], index: int) -> str:
        if is_judging(body):
            return reply(body, index)
        number = body["seed"] % 2
        if kind == "text":
            return f"Two tides {number}" + " " * (body["seed"] % 3)
        if body["seed"] % 3:
            return json.dumps({"tides": 2, "number": number})
        return json.dumps({"number": number, "tides": 2}, indent=2)

    backend.reply = repeat
    answer = post(gateway, seed=0).json()
    assert {len(answers_shown(body)) for body in judging(backend)} == {2}
    assert len(judging(backend)) == RATERS
    rows = answer["darc"]["candidates"]
    assert [row["copies"] for row in rows] == [K // 2, K // 2]


def test_equal_tool_calls_are_graded_once(gateway: Running, backend: JudgesFail) -> None:
    backend.reply = lambda body, index: (
        reply(body, index) if is_judging(body) else f"place {body['seed'] % 2}"
    )
    answer = post(gateway, seed=0, tools=[WEATHER]).json()
    calls = {choice["message"]["tool_calls"][0]["id"] for choice in answer["choices"]}
    assert len(calls) == 1
    assert [row["copies"] for row in answer["darc"]["candidates"]] == [K // 2, K // 2]
    assert {len(answers_shown(body)) for body in judging(backend)} == {2}
    for body in judging(backend):
        assert not any("call_" in text for text in answers_shown(body))
