"""Requests that are passed through to the backend as they came."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from darc.models.remote.address import CHAT_PATH
from darc.models.remote.bodies import parse_object
from darc.models.remote.meter import CURRENT_METER, Meter
from darc.serve.backends import Backend
from darc.serve.closing_response import ClosingResponse
from darc.serve.proxy_path import path_below_v1
from darc.serve.requests import ChatRequest
from darc.serve.service import Gateway
from darc.serve.stream_recorder import record_stream
from darc.serve.streaming import DONE, encode_event
from darc.web.bodies import read_body
from darc.web.disconnects import cancel_if_disconnected

# What the chunks of a stream share.
_SHARED_FIELDS = ("id", "object", "created", "model")


async def pass_chat_through(
    gateway: Gateway, request: Request, chat: ChatRequest, content: bytes
) -> Response:
    """Return one sample of the backend as it is, with a `darc` object if the request wants one.

    Args:
        gateway: The gateway.
        request: The HTTP request.
        chat: The chat completion that it is.
        content: Its body as it came.
    """
    options = chat.method.options
    headers = gateway.backend_headers(request.headers)
    meter = Meter(options.budget.upstream_calls, options.budget.upstream_tokens)
    request_id = request.state.request_id
    is_tried_out = gateway.shadows is not None and gateway.shadows.is_due(chat, request_id)
    began = time.perf_counter()
    if not chat.unchanged:
        content = json.dumps(chat.backend_body).encode()
    if options.metadata or is_tried_out:
        headers["accept-encoding"] = "identity"
    with gateway.tracing.chat_span(chat, request.headers):
        backend = gateway.mix.only(chat.model).backend
        response = await _forward(gateway, request, CHAT_PATH, headers, content, meter, backend)
    gateway.metrics.count_passed_through(gateway.model_labels.label(chat.model))
    if response.status_code != 200:
        return response
    if is_tried_out:

        def start_shadow(completion: Mapping[str, Any]) -> None:
            seconds = time.perf_counter() - began
            gateway.start_shadow(chat, request.headers, request_id, completion, seconds)

        _hear_completion(response, start_shadow)
    if not options.metadata:
        return response
    explanation = "the backend's answer as it is: k is 1."
    if gateway.shadows is not None:
        explanation = "the backend's answer as it is: choosing is only tried out (--shadow)."
    darc = {
        "request_id": request_id,
        "rule": None,
        "k": 1,
        "flags": [],
        "explanation": explanation,
    }
    return _with_darc(response, darc)


async def pass_through(gateway: Gateway, request: Request) -> Response:
    """Pass on a request to any other path below /v1, unchanged."""
    path = path_below_v1(request.scope)
    headers = gateway.backend_headers(request.headers)
    content = await read_body(request, gateway.settings.max_body, request.state.body_share)
    backend = gateway.backend
    return await _forward(gateway, request, path, headers, content, Meter(), backend)


async def _forward(
    gateway: Gateway,
    request: Request,
    path: str,
    headers: Mapping[str, str],
    content: bytes,
    meter: Meter,
    backend: Backend,
) -> Response:
    """The backend's response, which holds its place in the gate until it is sent."""
    async with AsyncExitStack() as stack:

        async def forward() -> Response:
            # This runs in a task of its own, so that the meter counts no other calls.
            CURRENT_METER.set(meter)
            await stack.enter_async_context(gateway.gate)
            return await backend.forward(request, path, headers, content)

        job = asyncio.create_task(forward())
        await cancel_if_disconnected(request, job)
        response = job.result()
        if isinstance(response, ClosingResponse):
            response.closers.append(stack.pop_all().aclose)
        return response


def _hear_completion(
    response: Response, on_completion: Callable[[Mapping[str, Any]], None]
) -> None:
    """Tell somebody the completion in a response, at the end of it if it is a stream."""
    if "content-encoding" in response.headers:
        return
    if isinstance(response, StreamingResponse):
        response.body_iterator = record_stream(response.body_iterator, on_completion)
        return
    body = parse_object(bytes(response.body))
    if body:
        on_completion(body)


def _with_darc(response: Response, darc: dict[str, Any]) -> Response:
    """A response with a `darc` object: in the JSON, or in an event of its own before the end."""
    if "content-encoding" in response.headers:
        return response
    headers = [(name, value) for name, value in response.raw_headers if name != b"content-length"]
    if isinstance(response, StreamingResponse):
        response.body_iterator = _add_event_before_end(response.body_iterator, darc)
        response.raw_headers = headers
        return response
    body = parse_object(bytes(response.body))
    if not body:
        return response
    content = json.dumps({**body, "darc": darc}).encode()
    result = Response(content, response.status_code)
    result.raw_headers = [*headers, (b"content-length", b"%d" % len(content))]
    return result


async def _add_event_before_end(chunks: Any, darc: dict[str, Any]) -> AsyncIterator[bytes]:
    """A stream with one more event before the last; a chunk may end anywhere."""
    inserter = _EventInserter(darc)
    unfinished_line = b""
    try:
        async for chunk in chunks:
            *lines, unfinished_line = (unfinished_line + chunk).split(b"\n")
            if lines:
                yield b"".join(inserter.process(line + b"\n") for line in lines)
        yield inserter.process(unfinished_line)
    finally:
        await chunks.aclose()


class _EventInserter:
    """Puts an event with a `darc` object before the end of a stream, line by line."""

    def __init__(self, darc: dict[str, Any]) -> None:
        self._darc = darc
        #: What the chunks share, read from the first of them.
        self._shared: dict[str, Any] = {}

    def process(self, line: bytes) -> bytes:
        """Return a line, with the event before it if it is the last one."""
        if line.strip() == DONE.rstrip():
            return encode_event({**self._shared, "choices": [], "darc": self._darc}) + line
        if not self._shared:
            chunk = parse_object(line.strip().removeprefix(b"data:"))
            self._shared = {name: chunk[name] for name in _SHARED_FIELDS if name in chunk}
        return line
