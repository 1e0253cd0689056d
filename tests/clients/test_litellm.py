import litellm
import pytest
from tests.clients.conftest import KEY, SENTENCE, was_chosen
from tests.clients.test_openai import QUESTION, WEATHER, Tide
from tests.fakes import FakeServer, Fault

pytestmark = pytest.mark.clients


@pytest.fixture
def options(address: str) -> dict[str, object]:
    return {"model": "openai/fake", "messages": QUESTION, "api_base": address, "api_key": KEY}


def test_plain_stream_and_n(options: dict[str, object], backend: FakeServer) -> None:
    assert litellm.completion(**options).choices[0].message.content.startswith(SENTENCE)
    was_chosen(backend)
    chunks = litellm.completion(**options, stream=True)
    pieces = [chunk.choices[0].delta.content or "" for chunk in chunks]
    assert "".join(pieces).startswith(SENTENCE)
    assert len(litellm.completion(**options, n=2).choices) == 2


def test_structured_output_and_tools(options: dict[str, object]) -> None:
    completion = litellm.completion(**options, response_format=Tide)
    assert Tide.model_validate_json(completion.choices[0].message.content).place == "Brest"
    completion = litellm.completion(**options, tools=[WEATHER])
    assert completion.choices[0].message.tool_calls[0].function.name == "weather"


def test_errors_keep_their_kind(options: dict[str, object], backend: FakeServer) -> None:
    backend.faults = [Fault(status=400, message="no such model")] * 9
    with pytest.raises(litellm.BadRequestError, match="no such model"):
        litellm.completion(**options)
