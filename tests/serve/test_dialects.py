"""/v1/responses and /v1/messages, with the real clients where they are installed."""

import json
from typing import Any

import httpx
import pytest
from pydantic import BaseModel
from tests.fakes import FakeServer, Fault
from tests.serve.running import Running

openai = pytest.importorskip("openai")

TOOL = {"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": False}
CLAUDE_TOOL = {"name": "weather", "input_schema": {"type": "object"}}
QUESTION = "Why are there two tides?"


class Tide(BaseModel):
    answer: str


@pytest.fixture
def client(gateway: Running) -> Any:
    return openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="none", max_retries=0)


@pytest.fixture
def claude(gateway: Running) -> Any:
    anthropic = pytest.importorskip("anthropic")
    return anthropic.Anthropic(base_url=gateway.url, api_key="secret", max_retries=0)


def chosen(server: FakeServer) -> bool:
    """Whether several candidates were written."""
    return any((body.get("n") or 1) > 1 for body in server.bodies) or len(server.bodies) > 1


def test_a_response_is_chosen(client: Any, openai_server: FakeServer) -> None:
    response = client.responses.create(model="fake", input=QUESTION, instructions="Be brief.")
    assert response.output_text
    assert response.status == "completed"
    assert response.usage is not None
    assert response.usage.output_tokens > 0
    assert chosen(openai_server)
    messages = openai_server.bodies[0]["messages"]
    assert messages[0] == {"role": "system", "content": "Be brief."}
    assert messages[1] == {"role": "user", "content": QUESTION}


def test_a_response_as_a_stream(client: Any) -> None:
    with client.responses.stream(model="fake", input=QUESTION) as stream:
        events = list(stream)
        final = stream.get_final_response()
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert text == final.output_text != ""
    kinds = [event.type for event in events]
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    numbers = [event.sequence_number for event in events]
    assert numbers == sorted(set(numbers))


def test_functions_and_their_results(client: Any, openai_server: FakeServer) -> None:
    response = client.responses.create(model="fake", input=QUESTION, tools=[TOOL])
    (call,) = [item for item in response.output if item.type == "function_call"]
    assert call.name == "weather"
    json.loads(call.arguments)
    history = [
        {"role": "user", "content": [{"type": "input_text", "text": QUESTION}]},
        *[item.model_dump(exclude_none=True) for item in response.output],
        {"type": "function_call_output", "call_id": call.call_id, "output": "7 m"},
    ]
    client.responses.create(model="fake", input=history)
    messages = openai_server.bodies[-1]["messages"]
    assert messages[-1] == {"role": "tool", "tool_call_id": call.call_id, "content": "7 m"}
    assert messages[-2]["tool_calls"][0]["function"]["name"] == "weather"
    with client.responses.stream(model="fake", input=QUESTION, tools=[TOOL]) as stream:
        streamed = stream.get_final_response()
    assert any(item.type == "function_call" for item in streamed.output)


def test_structured_responses(client: Any, openai_server: FakeServer) -> None:
    response = client.responses.parse(model="fake", input=QUESTION, text_format=Tide)
    assert response.output_parsed is not None
    assert response.output_parsed.answer
    form = openai_server.bodies[0]["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["strict"] is True


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"store": True}, "store"),
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"background": True}, "background"),
        ({"tools": [{"type": "web_search"}]}, "tools.0.type"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input.0.type"),
        ({"input": [{"role": "wizard", "content": "x"}]}, "input.0.role"),
        ({"input": 7}, "input"),
        ({"text": {"format": 7}}, ""),
    ],
)
def test_what_a_response_cannot_be_is_said(
    client: Any, openai_server: FakeServer, fields: dict[str, Any], name: str
) -> None:
    body = {"model": "fake", "input": QUESTION, **fields}
    if not name:
        assert client.responses.create(**body)
        return
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(**body)
    assert caught.value.param == name
    assert not openai_server.received


def test_kept_responses_are_not_offered(client: Any) -> None:
    with pytest.raises(openai.APIStatusError, match="keeps no responses"):
        client.responses.retrieve("resp_1")


def test_a_message_is_chosen(claude: Any, openai_server: FakeServer) -> None:
    message = claude.messages.create(
        model="fake",
        max_tokens=50,
        system="Be brief.",
        messages=[{"role": "user", "content": QUESTION}],
        stop_sequences=["END"],
    )
    assert message.content[0].text
    assert message.stop_reason in ("end_turn", "max_tokens")
    assert message.usage.output_tokens > 0
    body = openai_server.bodies[0]
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert body["stop"] == ["END"]
    assert chosen(openai_server)
    assert {one.headers["authorization"] for one in openai_server.received} == {"Bearer secret"}


def test_a_message_as_a_stream(claude: Any) -> None:
    with claude.messages.stream(
        model="fake", max_tokens=50, messages=[{"role": "user", "content": QUESTION}]
    ) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert text == final.content[0].text != ""
    assert final.usage.output_tokens > 0


def test_tools_of_messages(claude: Any, openai_server: FakeServer) -> None:
    question = {"role": "user", "content": QUESTION}
    options = {"model": "fake", "max_tokens": 50, "tools": [CLAUDE_TOOL]}
    message = claude.messages.create(**options, messages=[question])
    assert message.stop_reason == "tool_use"
    use = next(block for block in message.content if block.type == "tool_use")
    assert use.name == "weather"
    result = {"type": "tool_result", "tool_use_id": use.id, "content": "7 m"}
    history = [
        question,
        {"role": "assistant", "content": message.content},
        {"role": "user", "content": [result, {"type": "text", "text": "And now?"}]},
    ]
    claude.messages.create(**options, messages=history, tool_choice={"type": "any"})
    body = openai_server.bodies[-1]
    assert body["tool_choice"] == "required"
    roles = [turn["role"] for turn in body["messages"]]
    assert roles == ["user", "assistant", "tool", "user"]
    with claude.messages.stream(**options, messages=[question]) as stream:
        streamed = stream.get_final_message()
    assert next(block for block in streamed.content if block.type == "tool_use").name == "weather"


def test_errors_of_messages_have_their_shape(gateway: Running, openai_server: FakeServer) -> None:
    url = f"{gateway.url}/v1/messages"
    message = {"role": "user", "content": QUESTION}
    refused = httpx.post(url, json={"model": "fake", "messages": [message]})
    assert refused.status_code == 400
    assert refused.json()["type"] == "error"
    assert refused.json()["error"]["type"] == "invalid_request_error"
    assert "max_tokens" in refused.json()["error"]["message"]
    openai_server.faults = [Fault(status=400, message="no such model")] * 9
    body: dict[str, Any] = {"model": "fake", "max_tokens": 9, "messages": [message]}
    assert httpx.post(url, json=body).json()["error"]["message"].startswith("no such model")
    strange: list[Any] = [None, [], [1], [{"role": "user"}], [{"role": "user", "content": [[]]}]]
    for messages in strange:
        answer = httpx.post(url, json={**body, "messages": messages})
        assert answer.status_code == 400, (messages, answer.text)


def test_the_choice_is_reported_to_those_who_ask(gateway: Running) -> None:
    darc = {"metadata": True, "k": 2}
    body: dict[str, Any] = {"model": "fake", "input": QUESTION, "darc": darc}
    assert "index" in httpx.post(f"{gateway.url}/v1/responses", json=body).json()["darc"]
    message = {"role": "user", "content": QUESTION}
    body = {"model": "fake", "max_tokens": 9, "messages": [message], "darc": darc}
    assert "index" in httpx.post(f"{gateway.url}/v1/messages", json=body).json()["darc"]
