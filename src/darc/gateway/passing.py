"""Requests that go through to the backend as they came."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from darc.gateway.asked import Asked
from darc.gateway.headers import onward
from darc.gateway.leaving import ClientLeft, ClosingResponse, begun, unless_gone
from darc.gateway.service import Gateway
from darc.gateway.streaming import DONE, event
from darc.web.bodies import read_body

CHAT = "/chat/completions"
LEFT = 499


async def passed_through(
    gateway: Gateway, request: Request, asked: Asked, content: bytes
) -> Response:
    """One sample of the backend's, as it says it; `darc` is added where it was asked for."""
    if not asked.same:
        content = json.dumps(asked.body).encode()
    plain = not asked.method.metadata
    response = await _sent(gateway, request, CHAT, content, again=True, plain=plain)
    if plain or response.status_code != 200:
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
    path = request.url.path.removeprefix("/v1")
    content = await read_body(request, gateway.settings.max_body)
    again = request.method in ("GET", "HEAD")
    return await _sent(gateway, request, path, content, again=again, plain=True)


async def _sent(
    gateway: Gateway, request: Request, path: str, content: bytes, *, again: bool, plain: bool
) -> Response:
    headers = onward(request.headers, gateway.trusting)
    if not plain:
        headers["accept-encoding"] = "identity"
    stack = AsyncExitStack()

    async def ask() -> Response:
        await stack.enter_async_context(gateway.gate)
        return await gateway.backend.forward(
            request.method, path, request.url.query, headers, content, again
        )

    work = begun(ask())
    try:
        await unless_gone(request, work)
        response = work.result()
    except ClientLeft:
        await stack.aclose()
        return Response(status_code=LEFT)
    except BaseException:
        await stack.aclose()
        raise
    if isinstance(response, ClosingResponse):
        response.closers.append(stack.aclose)
    else:
        await stack.aclose()
    return response


def _with_metadata(response: Response, data: dict[str, Any]) -> Response:
    """A response with a `darc` object: in the JSON, or in an event of its own before the end."""
    kept = [(n, v) for n, v in response.raw_headers if n != b"content-length"]
    if isinstance(response, StreamingResponse):
        response.body_iterator = _before_end(response.body_iterator, data)
        response.raw_headers = kept
        return response
    try:
        body = json.loads(bytes(response.body))
    except ValueError:
        return response
    if not isinstance(body, dict):
        return response
    made = Response(json.dumps({**body, "darc": data}).encode(), response.status_code)
    made.raw_headers = [*kept, (b"content-length", str(len(bytes(made.body))).encode())]
    return made


async def _before_end(parts: Any, data: dict[str, Any]) -> AsyncIterator[bytes]:
    """The events of a stream with one more before the last; a part may end anywhere."""
    end, held, head = DONE.rstrip(), b"", None
    try:
        async for part in parts:
            held += part
            *whole, held = held.split(b"\n\n")
            for each in whole:
                if each.strip() == end:
                    yield event({**(head or {}), "choices": [], "darc": data})
                elif head is None:
                    head = _head(each)
                yield each + b"\n\n"
        yield held
    finally:
        await parts.aclose()


def _head(chunk: bytes) -> dict[str, Any] | None:
    """What the chunks of a stream share."""
    try:
        found = json.loads(chunk.strip().removeprefix(b"data:"))
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    return {name: found[name] for name in ("id", "object", "created", "model") if name in found}
