"""A finished completion as a stream of events."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from darc.models.remote.protocol import token_entries

DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"
_MAX_PIECES = 200
_WORDS = re.compile(r"\s*\S+\s*\Z|\s*\S+|\s+")
# Fields of a completion that its chunks do not repeat.
_NOT_IN_CHUNKS = ("choices", "usage", "object", "darc")
_STREAMED_CHOICE_FIELDS = ("index", "message", "logprobs", "finish_reason")

# A piece of a message, and its log-probabilities.
_Delta = tuple[dict[str, Any], Any]


def encode_json(data: Any) -> bytes:
    """Return data as JSON; characters that are not Unicode become question marks."""
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")


def encode_event(data: Any) -> bytes:
    """Return one server-sent event."""
    return b"data: " + encode_json(data) + b"\n\n"


def stream_completion(completion: Mapping[str, Any], include_usage: bool) -> Iterator[bytes]:
    """Split a completion into events.

    They have the role, the content in pieces, the reason to finish, and the usage if it was asked
    for. The `darc` object is in the last event before the end.

    Args:
        completion: The completion.
        include_usage: Whether the last chunk is to have the usage.
    """
    chunks = list(completion_chunks(completion, include_usage))
    if "darc" in completion:
        chunks[-1]["darc"] = completion["darc"]
    for chunk in chunks:
        yield encode_event(chunk)
    yield DONE


def completion_chunks(
    completion: Mapping[str, Any], include_usage: bool
) -> Iterator[dict[str, Any]]:
    """Split a completion into chunks, which all share its id, time and model.

    Args:
        completion: The completion.
        include_usage: Whether the last chunk is to have the usage.
    """
    shared = {name: value for name, value in completion.items() if name not in _NOT_IN_CHUNKS}
    shared["object"] = "chat.completion.chunk"
    usage: dict[str, Any] = {"usage": None} if include_usage else {}
    for choice in completion["choices"]:
        for streamed_choice in _streamed_choices(choice):
            yield {**shared, "choices": [streamed_choice], **usage}
    if include_usage:
        yield {**shared, "choices": [], "usage": completion.get("usage")}


def _streamed_choices(choice: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The pieces of one choice, the last of which has the reason to finish."""
    index = choice["index"]
    for delta, logprobs in _deltas(choice):
        yield {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": None}
    other_fields = {
        name: value for name, value in choice.items() if name not in _STREAMED_CHOICE_FIELDS
    }
    yield {
        "index": index,
        "delta": {},
        "logprobs": None,
        "finish_reason": choice.get("finish_reason") or "stop",
        **other_fields,
    }


def _deltas(choice: Mapping[str, Any]) -> Iterator[_Delta]:
    """The message of a choice in pieces."""
    message = choice["message"]
    logprobs = choice.get("logprobs")
    content = message.get("content")
    role = message.get("role") or "assistant"
    first_content = "" if isinstance(content, str) else content
    yield {"role": role, "content": first_content}, None
    for name, value in message.items():
        if name not in ("role", "content", "tool_calls") and value is not None:
            yield {name: value}, None
    if isinstance(content, str) and content:
        yield from _content_deltas(choice, content)
    elif logprobs is not None:
        yield {}, logprobs
    for place, call in enumerate(message.get("tool_calls") or ()):
        fields = call if isinstance(call, Mapping) else {}
        yield {"tool_calls": [{"index": place, **fields}]}, None


def _content_deltas(choice: Mapping[str, Any], content: str) -> Iterator[_Delta]:
    """The content by tokens, each with its log-probabilities, if they are known; else by words."""
    logprobs: Any = choice.get("logprobs")
    entries = token_entries(choice)
    tokens = [str(entry.get("token")) for entry in entries]
    if "".join(tokens) == content:
        for token, entry in zip(tokens, entries, strict=True):
            yield {"content": token}, {**logprobs, "content": [entry]}
        return
    first, *others = split_words(content)
    yield {"content": first}, logprobs
    for piece in others:
        yield {"content": piece}, None


def split_words(text: str) -> list[str]:
    """Split a text into words with the space before them, or into at most 200 groups of words."""
    words = _WORDS.findall(text)
    size = -(-len(words) // _MAX_PIECES) or 1
    return ["".join(words[start : start + size]) for start in range(0, len(words), size)]
