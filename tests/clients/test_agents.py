"""The OpenAI Agents SDK, which calls /v1/responses."""

import asyncio

import agents
import openai
import pytest
from tests.clients.conftest import KEY, SENTENCE, was_chosen
from tests.fakes import FakeServer

pytestmark = pytest.mark.clients


def test_an_agent_answers_by_a_choice(address: str, backend: FakeServer) -> None:
    agents.set_tracing_disabled(True)
    client = openai.AsyncOpenAI(base_url=address, api_key=KEY, max_retries=0)
    model = agents.OpenAIResponsesModel(model="fake", openai_client=client)
    agent = agents.Agent(name="Tides", instructions="Be brief.", model=model)
    result = asyncio.run(agents.Runner.run(agent, "Why are there two tides?"))
    assert str(result.final_output).startswith(SENTENCE)
    was_chosen(backend)
