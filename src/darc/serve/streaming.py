"""A finished completion as the events of a stream."""

import json
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any

from starlette.responses import StreamingResponse

from darc.models.remote.protocol import token_entries

logger = logging.getLogger(__name__)

DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"
MOST_PIECES = 200
_WORDS = re.compile(r"\s*\S+\s*\Z|\s*\S+|\s+")


def encoded(data: Any) -> bytes:
    """The bytes of JSON; what is no Unicode becomes a question mark."""
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")


def event(data: Any) -> bytes:
    """One event."""
    return b"data: " + encoded(data) + b"\n\n"


def events(completion: Mapping[str, Any], include_usage: bool) -> Iterator[bytes]:
    """A completion as events: role, content in pieces, the reason to finish, usage if asked for.

    What is not part of the protocol (`darc`) stands in the last event before the end.
    """
    made = list(chunks(completion, include_usage))
    if "darc" in completion:
        made[-1]["darc"] = completion["darc"]
    for each in made:
        yield event(each)
    yield DONE


def chunks(completion: Mapping[str, Any], include_usage: bool) -> Iterator[dict[str, Any]]:
    """The chunks of a completion; all share its id, time and model."""
    head = {
        name: value
        for name, value in completion.items()
        if name not in ("choices", "usage", "object", "darc")
    }
    head["object"] = "chat.completion.chunk"
    rest: dict[str, Any] = {"usage": None} if include_usage else {}
    for choice in completion["choices"]:
        index = choice["index"]
        for delta, logprobs in deltas(choice):
            one = {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": None}
            yield {**head, "choices": [one], **rest}
        extra = {
            name: value
            for name, value in choice.items()
            if name not in ("index", "message", "logprobs", "finish_reason")
        }
        reason = choice.get("finish_reason") or "stop"
        end = {"index": index, "delta": {}, "logprobs": None, "finish_reason": reason, **extra}
        yield {**head, "choices": [end], **rest}
    if include_usage:
        yield {**head, "choices": [], "usage": completion.get("usage")}


def deltas(choice: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], Any]]:
    """The message of a choice in pieces, each with its log-probabilities where they are given."""
    logprobs: Any
    message, logprobs = choice["message"], choice.get("logprobs")
    content = message.get("content")
    role = message.get("role") or "assistant"
    yield {"role": role, "content": "" if isinstance(content, str) else content}, None
    for name, value in message.items():
        if name not in ("role", "content", "tool_calls") and value is not None:
            yield {name: value}, None
    if isinstance(content, str) and content:
        entries = token_entries(choice)
        tokens = [str(entry.get("token")) for entry in entries]
        if "".join(tokens) == content:
            for token, entry in zip(tokens, entries, strict=True):
                yield {"content": token}, {**logprobs, "content": [entry]}
        else:
            for place, piece in enumerate(pieces(content)):
                yield {"content": piece}, None if place else logprobs
    elif logprobs is not None:
        yield {}, logprobs
    for place, call in enumerate(message.get("tool_calls") or ()):
        known = call if isinstance(call, Mapping) else {}
        yield {"tool_calls": [{"index": place, **known}]}, None


def pieces(text: str) -> list[str]:
    """A text in words with the space before them, at most 200 pieces, that join to it again."""
    words = _WORDS.findall(text)
    size = -(-len(words) // MOST_PIECES) or 1
    return ["".join(words[i : i + size]) for i in range(0, len(words), size)]


class BrokeOff(Exception):
    """What was being passed on has ended before its end."""


class ClosingResponse(StreamingResponse):  # type: ignore[misc]
    """A stream that lets go of what it holds, however it ends and even if it never begins."""

    def __init__(
        self, content: AsyncIterator[bytes], close: Callable[[], Awaitable[None]], **given: Any
    ) -> None:
        super().__init__(content, **given)
        self.closers = [close]

    async def stream_response(self, send: Any) -> None:
        """Send the stream; one that breaks off is left without an end, so that the client knows."""
        try:
            await super().stream_response(send)
        except BrokeOff as problem:
            logger.warning("the backend broke off in the middle of an answer: %s", problem)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Send the stream, then close."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            for close in self.closers:
                await close()
