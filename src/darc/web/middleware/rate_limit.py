"""Limits on what one client may ask for."""

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import ASGIApp, Receive, Scope, Send

from darc.web.client_limits import ClientLimits, LocalClientLimits
from darc.web.middleware.base import HttpMiddleware
from darc.web.middleware.client import Client
from darc.web.problems import too_many_requests

_CODE = "rate_limit_exceeded"


class RateLimitMiddleware(HttpMiddleware):
    """Refuses requests of a client that makes too many per minute, or too many at a time.

    Requests without a client (on public paths) are not counted.
    """

    def __init__(self, app: ASGIApp, rate: float = 0.0, limits: ClientLimits | None = None) -> None:
        """Wrap an application.

        Args:
            app: The application.
            rate: Requests per minute of a client that has no limit of its own; 0 for any number.
            limits: Count the requests of each client.
        """
        super().__init__(app)
        self._rate = rate
        self._limits = limits or LocalClientLimits()

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request if its client has not reached a limit."""
        client = scope["state"].get("client")
        if client is None:
            await self.app(scope, receive, send)
            return
        with self._admit(client):
            await self.app(scope, receive, send)

    @contextmanager
    def _admit(self, client: Client) -> Iterator[None]:
        """Count a request of a client while it runs.

        Raises:
            Problem: With status 429.
        """
        seconds_early = self._limits.count_request(client.name, client.rate or self._rate)
        if seconds_early:
            raise too_many_requests("too many requests", _CODE, seconds_early)
        if not self._limits.begin(client.name, client.max_active):
            message = f"more than {client.max_active} requests at a time"
            raise too_many_requests(message, _CODE, 1.0)
        try:
            yield
        finally:
            self._limits.end(client.name)
