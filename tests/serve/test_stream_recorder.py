"""Putting streams together."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from darc.serve.stream_recorder import StreamRecorder, record_stream

END = b"data: [DONE]\n\n"


def event(delta: dict[str, Any], index: int = 0, **choice: Any) -> bytes:
    data = {"model": "fake", "choices": [{"index": index, "delta": delta, **choice}]}
    return f"data: {json.dumps(data)}\n\n".encode()


def recorded(*chunks: bytes) -> dict[str, Any] | None:
    recorder = StreamRecorder()
    for chunk in chunks:
        recorder.feed(chunk)
    return recorder.completion


TEXT = [
    event({"role": "assistant", "content": ""}),
    event({"content": "Two "}),
    event({"content": "a different choice"}, index=1),
    b": a comment\n\n",
    event({"content": "tides."}, finish_reason="stop"),
    b'data: {"choices": [], "usage": {"total_tokens": 9}}\n\n',
    END,
]


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_text_wherever_chunks_end(size: int) -> None:
    content = b"".join(TEXT)
    starts = range(0, len(content), size)
    completion = recorded(*(content[start : start + size] for start in starts))
    assert completion is not None
    (choice,) = completion["choices"]
    assert choice["message"] == {"role": "assistant", "content": "Two tides."}
    assert choice["finish_reason"] == "stop"
    assert completion["model"] == "fake"
    assert completion["usage"] == {"total_tokens": 9}


def test_tool_calls_are_joined() -> None:
    def call(index: int, **fields: Any) -> bytes:
        return event({"tool_calls": [{"index": index, **fields}]})

    completion = recorded(
        call(0, id="call_1", function={"name": "weather", "arguments": ""}),
        call(1, id="call_2", function={"name": "tide", "arguments": "{}"}),
        call(0, function={"arguments": '{"place": '}),
        call(0, function={"arguments": '"Brest"}'}),
        END,
    )
    assert completion is not None
    first, second = completion["choices"][0]["message"]["tool_calls"]
    assert first["id"] == "call_1"
    assert first["function"] == {"name": "weather", "arguments": '{"place": "Brest"}'}
    assert second["function"]["name"] == "tide"


@pytest.mark.parametrize(
    "data", ["7", "{", '{"choices": 7}', '{"choices": [7, {"delta": 7}]}', '{"usage": 7}']
)
def test_strange_events_are_left_out(data: str) -> None:
    completion = recorded(*TEXT[:2], f"data: {data}\n\n".encode(), *TEXT[2:])
    assert completion is not None
    assert completion["choices"][0]["message"]["content"] == "Two tides."


def test_what_does_not_end_or_is_too_long_is_no_completion() -> None:
    assert recorded(*TEXT[:-1]) is None
    assert recorded(event({"content": "x" * 1_100_000}), END) is None


def heard_from(chunks: Sequence[bytes], stop_after: int) -> tuple[list[bytes], list[Any]]:
    """What is passed on of a stream that the client leaves, and what is heard of it."""
    passed: list[bytes] = []
    heard: list[Any] = []

    async def source() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    async def read() -> None:
        stream: Any = record_stream(source(), heard.append)
        async for chunk in stream:
            passed.append(chunk)
            if len(passed) == stop_after:
                break
        await stream.aclose()

    asyncio.run(read())
    return passed, heard


def test_a_stream_is_passed_on_as_it_is() -> None:
    passed, heard = heard_from(TEXT, stop_after=0)
    assert passed == TEXT
    assert len(heard) == 1
    passed, heard = heard_from(TEXT, stop_after=2)
    assert passed == TEXT[:2]
    assert not heard
