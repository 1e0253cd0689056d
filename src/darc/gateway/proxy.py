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

from darc.gateway.backends import PassedOn, onward
from darc.gateway.bodies import Budget
from darc.gateway.candidates import Spent
from darc.gateway.requests import ChatRequest
from darc.gateway.service import Gateway
from darc.gateway.streaming import DONE, ClosingResponse, event
from darc.models.remote.endpoints import CHAT
from darc.models.remote.http import METER
from darc.models.remote.problems import json_object
from darc.web.bodies import read_body, unless_gone
from darc.web.problems import Problem

MOST_ENCODED = 4
_UNFIT = re.compile(rb"[\x00-\x1f\x7f]")


async def passed_through(
    gateway: Gateway, request: Request, asked: ChatRequest, content: bytes
) -> Response:
    """One sample of the backend's, as it says it; `darc` is added where it was asked for."""
    if not asked.same:
        content = json.dumps(asked.body).encode()
    plain, headers = not asked.method.options.metadata, onward(request.headers, gateway.trusting)
    if not plain:
        headers["accept-encoding"] = "identity"
    sent = PassedOn("POST", CHAT, _query(request), headers, content, again=True)
    with gateway.tracing.chat(asked, request.headers):
        response = await _answered(gateway, request, sent, asked.method.budget)
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
    path = path_below(request.scope)
    content = await read_body(request, gateway.settings.max_body)
    headers, again = onward(request.headers, gateway.trusting), request.method in ("GET", "HEAD")
    sent = PassedOn(request.method, path, _query(request), headers, content, again)
    return await _answered(gateway, request, sent, Budget())


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


def _query(request: Request) -> str:
    query = request.scope["query_string"].decode("latin-1")
    return f"?{query}" if query else ""


async def _answered(gateway: Gateway, request: Request, sent: PassedOn, budget: Budget) -> Response:
    stack = AsyncExitStack()

    async def ask() -> Response:
        # It is a task of its own, so that nobody else's calls are counted.
        METER.set(Spent(budget).meter("candidates"))
        await stack.enter_async_context(gateway.gate)
        return await gateway.backend.forward(sent)

    work = asyncio.create_task(ask())
    try:
        await unless_gone(request, work)
        response = work.result()
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
    if any(name == b"content-encoding" for name, _ in kept):
        return response
    if isinstance(response, StreamingResponse):
        response.body_iterator = _before_end(response.body_iterator, data)
        response.raw_headers = kept
        return response
    body = json_object(bytes(response.body))
    if not body:
        return response
    made = Response(json.dumps({**body, "darc": data}).encode(), response.status_code)
    made.raw_headers = [*kept, (b"content-length", str(len(bytes(made.body))).encode())]
    return made


async def _before_end(parts: Any, data: dict[str, Any]) -> AsyncIterator[bytes]:
    """The events of a stream with one more before the last; a part may end anywhere."""
    held, head = b"", dict[str, Any]()

    def lines(some: list[bytes]) -> Iterator[bytes]:
        nonlocal head
        for line in some:
            if line.strip() == DONE.rstrip():
                yield event({**head, "choices": [], "darc": data})
            head = head or _head(line)
            yield line

    try:
        async for part in parts:
            *whole, held = (held + part).split(b"\n")
            if whole:
                yield b"".join(lines([line + b"\n" for line in whole]))
        yield b"".join(lines([held]))
    finally:
        await parts.aclose()


def _head(chunk: bytes) -> dict[str, Any]:
    """What the chunks of a stream share."""
    found = json_object(chunk.strip().removeprefix(b"data:"))
    return {name: found[name] for name in ("id", "object", "created", "model") if name in found}
