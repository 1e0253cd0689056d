import json
import urllib.request
from typing import Any

from tests.fakes import FakeServer


def post(server: FakeServer, body: dict[str, Any]) -> str:
    request = urllib.request.Request(
        f"{server.url}/v1/chat/completions", json.dumps(body).encode(), method="POST"
    )
    with urllib.request.urlopen(request) as answer:
        text: str = answer.read().decode()
        return text


def test_stream_says_what_the_whole_answer_says() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "n": 2, "seed": 1}
    with FakeServer() as server:
        completion = json.loads(post(server, body))
        options = {"stream": True, "stream_options": {"include_usage": True}}
        events = post(server, {**body, **options}).strip().split("\n\n")
    assert events.pop() == "data: [DONE]"
    chunks = [json.loads(event.removeprefix("data: ")) for event in events]
    assert chunks.pop()["usage"] == completion["usage"]
    texts = ["", ""]
    for chunk in chunks:
        (choice,) = chunk["choices"]
        texts[choice["index"]] += choice["delta"].get("content", "")
    assert texts == [choice["message"]["content"] for choice in completion["choices"]]
    assert texts[0] != texts[1]


def test_models_are_listed() -> None:
    with FakeServer() as server, urllib.request.urlopen(f"{server.url}/v1/models") as answer:
        assert json.load(answer)["data"][0]["id"] == "fake"
