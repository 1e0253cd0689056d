"""What lies around a service: request ids, headers, logs, counts, and errors in one shape."""

import json
import logging
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import Response

from darc.web.guard import Guard
from darc.web.hosts import Hosts
from darc.web.logs import path_without_secrets
from darc.web.problems import Problem

logger = logging.getLogger("darc.web")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Observe = Callable[[str, str, int, float], None]
Tell = Callable[[Problem], App]

REQUEST_ID = "x-request-id"
_FINE_ID = re.compile(r"[\w.:-]{1,80}")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with no-referrer, forms have no origin
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Shell:
    """ASGI around ASGI; `free` are the paths that need no key, and that other sites may link to.

    Every answer has a request id, the client's own where it sent a fitting one. `observe(method,
    path, status, seconds)` hears of every request. No origin is allowed to read across sites. A
    request for none of the `hosts` is refused, and so is one from another site's page, except a GET
    of what is free; where a service is `linked`, of anything. `tell` makes the answer of a problem.
    """

    def __init__(
        self,
        app: App,
        guard: Guard,
        free: Iterable[str] = (),
        observe: Observe | None = None,
        hosts: Hosts | None = None,
        tell: Tell | None = None,
        linked: bool = False,
    ) -> None:
        self._app = app
        self._guard = guard
        self._free = frozenset(free)
        self._observe = observe
        self._hosts = hosts or Hosts()
        self._tell = tell or as_json
        self._linked = linked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get(REQUEST_ID, "")
        request_id = given if _FINE_ID.fullmatch(given) else uuid.uuid4().hex
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        started, status = time.perf_counter(), 0

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = dressed(message.get("headers", ()), request_id)
            await send(message)

        try:
            await self._served(scope, headers, receive, sending)
        except Problem as problem:
            if status:
                raise
            await self._tell(problem)(scope, receive, sending)
        except Exception:
            logger.exception("a request failed", extra={"fields": {"request_id": request_id}})
            if status:
                raise
            failure = Problem(500, "the server failed", "server_error")
            await self._tell(failure)(scope, receive, sending)
        finally:
            seconds = time.perf_counter() - started
            self._told(scope, state, status, seconds)

    async def _served(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        self._hosts.check_name(headers)
        if scope["method"] not in METHODS:
            raise Problem(405, f"{scope['method']} is not served", code="method_not_allowed")
        free = scope["path"] in self._free
        if not ((free or self._linked) and scope["method"] in ("GET", "HEAD")):
            self._hosts.check_site(headers)
        if free:
            await self._app(scope, receive, send)
            return
        address = (scope.get("client") or ("unknown",))[0]
        with self._guard.admit(headers, address) as client:
            scope["state"]["client"] = client
            await self._app(scope, receive, send)

    def _told(self, scope: Scope, state: dict[str, Any], status: int, seconds: float) -> None:
        if self._observe is not None:
            self._observe(scope["method"], scope["path"], status, seconds)
        if logger.isEnabledFor(logging.INFO):
            fields = {
                "request_id": state["request_id"],
                "client": state.get("client", ""),
                "method": scope["method"],
                "path": path_without_secrets(scope["path"]),
                "status": status,
                "milliseconds": round(seconds * 1000, 1),
                **state.get("log", {}),
            }
            logger.info("request", extra={"fields": fields})


def dressed(headers: Iterable[tuple[bytes, bytes]], request_id: str) -> list[tuple[bytes, bytes]]:
    """Headers with the security headers and the request id, where they are not there already."""
    kept = list(headers)
    there = {name.lower() for name, _ in kept}
    added = {**HEADERS, REQUEST_ID: request_id}
    kept += [(n.encode(), v.encode()) for n, v in added.items() if n.encode() not in there]
    return kept


def as_json(problem: Problem) -> Response:
    """The answer of a problem, in OpenAI's shape."""
    content = json.dumps(problem.body(), ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, problem.status, dict(problem.headers), "application/json")
