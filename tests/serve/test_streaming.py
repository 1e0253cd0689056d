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
    made = list(completion_chunks(completion(content="one two three"), include_usage=True))
    assert {each["id"] for each in made} == {"c1"}
    assert {each["object"] for each in made} == {"chat.completion.chunk"}
    assert made[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert [each["choices"][0]["delta"].get("content") for each in made[1:4]] == [
        "one", " two", " three",
    ]  # fmt: skip
    assert [each["choices"][0]["finish_reason"] for each in made[:-1]] == [None] * 4 + ["stop"]
    assert made[-1]["choices"] == []
    assert made[-1]["usage"] == {"x": 1}
    assert all(each["usage"] is None for each in made[:-1])
    assert "usage" not in next(
        iter(completion_chunks(completion(content="x"), include_usage=False))
    )


def test_tool_calls_are_put_together_again() -> None:
    call = {"id": "t1", "type": "function", "function": {"name": "f", "arguments": '{"a": "b c"}'}}
    made = list(completion_chunks(completion(content=None, tool_calls=[call, call]), False))
    arguments = ["", ""]
    for each in made:
        for delta in each["choices"][0]["delta"].get("tool_calls", ()):
            arguments[delta["index"]] += delta["function"]["arguments"]
    assert arguments == [call["function"]["arguments"]] * 2  # type: ignore[index]
    assert made[0]["choices"][0]["delta"]["content"] is None


@pytest.mark.parametrize("whole", [True, False])
def test_logprobs_are_all_there(whole: bool) -> None:
    entries = [{"token": "one", "logprob": -1.0}, {"token": " two", "logprob": -2.0}]
    given = completion(content="one two" if whole else "one  two")
    given["choices"][0]["logprobs"] = {"content": entries, "refusal": None}
    found = [
        entry
        for each in completion_chunks(given, False)
        for entry in (each["choices"][0].get("logprobs") or {}).get("content", ())
    ]
    assert found == entries


def test_other_fields_of_a_message_are_kept() -> None:
    made = list(
        completion_chunks(completion(content="x", reasoning_content="hm", refusal="no no"), False)
    )
    deltas = [each["choices"][0]["delta"] for each in made]
    assert {"reasoning_content": "hm"} in deltas
    assert "".join(delta.get("refusal", "") for delta in deltas) == "no no"


def test_metadata_stands_in_the_last_event() -> None:
    *before, last, end = stream_completion({**completion(content="x"), "darc": {"k": 3}}, False)
    assert end == DONE
    assert json.loads(last.removeprefix(b"data: "))["darc"] == {"k": 3}
    assert not any(b"darc" in each for each in before)
