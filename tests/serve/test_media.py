"""Images and sounds go to the backend as they came, and scorers see the text alone."""

from typing import Any

import httpx
import pytest
from tests.fakes import FakeServer
from tests.serve.running import Running, running

from darc.serve.replies import read_reply

PARTS = [
    {"type": "text", "text": "What is this?"},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
    {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
]


def ask(gateway: Running, content: Any, **darc: Any) -> Any:
    body = {"model": "fake", "messages": [{"role": "user", "content": content}]}
    method = {"metadata": True, "full": True, **darc}
    url = f"{gateway.url}/v1/chat/completions"
    return httpx.post(url, json={**body, "darc": method}, timeout=20)


@pytest.mark.parametrize("content", [PARTS, PARTS[1:]])
def test_parts_go_through_unchanged_and_the_answer_says_what_was_seen(
    gateway: Running, openai_server: FakeServer, content: Any
) -> None:
    answer = ask(gateway, content)
    assert answer.status_code == 200, answer.text
    assert openai_server.bodies[0]["messages"][0]["content"] == content
    assert "text_only" in answer.json()["darc"]["flags"]
    assert "text_only" in answer.headers["x-darc-flags"]
    assert "not its images or sounds" in answer.json()["darc"]["explanation"]
    assert "text_only" not in ask(gateway, "What is this?").headers.get("x-darc-flags", "")


def test_answers_without_a_word_are_not_scored_in_silence(openai_server: FakeServer) -> None:
    openai_server.reply = lambda body, index: ""
    with running(openai_server) as gateway:
        answer = ask(gateway, PARTS).json()["darc"]
        assert {"no_text", "first_candidate"} <= set(answer["flags"])
        assert answer["index"] == 0
        closed = ask(gateway, PARTS, policy="closed")
        assert (closed.status_code, closed.json()["error"]["code"]) == (503, "no_text")


def test_spoken_answers_are_scored_by_their_words() -> None:
    audio = {"id": "a", "transcript": "Two tides."}
    choice = {"index": 0, "message": {"role": "assistant", "content": None, "audio": audio}}
    assert read_reply("p", {"choices": [choice]}, choice, 0).text == "Two tides."
