"""Tool calls and structured answers: the most frequent one wins, and judges break ties."""

import json
from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from tests.engine.test_panel_samples import is_list
from tests.fakes import FakeServer
from tests.serve.running import parts, running

import darc
from darc.engine.copies import copy_key

TOOLS = [
    {
        "type": "function",
        "function": {"name": "weather", "description": "Forecasts.", "parameters": {}},
    }
]
QUESTION = [{"role": "user", "content": "Will it rain in Bern?"}]


class Calling(FakeServer):
    """Answers with the tool calls of a list in turn; as a judge it prefers the last answer."""

    def __init__(self, arguments: Sequence[str], structured: bool = False) -> None:
        super().__init__()
        self.arguments = arguments
        self.structured = structured
        self.ignores = {"logprobs"}

    def chat(self, body: dict[str, Any]) -> tuple[int, Any]:
        if is_list(body):
            text = body["messages"][1]["content"]
            count = text.count("[BEGIN ANSWER")
            places = [text.find(f'"city": "{city}"') for city in ("Bern", "Basel", "Biel")]
            present = sorted((place, city) for city, place in enumerate(places) if place >= 0)
            grades = [5 + city for _, city in present][:count]
            self.reply = lambda body, i: json.dumps({"grades": grades})
            return super().chat(body)
        self.reply = None
        status, answer = super().chat({**body, "n": body.get("n") or 1})
        for choice in answer["choices"]:
            arguments = self.arguments[choice["index"] % len(self.arguments)]
            if self.structured:
                choice["message"]["content"] = arguments
                continue
            call = {
                "id": f"call-{choice['index']}",
                "type": "function",
                "function": {"name": "weather", "arguments": arguments},
            }
            choice["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}
            choice["finish_reason"] = "tool_calls"
        return status, answer


def asked(backend: FakeServer, k: int, **fields: Any) -> dict[str, Any]:
    body = {"model": "fake", "messages": QUESTION, "darc": {"metadata": True}, **fields}
    with running(backend, parts=parts(panel=darc.Panel()), k=k) as gateway:
        answer = httpx.post(f"{gateway.url}/v1/chat/completions", json=body, timeout=30)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


BERN = '{"city": "Bern", "days": 1}'
BERN_AGAIN = '{"days":1,"city":"Bern"}'
BASEL = '{"city": "Basel", "days": 1}'
BIEL = '{"city": "Biel", "days": 1}'


def test_the_majority_of_tool_calls_wins_without_a_grade() -> None:
    with Calling([BERN, BASEL, BERN_AGAIN, BIEL]) as backend:
        result = asked(backend, 4, tools=TOOLS)
        assert not any(is_list(body) for body in backend.bodies)
    call = result["choices"][0]["message"]["tool_calls"][0]
    assert json.loads(call["function"]["arguments"])["city"] == "Bern"
    assert "majority:2 of 4" in result["darc"]["flags"]


def test_judges_break_ties_and_see_the_tools() -> None:
    with Calling([BERN, BASEL, BERN_AGAIN, BASEL, BIEL]) as backend:
        result = asked(backend, 5, tools=TOOLS)
        judged = [body for body in backend.bodies if is_list(body)]
    assert len(judged) == 8
    for body in judged:
        text = body["messages"][1]["content"]
        assert "Forecasts." in text
        assert text.count("[BEGIN ANSWER") == 3
    call = result["choices"][0]["message"]["tool_calls"][0]
    assert json.loads(call["function"]["arguments"])["city"] == "Basel"
    copies = [row.get("copies", 1) for row in result["darc"]["candidates"]]
    assert copies == [2, 2, 1]


def test_equal_json_is_one_answer() -> None:
    form = {"type": "json_object"}
    with Calling([BERN, BERN_AGAIN, BASEL], structured=True) as backend:
        result = asked(backend, 3, response_format=form)
        assert not any(is_list(body) for body in backend.bodies)
    assert json.loads(result["choices"][0]["message"]["content"])["city"] == "Bern"
    assert "majority:2 of 3" in result["darc"]["flags"]


def test_a_rule_of_the_request_decides_as_asked() -> None:
    with Calling([BERN, BASEL, BERN_AGAIN]) as backend:
        result = asked(backend, 3, tools=TOOLS, darc={"rule": "mean", "metadata": True})
    call = result["choices"][0]["message"]["tool_calls"][0]
    assert json.loads(call["function"]["arguments"])["city"] == "Basel"


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ('{"a": 1, "b": [2]}', ' {"b":[2],"a":1}\n', True),
        ('{"a": 1}', '{"a": 2}', False),
        ("{not json", "{not  json", False),
        ("[1]", "[1] ", True),
        ("1", "1.0", False),
    ],
)
def test_copies_of_json(left: str, right: str, same: bool) -> None:
    assert (copy_key(left) == copy_key(right)) == same
