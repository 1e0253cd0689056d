import instructor
import openai
import pytest
from tests.clients.conftest import KEY, was_chosen
from tests.clients.test_openai import QUESTION, Tide
from tests.fakes import FakeServer

pytestmark = pytest.mark.clients


@pytest.mark.parametrize("mode", [instructor.Mode.JSON, instructor.Mode.JSON_SCHEMA])
def test_answers_are_objects(address: str, backend: FakeServer, mode: instructor.Mode) -> None:
    plain = openai.OpenAI(base_url=address, api_key=KEY)
    client = instructor.from_openai(plain, mode=mode)
    made = client.chat.completions.create(model="fake", messages=QUESTION, response_model=Tide)
    assert made.place == "Brest"
    was_chosen(backend)


def test_parts_of_an_object_are_streamed(address: str) -> None:
    plain = openai.OpenAI(base_url=address, api_key=KEY)
    client = instructor.from_openai(plain, mode=instructor.Mode.JSON)
    parts = client.chat.completions.create_partial(
        model="fake", messages=QUESTION, response_model=Tide
    )
    assert list(parts)[-1].place == "Brest"
