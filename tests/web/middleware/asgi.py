"""Requests to an ASGI application without a server."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass
class Response:
    """What an application sent."""

    status: int
    headers: dict[str, str]
    body: bytes
    #: The scope of the request, with what middleware has put into its state.
    scope: dict[str, Any] = field(default_factory=dict)


async def answer_ok(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that answers every request with "ok"."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})


async def send_request(
    app: ASGIApp,
    path: str = "/",
    method: str = "GET",
    headers: dict[str, str] | None = None,
    **state: Any,
) -> Response:
    """Send a request and collect the response."""
    raw_headers = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    scope: dict[str, Any] = {
        "type": "http",
        "method": method,
        "path": path,
        "headers": raw_headers,
        "client": ("192.0.2.1", 4711),
        "state": {"request_id": "r1", **state},
    }
    messages: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        messages.append(message)

    await app(scope, receive, send)
    start = messages[0]
    body = b"".join(message.get("body", b"") for message in messages[1:])
    received = {name.decode(): value.decode() for name, value in start["headers"]}
    return Response(start["status"], received, body, scope)


def request(app: ASGIApp, path: str = "/", **options: Any) -> Response:
    """Send one request."""
    return asyncio.run(send_request(app, path, **options))
