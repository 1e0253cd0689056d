"""The OpenAI Agents SDK, which calls /v1/responses."""

import asyncio
from typing import Any

import agents
import openai
import pytest
from pydantic import BaseModel
from tests.clients.conftest import KEY, SENTENCE, was_chosen
from tests.fakes import FakeServer

pytestmark = pytest.mark.clients
QUESTION = "Why are there two tides?"


class Tide(BaseModel):
    place: str
    metres: float


@pytest.fixture
def model(address: str) -> agents.OpenAIResponsesModel:
    agents.set_tracing_disabled(True)
    client = openai.AsyncOpenAI(base_url=address, api_key=KEY, max_retries=0)
    return agents.OpenAIResponsesModel(model="fake", openai_client=client)


def test_an_agent_answers_by_a_choice(
    model: agents.OpenAIResponsesModel, backend: FakeServer
) -> None:
    agent = agents.Agent(name="Tides", instructions="Be brief.", model=model)
    result = asyncio.run(agents.Runner.run(agent, QUESTION))
    assert str(result.final_output).startswith(SENTENCE)
    was_chosen(backend)


def test_a_stream_of_an_agent(model: agents.OpenAIResponsesModel, backend: FakeServer) -> None:
    agent = agents.Agent(name="Tides", model=model)

    async def stream() -> tuple[str, str]:
        result = agents.Runner.run_streamed(agent, QUESTION)
        pieces = []
        async for event in result.stream_events():
            data: Any = getattr(event, "data", None)
            if getattr(data, "type", "") == "response.output_text.delta":
                pieces.append(data.delta)
        return "".join(pieces), str(result.final_output)

    text, final = asyncio.run(stream())
    assert text == final
    assert text.startswith(SENTENCE)
    was_chosen(backend)


def test_an_agent_calls_a_tool_and_gets_its_result(
    model: agents.OpenAIResponsesModel, backend: FakeServer
) -> None:
    places: list[str] = []

    def weather(place: str) -> str:
        """The weather at a place."""
        places.append(place)
        return "windy"

    answer_once_called(backend)
    agent = agents.Agent(name="Weather", model=model, tools=[agents.function_tool(weather)])
    result = asyncio.run(agents.Runner.run(agent, "How is the weather in Brest?"))
    assert str(result.final_output).startswith(SENTENCE)
    assert len(places) == 1
    last = backend.bodies[-1]["messages"]
    assert last[-1]["role"] == "tool"
    assert last[-1]["content"] == "windy"
    was_chosen(backend, times=2)


def test_an_agent_with_an_output_type(
    model: agents.OpenAIResponsesModel, backend: FakeServer
) -> None:
    agent = agents.Agent(name="Tides", model=model, output_type=Tide)
    result = asyncio.run(agents.Runner.run(agent, QUESTION))
    assert isinstance(result.final_output, Tide)
    assert result.final_output.place == "Brest"
    was_chosen(backend)


def answer_once_called(backend: FakeServer) -> None:
    """Have the model call its tool first, and answer once there is a result."""
    chat = backend.chat

    def chat_with_results(body: dict[str, Any]) -> tuple[int, Any]:
        if any(message["role"] == "tool" for message in body["messages"]):
            body = {name: value for name, value in body.items() if name != "tools"}
        return chat(body)

    backend.chat = chat_with_results  # type: ignore[method-assign]
