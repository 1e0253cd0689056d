"""The chat completion that a stream of the backend adds up to."""

from collections.abc import AsyncIterator, Callable
from typing import Any

from darc.models.remote.bodies import parse_object
from darc.serve.streaming import DONE

_DATA = b"data:"
# A longer answer is not put together.
_MAX_CHARACTERS = 1_000_000

#: Called with a completion at the end of a stream.
CompletionListener = Callable[[dict[str, Any]], None]


class StreamRecorder:
    """Puts together the first choice of a streamed chat completion, chunk by chunk."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._unfinished_line = b""
        self._shared: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._content: list[str] = []
        self._tool_calls: dict[int, dict[str, Any]] = {}
        self._finish_reason: str | None = None
        self._characters = 0
        self._is_done = False

    @property
    def completion(self) -> dict[str, Any] | None:
        """The completion; None if the stream has not come to its end, or is too long."""
        if not self._is_done or self._characters > _MAX_CHARACTERS:
            return None
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._content)}
        if self._tool_calls:
            message["tool_calls"] = [call for _, call in sorted(self._tool_calls.items())]
        choice = {"index": 0, "message": message, "finish_reason": self._finish_reason}
        completion = {**self._shared, "choices": [choice]}
        if self._usage:
            completion["usage"] = self._usage
        return completion

    def feed(self, chunk: bytes) -> None:
        """Read some bytes of the stream, which may end anywhere."""
        if self._characters > _MAX_CHARACTERS:
            return
        self._characters += len(chunk)
        *lines, self._unfinished_line = (self._unfinished_line + chunk).split(b"\n")
        for line in lines:
            self._read_line(line.strip())

    def _read_line(self, line: bytes) -> None:
        if line == DONE.strip():
            self._is_done = True
        if not line.startswith(_DATA):
            return
        event = parse_object(line.removeprefix(_DATA))
        if isinstance(event.get("model"), str):
            self._shared["model"] = event["model"]
        if isinstance(event.get("usage"), dict):
            self._usage = event["usage"]
        choices = event.get("choices")
        if not isinstance(choices, list):
            return
        for choice in choices:
            if isinstance(choice, dict) and choice.get("index", 0) == 0:
                self._read_choice(choice)

    def _read_choice(self, choice: dict[str, Any]) -> None:
        if choice.get("finish_reason"):
            self._finish_reason = str(choice["finish_reason"])
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return
        if isinstance(delta.get("content"), str):
            self._content.append(delta["content"])
        calls = delta.get("tool_calls")
        if not isinstance(calls, list):
            return
        for call in calls:
            if isinstance(call, dict) and isinstance(call.get("index"), int):
                self._read_tool_call(call)

    def _read_tool_call(self, delta: dict[str, Any]) -> None:
        empty = {"type": "function", "function": {"name": "", "arguments": ""}}
        call = self._tool_calls.setdefault(delta["index"], empty)
        if delta.get("id"):
            call["id"] = delta["id"]
        function = delta.get("function")
        if not isinstance(function, dict):
            return
        for name in ("name", "arguments"):
            if isinstance(function.get(name), str):
                call["function"][name] += function[name]


async def record_stream(chunks: Any, on_completion: CompletionListener) -> AsyncIterator[bytes]:
    """Pass a stream on, and tell somebody the completion if it comes to its end.

    Args:
        chunks: The stream, which is closed at the end.
        on_completion: Called after the last chunk.
    """
    recorder = StreamRecorder()
    try:
        async for chunk in chunks:
            recorder.feed(chunk)
            yield chunk
    finally:
        await chunks.aclose()
    completion = recorder.completion
    if completion is not None:
        on_completion(completion)
