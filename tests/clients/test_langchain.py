import openai
import pytest
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from tests.clients.conftest import KEY, SENTENCE, was_chosen
from tests.clients.test_openai import Tide
from tests.fakes import FakeServer, Fault

pytestmark = pytest.mark.clients


@pytest.fixture
def chat(address: str) -> ChatOpenAI:
    return ChatOpenAI(model="fake", base_url=address, api_key=KEY, max_retries=0)


def weather(place: str) -> str:
    """The weather somewhere."""
    return f"rain in {place}"


def test_plain_stream_and_n(chat: ChatOpenAI, backend: FakeServer) -> None:
    assert chat.invoke("Why are there two tides?").content.startswith(SENTENCE)
    was_chosen(backend)
    assert "".join(chunk.content for chunk in chat.stream("Why?")).startswith(SENTENCE)
    (several,) = chat.generate([[HumanMessage("Why?")]], n=2).generations
    assert len({generation.text for generation in several}) == 2


def test_structured_output_and_tools(chat: ChatOpenAI) -> None:
    assert chat.with_structured_output(Tide).invoke("How high?").place == "Brest"
    (call,) = chat.bind_tools([tool(weather)]).invoke("The weather?").tool_calls
    assert call["name"] == "weather"


def test_errors_keep_their_kind(chat: ChatOpenAI, backend: FakeServer) -> None:
    backend.faults = [Fault(status=400, message="no such model")] * 9
    with pytest.raises(openai.BadRequestError, match="no such model"):
        chat.invoke("Why?")
