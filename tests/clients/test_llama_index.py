import openai
import pytest
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from tests.clients.conftest import KEY, SENTENCE, was_chosen
from tests.clients.test_openai import Tide
from tests.fakes import FakeServer, Fault

pytestmark = pytest.mark.clients


@pytest.fixture
def llm(address: str) -> OpenAILike:
    return OpenAILike(
        model="fake", api_base=address, api_key=KEY, is_chat_model=True, max_retries=0,
        is_function_calling_model=True, should_use_structured_outputs=True, temperature=1.0,
    )  # fmt: skip


def test_plain_and_stream(llm: OpenAILike, backend: FakeServer) -> None:
    assert llm.complete("Why are there two tides?").text.startswith(SENTENCE)
    was_chosen(backend)
    (*_, last) = llm.stream_chat([ChatMessage(role="user", content="Why?")])
    assert last.message.content.startswith(SENTENCE)


def test_structured_output_and_tools(llm: OpenAILike) -> None:
    made = llm.as_structured_llm(Tide).chat([ChatMessage(role="user", content="How high?")])
    assert made.raw.place == "Brest"
    weather = FunctionTool.from_defaults(lambda place: place, name="weather", description="now")
    made = llm.chat_with_tools([weather], user_msg="The weather?")
    (call,) = llm.get_tool_calls_from_response(made)
    assert call.tool_name == "weather"


def test_errors_keep_their_kind(llm: OpenAILike, backend: FakeServer) -> None:
    backend.faults = [Fault(status=400, message="no such model")] * 9
    with pytest.raises(openai.BadRequestError, match="no such model"):
        llm.complete("Why?")
