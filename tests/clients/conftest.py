"""A gateway that every client calls, in front of the fake server."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from tests.fakes import FakeServer
from tests.serve.running import Running, settings_for

LIBRARIES = {
    "test_agents.py": "agents",
    "test_anthropic.py": "anthropic",
    "test_dspy.py": "dspy",
    "test_inspect_ai.py": "inspect_ai",
    "test_instructor.py": "instructor",
    "test_langchain.py": "langchain_openai",
    "test_litellm.py": "litellm",
    "test_llama_index.py": "llama_index",
    "test_llm.py": "llm",
    "test_lm_eval.py": "lm_eval",
}
collect_ignore = [name for name, library in LIBRARIES.items() if not find_spec(library)]

# LiteLLM otherwise downloads its price list in the background, and logs that it could not.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

KEY = "not-a-secret"
SENTENCE = "The Moon and the Sun pull on the sea, so there are two tides a day."


def reply(body: dict[str, Any], index: int) -> str:
    """A sentence, or the JSON that a client asked for."""
    response_format = body.get("response_format") or {}
    if response_format.get("type", "text") == "text":
        return SENTENCE + "!" * index
    return f'{{"place": "Brest", "metres": {7 + index}}}'


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    with FakeServer() as server:
        server.reply = reply
        yield server


@pytest.fixture
def gateway(backend: FakeServer) -> Iterator[Running]:
    running = Running(settings_for(backend, k=3))
    try:
        yield running
    finally:
        running.close()


@pytest.fixture
def address(gateway: Running) -> str:
    """What a client is given as its base URL."""
    return f"{gateway.url}/v1"


def was_chosen(backend: FakeServer, times: int = 1) -> None:
    """Assert that each answer was chosen among three candidates."""
    bodies = [
        request.body for request in backend.received if request.path.endswith("chat/completions")
    ]
    assert sum(body.get("n") or 1 for body in bodies) == 3 * times, "candidates asked for"
