"""Requests that go through to the backend as they came."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from darc.models.remote.address import CHAT_PATH
from darc.models.remote.bodies import parse_object
from darc.models.remote.meter import CURRENT_METER, Meter
from darc.serve.requests import ChatRequest
from darc.serve.service import Gateway
from darc.serve.streaming import DONE, ClosingResponse, event
from darc.web.bodies import read_body
from darc.web.disconnects import cancel_if_disconnected
from darc.web.problems import Problem

MOST_ENCODED = 4
# What the chunks of a stream share.
SHARED = ("id", "object", "created", "model")
_UNFIT = re.compile(rb"[\x00-\x1f\x7f]")


async def passed_through(
    gateway: Gateway, request: Request, asked: ChatRequest, content: bytes
) -> Response:
    """One sample of the backend's, as it says it; `darc` is added where it was asked for."""
    options, headers = asked.method.options, gateway.onward(request.headers)
    meter = Meter(options.budget.upstream_calls, options.budget.upstream_tokens)
    if not asked.same:
        content = json.dumps(asked.body).encode()
    if options.metadata:
        headers["accept-encoding"] = "identity"
    with gateway.tracing.chat(asked, request.headers):
        response = await _answered(gateway, request, CHAT_PATH, headers, content, meter)
    if not options.metadata or response.status_code != 200:
        return response
    data = {
        "request_id": request.state.request_id,
        "rule": None,
        "k": 1,
        "flags": [],
        "explanation": "the backend's answer as it is: k is 1.",
    }
    return _with_metadata(response, data)


async def anything(gateway: Gateway, request: Request) -> Response:
    """Any other path below /v1, unchanged."""
    path, headers = path_below(request.scope), gateway.onward(request.headers)
    content = await read_body(request, gateway.settings.max_body)
    return await _answered(gateway, request, path, headers, content, Meter())


def path_below(scope: Mapping[str, Any]) -> str:
    """The path below /v1 as it was sent; one that might lead out of /v1 anywhere is refused.

    Servers differ in how often they decode a path and in what separates its parts, so no reading of
    it may have a part that leads upwards.
    """
    sent = scope.get("raw_path") or quote(scope["path"]).encode()
    if not sent.startswith(b"/v1/"):
        raise Problem(404, "there is no such path", code="not_found")
    read = sent
    for _ in range(MOST_ENCODED):
        parts = re.split(rb"[/\\]", read)
        if any(re.split(rb"[;?#]", part)[0].strip() in (b".", b"..") for part in parts):
            raise Problem(404, "the path leads out of /v1", code="not_found")
        text = read.decode(errors="ignore").encode() == read
        if not text or b"\\" in read or _UNFIT.search(read):
            raise Problem(400, "the path has characters that no path has", code="bad_path")
        again = unquote_to_bytes(read)
        if again == read:
            return sent.removeprefix(b"/v1").decode("latin-1")
        read = again
    raise Problem(400, "the path is encoded again and again", code="bad_path")


async def _answered(
    gateway: Gateway,
    request: Request,
    path: str,
    headers: Mapping[str, str],
    content: bytes,
    meter: Meter,
) -> Response:
    async with AsyncExitStack() as stack:

        async def ask() -> Response:
            # It is a task of its own, so that nobody else's calls are counted.
            CURRENT_METER.set(meter)
            await stack.enter_async_context(gateway.gate)
            return await gateway.backend.forward(request, path, headers, content)

        work = asyncio.create_task(ask())
        await cancel_if_disconnected(request, work)
        response = work.result()
        if isinstance(response, ClosingResponse):
            response.closers.append(stack.pop_all().aclose)
        return response


def _with_metadata(response: Response, data: dict[str, Any]) -> Response:
    """A response with a `darc` object: in the JSON, or in an event of its own before the end."""
    if "content-encoding" in response.headers:
        return response
    kept = [(n, v) for n, v in response.raw_headers if n != b"content-length"]
    if isinstance(response, StreamingResponse):
        response.body_iterator = _before_end(response.body_iterator, data)
        response.raw_headers = kept
        return response
    body = parse_object(bytes(response.body))
    if not body:
        return response
    content = json.dumps({**body, "darc": data}).encode()
    made = Response(content, response.status_code)
    made.raw_headers = [*kept, (b"content-length", b"%d" % len(content))]
    return made


async def _before_end(parts: Any, data: dict[str, Any]) -> AsyncIterator[bytes]:
    """The events of a stream with one more before the last; a part may end anywhere."""
    held, head = b"", dict[str, Any]()

    def lines(some: list[bytes]) -> Iterator[bytes]:
        for line in some:
            if line.strip() == DONE.rstrip():
                yield event({**head, "choices": [], "darc": data})
            if not head:
                found = parse_object(line.strip().removeprefix(b"data:"))
                head.update({name: found[name] for name in SHARED if name in found})
            yield line

    try:
        async for part in parts:
            *whole, held = (held + part).split(b"\n")
            if whole:
                yield b"".join(lines([line + b"\n" for line in whole]))
        yield b"".join(lines([held]))
    finally:
        await parts.aclose()
