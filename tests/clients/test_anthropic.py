"""Anthropic's client: the rest of what it can do is tested in tests/serve/test_dialects.py."""

import anthropic
import pytest
from tests.clients.conftest import KEY, SENTENCE, was_chosen
from tests.fakes import FakeServer

pytestmark = pytest.mark.clients


def test_messages_are_chosen(address: str, backend: FakeServer) -> None:
    client = anthropic.Anthropic(base_url=address.removesuffix("/v1"), api_key=KEY, max_retries=0)
    question: anthropic.types.MessageParam = {"role": "user", "content": "Why two tides?"}
    message = client.messages.create(model="fake", max_tokens=50, messages=[question])
    block = message.content[0]
    assert block.type == "text"
    assert block.text.startswith(SENTENCE)
    was_chosen(backend)
    with client.messages.stream(model="fake", max_tokens=50, messages=[question]) as stream:
        assert stream.get_final_text().startswith(SENTENCE)
    was_chosen(backend, times=2)
