"""Refusing HTTP methods that no service uses."""

from starlette.types import Receive, Scope, Send

from darc.web.middleware.base import HttpMiddleware
from darc.web.problems import Problem

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})


class MethodMiddleware(HttpMiddleware):
    """Refuses requests with an unusual method, such as TRACE or CONNECT."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request if its method is a usual one."""
        method = scope["method"]
        if method not in _METHODS:
            raise Problem(405, f"the method {method} is not served", code="method_not_allowed")
        await self.app(scope, receive, send)
