"""/v1/messages with Anthropic's client."""

from collections.abc import Iterator
from typing import Any

import anthropic
import pytest
from tests.clients.conftest import KEY, SENTENCE, was_chosen
from tests.fakes import FakeServer, Fault

pytestmark = pytest.mark.clients
QUESTION: Any = {"role": "user", "content": "Why are there two tides?"}
WEATHER: Any = {
    "name": "weather",
    "description": "The weather at a place.",
    "input_schema": {"type": "object", "properties": {"place": {"type": "string"}}},
}


@pytest.fixture
def client(address: str) -> Iterator[anthropic.Anthropic]:
    url = address.removesuffix("/v1")
    with anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0) as client:
        yield client


def test_messages_are_chosen(client: anthropic.Anthropic, backend: FakeServer) -> None:
    message = client.messages.create(
        model="fake", max_tokens=50, system="Be brief.", messages=[QUESTION]
    )
    block = message.content[0]
    assert block.type == "text"
    assert block.text.startswith(SENTENCE)
    assert message.stop_reason == "end_turn"
    assert message.usage.input_tokens > 0
    assert message.usage.output_tokens > 0
    was_chosen(backend)
    assert backend.bodies[0]["messages"][0] == {"role": "system", "content": "Be brief."}


def test_streams(client: anthropic.Anthropic, backend: FakeServer) -> None:
    events = list(
        client.messages.create(model="fake", max_tokens=50, messages=[QUESTION], stream=True)
    )
    kinds = [event.type for event in events]
    assert kinds[:2] == ["message_start", "content_block_start"]
    assert kinds[-3:] == ["content_block_stop", "message_delta", "message_stop"]
    assert set(kinds[2:-3]) == {"content_block_delta"}
    with client.messages.stream(model="fake", max_tokens=50, messages=[QUESTION]) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert text.startswith(SENTENCE)
    assert final.content[0].text == text
    assert final.stop_reason == "end_turn"
    was_chosen(backend, times=2)


def test_tools(client: anthropic.Anthropic, backend: FakeServer) -> None:
    options: Any = {"model": "fake", "max_tokens": 50, "tools": [WEATHER]}
    message = client.messages.create(**options, messages=[QUESTION])
    assert message.stop_reason == "tool_use"
    (use,) = [block for block in message.content if block.type == "tool_use"]
    assert use.name == "weather"
    assert use.input["place"]
    result = {"type": "tool_result", "tool_use_id": use.id, "content": "windy"}
    history = [
        QUESTION,
        {"role": "assistant", "content": message.content},
        {"role": "user", "content": [result]},
    ]
    client.messages.create(**options, messages=history)
    messages = backend.bodies[-1]["messages"]
    assert messages[-2]["tool_calls"][0]["id"] == use.id
    assert messages[-1] == {"role": "tool", "tool_call_id": use.id, "content": "windy"}
    with client.messages.stream(**options, messages=[QUESTION]) as stream:
        streamed = stream.get_final_message()
    (use,) = [block for block in streamed.content if block.type == "tool_use"]
    assert use.input["place"]
    was_chosen(backend, times=3)


def test_errors_have_their_class(client: anthropic.Anthropic, backend: FakeServer) -> None:
    backend.faults = [Fault(status=400, message="no such model")] * 9
    with pytest.raises(anthropic.BadRequestError, match="no such model"):
        client.messages.create(model="other", max_tokens=9, messages=[QUESTION])
    thinking: Any = {"type": "enabled", "budget_tokens": 1024}
    with pytest.raises(anthropic.BadRequestError, match="thinking"):
        client.messages.create(
            model="fake", max_tokens=2000, messages=[QUESTION], thinking=thinking
        )
