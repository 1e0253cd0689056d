"""/v1/responses with the official client."""

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from pydantic import BaseModel
from tests.clients.conftest import KEY, SENTENCE, was_chosen
from tests.fakes import FakeServer

pytestmark = pytest.mark.clients
QUESTION = "Why are there two tides?"
WEATHER: Any = {
    "type": "function",
    "name": "weather",
    "description": "The weather at a place.",
    "parameters": {
        "type": "object",
        "properties": {"place": {"type": "string"}},
        "required": ["place"],
        "additionalProperties": False,
    },
    "strict": True,
}


class Tide(BaseModel):
    place: str
    metres: float


@pytest.fixture
def client(address: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=address, api_key=KEY, max_retries=0) as client:
        yield client


def test_a_text(client: openai.OpenAI, backend: FakeServer) -> None:
    response = client.responses.create(
        model="fake", input=QUESTION, instructions="Be brief.", store=False, max_output_tokens=40
    )
    assert response.status == "completed"
    assert response.output_text.startswith(SENTENCE)
    assert response.usage is not None
    assert response.usage.total_tokens > response.usage.output_tokens > 0
    was_chosen(backend)
    body = backend.bodies[0]
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


def test_a_conversation_is_sent_as_a_whole(client: openai.OpenAI, backend: FakeServer) -> None:
    first = client.responses.create(model="fake", input=QUESTION)
    history: list[Any] = [{"role": "user", "content": QUESTION}, *first.output]
    history.append({"role": "user", "content": "Really?"})
    assert client.responses.create(model="fake", input=history).output_text.startswith(SENTENCE)
    roles = [message["role"] for message in backend.bodies[-1]["messages"]]
    assert roles == ["user", "assistant", "user"]


def test_the_events_of_a_stream(client: openai.OpenAI, backend: FakeServer) -> None:
    events = list(client.responses.create(model="fake", input=QUESTION, stream=True))
    kinds = [event.type for event in events]
    assert kinds[:4] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
    ]
    assert kinds[-4:] == [
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert text.startswith(SENTENCE)
    last = events[-1]
    assert last.type == "response.completed"
    assert last.response.output_text == text
    assert last.response.usage is not None
    was_chosen(backend)


def test_function_calls_and_their_results(client: openai.OpenAI, backend: FakeServer) -> None:
    response = client.responses.create(model="fake", input=QUESTION, tools=[WEATHER])
    (call,) = response.output
    assert call.type == "function_call"
    assert call.name == "weather"
    assert json.loads(call.arguments)["place"]
    history: list[Any] = [{"role": "user", "content": QUESTION}, *response.output]
    history.append({"type": "function_call_output", "call_id": call.call_id, "output": "windy"})
    client.responses.create(model="fake", input=history)
    messages = backend.bodies[-1]["messages"]
    assert messages[-2]["tool_calls"][0]["id"] == call.call_id
    assert messages[-1] == {"role": "tool", "tool_call_id": call.call_id, "content": "windy"}
    was_chosen(backend, times=2)


def test_a_function_call_as_a_stream(client: openai.OpenAI) -> None:
    with client.responses.stream(model="fake", input=QUESTION, tools=[WEATHER]) as stream:
        kinds = [event.type for event in stream]
        response = stream.get_final_response()
    assert "response.function_call_arguments.delta" in kinds
    assert "response.function_call_arguments.done" in kinds
    (call,) = response.output
    assert call.type == "function_call"
    assert json.loads(call.arguments)["place"]


def test_structured_output(client: openai.OpenAI, backend: FakeServer) -> None:
    response = client.responses.parse(model="fake", input=QUESTION, text_format=Tide)
    assert isinstance(response.output_parsed, Tide)
    assert response.output_parsed.place == "Brest"
    form = backend.bodies[0]["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["name"] == "Tide"
    with client.responses.stream(model="fake", input=QUESTION, text_format=Tide) as stream:
        assert stream.get_final_response().output_parsed == response.output_parsed


def test_nothing_is_stored(client: openai.OpenAI, backend: FakeServer) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model="fake", input=QUESTION, store=True)
    assert caught.value.param == "store"
    assert "keeps" in caught.value.message
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model="fake", input=QUESTION, previous_response_id="resp_1")
    assert caught.value.param == "previous_response_id"
    assert not backend.received
