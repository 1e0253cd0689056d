"""The official client and chat completions; tests/serve/test_client.py tests the rest."""

from typing import Any

import openai
import pytest
from pydantic import BaseModel
from tests.clients.conftest import KEY, SENTENCE, was_chosen
from tests.fakes import FakeServer, Fault

pytestmark = pytest.mark.clients
QUESTION: list[Any] = [{"role": "user", "content": "Why are there two tides?"}]
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


class Tide(BaseModel):
    place: str
    metres: float


@pytest.fixture
def client(address: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=address, api_key=KEY, max_retries=0)


def test_plain_stream_and_n(client: openai.OpenAI, backend: FakeServer) -> None:
    completion = client.chat.completions.create(model="fake", messages=QUESTION)
    assert completion.choices[0].message.content.startswith(SENTENCE)
    was_chosen(backend)
    with client.chat.completions.stream(model="fake", messages=QUESTION) as stream:
        assert stream.get_final_completion().choices[0].message.content.startswith(SENTENCE)
    completion = client.chat.completions.create(model="fake", messages=QUESTION, n=2)
    assert len({choice.message.content for choice in completion.choices}) == 2


def test_structured_output_and_tools(client: openai.OpenAI) -> None:
    completion = client.chat.completions.parse(
        model="fake", messages=QUESTION, response_format=Tide
    )
    assert completion.choices[0].message.parsed.place == "Brest"
    completion = client.chat.completions.create(model="fake", messages=QUESTION, tools=[WEATHER])
    assert completion.choices[0].message.tool_calls[0].function.name == "weather"


def test_errors_keep_their_kind(client: openai.OpenAI, backend: FakeServer) -> None:
    backend.faults = [Fault(status=400, message="no such model")] * 9
    with pytest.raises(openai.BadRequestError, match="no such model"):
        client.chat.completions.create(model="other", messages=QUESTION)
    with pytest.raises(openai.BadRequestError, match="best_of"):
        client.chat.completions.create(model="fake", messages=QUESTION, extra_body={"best_of": 3})


def test_pictures_reach_the_backend(client: openai.OpenAI, backend: FakeServer) -> None:
    content = [{"type": "text", "text": "What is this?"}, PICTURE]
    messages: list[Any] = [{"role": "user", "content": content}]
    completion = client.chat.completions.create(model="fake", messages=messages)
    assert completion.choices[0].message.content.startswith(SENTENCE)
    assert backend.received[0].body["messages"] == messages
