import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import fast_settings

from darc.serve.streaming import DONE, completion_chunks, split_words, stream_completion


def completion(**message: Any) -> dict[str, Any]:
    choice = {
        "index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop",
        "logprobs": None,
    }  # fmt: skip
    return {"id": "c1", "created": 1, "model": "m", "choices": [choice], "usage": {"x": 1}}


@given(st.text(max_size=400))
@fast_settings
def test_pieces_join_to_the_text(text: str) -> None:
    assert "".join(split_words(text)) == text


def test_long_text_has_a_bounded_number_of_pieces() -> None:
    text = "word " * 10_000
    assert "".join(split_words(text)) == text
    assert len(split_words(text)) <= 200


def test_chunks_follow_the_protocol() -> None:
    chunks = list(completion_chunks(completion(content="one two three"), include_usage=True))
    assert {chunk["id"] for chunk in chunks} == {"c1"}
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert [chunk["choices"][0]["delta"].get("content") for chunk in chunks[1:4]] == [
        "one", " two", " three",
    ]  # fmt: skip
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks[:-1]] == [None] * 4 + ["stop"]
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"] == {"x": 1}
    assert all(chunk["usage"] is None for chunk in chunks[:-1])
    assert "usage" not in next(
        iter(completion_chunks(completion(content="x"), include_usage=False))
    )


def test_tool_calls_are_put_together_again() -> None:
    call = {"id": "t1", "type": "function", "function": {"name": "f", "arguments": '{"a": "b c"}'}}
    chunks = list(completion_chunks(completion(content=None, tool_calls=[call, call]), False))
    arguments = ["", ""]
    for chunk in chunks:
        for delta in chunk["choices"][0]["delta"].get("tool_calls", ()):
            arguments[delta["index"]] += delta["function"]["arguments"]
    assert arguments == [call["function"]["arguments"]] * 2  # type: ignore[index]
    assert chunks[0]["choices"][0]["delta"]["content"] is None


@pytest.mark.parametrize("whole", [True, False])
def test_logprobs_are_all_there(whole: bool) -> None:
    entries = [{"token": "one", "logprob": -1.0}, {"token": " two", "logprob": -2.0}]
    given = completion(content="one two" if whole else "one  two")
    given["choices"][0]["logprobs"] = {"content": entries, "refusal": None}
    found = [
        entry
        for chunk in completion_chunks(given, False)
        for entry in (chunk["choices"][0].get("logprobs") or {}).get("content", ())
    ]
    assert found == entries


def test_other_fields_of_a_message_are_kept() -> None:
    chunks = list(
        completion_chunks(completion(content="x", reasoning_content="hm", refusal="no no"), False)
    )
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert {"reasoning_content": "hm"} in deltas
    assert "".join(delta.get("refusal", "") for delta in deltas) == "no no"


def test_metadata_stands_in_the_last_event() -> None:
    *before, last, end = stream_completion({**completion(content="x"), "darc": {"k": 3}}, False)
    assert end == DONE
    assert json.loads(last.removeprefix(b"data: "))["darc"] == {"k": 3}
    assert not any(b"darc" in chunk for chunk in before)
